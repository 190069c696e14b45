package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/judge"
)

// setup makes a root and a user folder with these files; a name that begins with
// "user/" goes to the latter.
func setup(t *testing.T, files map[string]string) Options {
	t.Helper()
	o := Options{Root: t.TempDir(), UserDir: t.TempDir()}
	for name, text := range files {
		p := filepath.Join(o.Root, name)
		if rest, ok := strings.CutPrefix(name, "user/"); ok {
			p = filepath.Join(o.UserDir, rest)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

func load(t *testing.T, files map[string]string, more ...func(*Options)) *Loaded {
	t.Helper()
	o := setup(t, files)
	for _, f := range more {
		f(&o)
	}
	l, err := Load(o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func refused(t *testing.T, err error, contains ...string) {
	t.Helper()
	f, ok := diag.As(err)
	if !ok {
		t.Fatalf("got %v, want a fault that says %q", err, contains)
	}
	if f.Code.Outcome() != judge.OutcomeBlocked || f.What == "" || f.Why == "" || !strings.Contains(f.Fix, "`") {
		t.Errorf("not a whole fault: %+v", *f)
	}
	if strings.ContainsAny(f.Error(), "\n\x00\x1b") {
		t.Errorf("control characters in %q", f.Error())
	}
	for _, c := range contains {
		if !strings.Contains(f.Error(), c) {
			t.Errorf("%q does not say %q", f.Error(), c)
		}
	}
}

func TestSeedConfigLoadsUnchanged(t *testing.T) {
	b, err := os.ReadFile("testdata/relais.config.json")
	if err != nil {
		t.Fatal(err)
	}
	l := load(t, map[string]string{"relais.config.json": string(b)})
	if !l.Legacy {
		t.Error("not seen as a relais.config.json")
	}
	c := l.Config
	for _, x := range []struct{ got, want any }{
		{c.WorkspaceDir, "relais"}, {c.ProductName, "relais"}, {c.Runner.MaxTickSeconds, 900}, {c.Runner.Lockfile, "relais/lock.json"},
		{len(c.Runner.RunnerOwnedGlobs), 10}, {c.Runner.CrashCleanup.DeleteTmpGlob, "relais/*.tmp"}, {c.Orchestrator.MaxBudgetUSD, 0.4},
		{c.Builder.ClaudeCode.StrictBuilderJSON, false}, {c.Scope.DefaultAllowedGlobs[4], "README.md"}, {len(c.Verification.Templates), 4},
		{c.Verification.Templates[3].Params["pkg"].Kind, "string_token"}, {c.Budgets.PerMilestone.MaxEstimatedCostUSD, 80.0}, {c.History.Dir, "relais/history"},
		{c.Commit.OnSuccess, true}, {c.Box.Means, "auto"}, {c.Orchestrator.Provider, "claude"}, {c.Builder.Patch.MaxPatchAttemptsPerMilestone, 10},
		{l.Origin("runner.max_tick_seconds").String(), "relais.config.json:7"}, {l.Origin("box.means").Layer, LayerBuiltin},
	} {
		if !reflect.DeepEqual(x.got, x.want) {
			t.Errorf("got %#v, want %#v", x.got, x.want)
		}
	}
	if len(l.Notices) > 0 {
		t.Errorf("notices: %q", l.Notices)
	}
}

// The built-in models are Claude's: nobody else is asked for them, and what somebody sets
// stays.
func TestBuiltInModels(t *testing.T) {
	for text, want := range map[string]Models{
		`{}`: {"opus", "sonnet", "sonnet", "haiku"},
		`{"orchestrator":{"provider":"anthropic"},"builder":{"default_mode":"claude-code"}}`:                                               {"opus", "sonnet", "sonnet", "haiku"},
		`{"orchestrator":{"provider":"openai"}}`:                                                                                           {"", "", "sonnet", "haiku"},
		`{"builder":{"default_mode":"codex-exec"}}`:                                                                                        {"opus", "sonnet", "", ""},
		`{"orchestrator":{"provider":"codex"},"builder":{"default_mode":"patch"},"models":{"orchestrator_model":"m","builder_model":"n"}}`: {"m", "", "n", ""},
	} {
		if l := load(t, map[string]string{"relay.config.json": text}); l.Config.Models != want {
			t.Errorf("%s: %+v", text, l.Config.Models)
		}
	}
}

func TestDefaultFollowsWorkspace(t *testing.T) {
	if c := Default(); c.WorkspaceDir != ".relay" || c.Runner.Lockfile != ".relay/lock.json" || c.History.Dir != ".relay/history" ||
		!c.Builder.ClaudeCode.StrictBuilderJSON || c.Plugins == nil || c.Builder.External != nil || c.Box.PersistDirs == nil {
		t.Errorf("%+v", c)
	}
	l := load(t, map[string]string{"relay.config.json": `{"workspace_dir":"relais"}`})
	if l.Config.Runner.Lockfile != "relais/lock.json" || l.Config.Runner.RunnerOwnedGlobs[0] != "relais/**" {
		t.Errorf("%+v", l.Config.Runner)
	}
}

func TestFormatsAgree(t *testing.T) {
	want := load(t, map[string]string{"relay.config.json": `{
 "runner": {"max_tick_seconds": 60},
 "scope": {"default_allowed_globs": ["src/**", "é/*"]},
 "verification": {"templates": [{"id": "t", "cmd": "go", "args": ["test", "{{pkg}}"], "params": {"pkg": {"kind": "path"}}}]},
 "plugins": {"claude": {"transport": "cli", "deep": {"n": 1}}}
}`})
	for name, text := range map[string]string{
		"relay.config.yaml": "# comment\nrunner:\n  max_tick_seconds: 60\nscope: {default_allowed_globs: [src/**, é/*]}\nverification:\n  templates:\n" +
			"  - id: t\n    cmd: go\n    args: [test, '{{pkg}}']\n    params: {pkg: {kind: path}}\nplugins:\n  claude: {transport: cli, deep: {n: 1}}\n",
		"relay.config.toml": "[runner]\nmax_tick_seconds = 60 # c\n[scope]\ndefault_allowed_globs = [\"src/**\", \"é/*\"]\n[[verification.templates]]\nid = 't'\ncmd = 'go'\n" +
			"args = ['test', '{{pkg}}']\n[verification.templates.params.pkg]\nkind = 'path'\n[plugins.claude]\ntransport = 'cli'\ndeep.n = 1\n",
		"relay.config.yml": "runner: {max_tick_seconds: 60.0}\nscope: &a {default_allowed_globs: [\"src/**\", \"é/*\"]}\nverification: {templates: [{id: t, cmd: go, args: [test, \"{{pkg}}\"], params: {pkg: {kind: path}}}]}\nplugins: {claude: {transport: cli, deep: {n: 1}}}",
	} {
		l := load(t, map[string]string{name: text})
		if !reflect.DeepEqual(l.tree.plain(), want.tree.plain()) && name != "relay.config.yml" {
			t.Errorf("%s differs:\n%v\n%v", name, l.tree.plain(), want.tree.plain())
		}
		if !reflect.DeepEqual(l.Config, want.Config) {
			t.Errorf("%s differs:\n%+v\n%+v", name, l.Config, want.Config)
		}
		if o := l.Origin("runner.max_tick_seconds"); o.Line == 0 || o.File != name {
			t.Errorf("%s: origin %+v", name, o)
		}
	}
}

func TestLayers(t *testing.T) {
	files := map[string]string{
		"user/config.yaml":  "models:\n  builder_model: u\n  orchestrator_model: u\nrunner:\n  max_tick_seconds: 10\nscope:\n  lockfiles: [a, b]\n",
		"relay.config.json": `{"models":{"orchestrator_model":"r","orchestrator_fallback_model":"r","builder_fallback_model":"r"},"scope":{"lockfiles":["c"]}}`,
	}
	l := load(t, files, func(o *Options) {
		o.Env = []string{"RELAY_MODELS_ORCHESTRATOR_FALLBACK_MODEL=e", "RELAY_MODELS_BUILDER_FALLBACK_MODEL=e", "RELAY_COMMIT_ON_SUCCESS=false",
			"RELAY_SCOPE_DEFAULT_ALLOWED_GLOBS=src/**, lib/**", "RELAY_BUDGETS_WARN_AT_FRACTION=0.5", "OTHER=x"}
		o.Set = []string{"models.builder_fallback_model=f", "plugins.claude.transport=cli", "plugins.claude.n=3", `budgets.per_milestone={"max_ticks":3}`}
	})
	for key, want := range map[string]struct {
		value  any
		origin string
	}{
		"models.builder_model":                  {"u", "config.yaml:2"},
		"runner.max_tick_seconds":               {int64(10), "config.yaml:5"},
		"models.orchestrator_model":             {"r", "relay.config.json:1"},
		"models.orchestrator_fallback_model":    {"e", "RELAY_MODELS_ORCHESTRATOR_FALLBACK_MODEL"},
		"models.builder_fallback_model":         {"f", "--set"},
		"scope.lockfiles":                       {[]any{"c", "a", "b"}, "relay.config.json:1"}, // what either has
		"scope.default_allowed_globs":           {[]any{"src/**", "lib/**"}, "RELAY_SCOPE_DEFAULT_ALLOWED_GLOBS"},
		"commit.on_success":                     {false, "RELAY_COMMIT_ON_SUCCESS"},
		"budgets.warn_at_fraction":              {0.5, "RELAY_BUDGETS_WARN_AT_FRACTION"},
		"budgets.per_milestone.max_ticks":       {int64(3), "--set"},
		"budgets.per_milestone.max_verify_runs": {int64(600), "built-in"},
		"plugins.claude.transport":              {"cli", "--set"},
		"plugins.claude.n":                      {int64(3), "--set"},
	} {
		var got *Value
		for _, v := range l.Values() {
			if v.Key == key {
				got = &v
			}
		}
		if got == nil || !reflect.DeepEqual(got.Value, want.value) || !strings.HasSuffix(got.Origin.String(), want.origin) {
			t.Errorf("%s: got %+v, want %v from %s", key, got, want.value, want.origin)
		}
	}
	l = load(t, map[string]string{"relay.config.json": "{}"}, func(o *Options) {
		o.Env = []string{"RELAY_BOX_MEAN=copy", "RELAY_TRUST=x", "RELAY_LOG=debug"}
	})
	if len(l.Notices) != 1 || !strings.Contains(l.Notices[0], "RELAY_BOX_MEANS") {
		t.Errorf("notices about variables: %q", l.Notices)
	}
}

func TestPluginBlock(t *testing.T) {
	l := load(t, nil, func(o *Options) {
		o.AllowMissing, o.Set = true, []string{"plugins.claude.transport=cli", "plugins.claude.n=3"}
	})
	if string(l.Config.Plugins["claude"]) != `{"n":3,"transport":"cli"}` {
		t.Errorf("plugin block: %s", l.Config.Plugins["claude"])
	}
}

func TestFileChoice(t *testing.T) {
	l := load(t, map[string]string{"relay.config.json": "{}", "relay.config.toml": "", "relais.config.json": "{"})
	if filepath.Base(l.File) != "relay.config.json" || len(l.Notices) != 2 || !strings.Contains(l.Notices[0], "relay.config.toml") || !strings.Contains(l.Notices[1], "relais.config.json") {
		t.Errorf("%s %q", l.File, l.Notices)
	}
	for name, text := range map[string]string{"relay.config.yaml": "", "relay.config.yml": "# nothing\n", "relay.config.toml": ""} {
		if l := load(t, map[string]string{name: text}); !reflect.DeepEqual(l.Config, Default()) {
			t.Errorf("an empty %s is not the default", name)
		}
	}
	_, err := Load(setup(t, nil))
	refused(t, err, "relay init", "relay.config.json")
	_, err = Load(setup(t, map[string]string{"relay.config.jsonc": "{}"}))
	refused(t, err, `"relay.config.jsonc" is not read`)
	o := setup(t, nil)
	o.AllowMissing = true
	if l, err := Load(o); err != nil || l.File != "" {
		t.Errorf("%v", err)
	}
	o = setup(t, nil)
	if err := os.Mkdir(filepath.Join(o.Root, "relay.config.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err = Load(o)
	refused(t, err, "not a regular file")
	o = setup(t, nil)
	if err := os.Symlink("nowhere", filepath.Join(o.Root, "relay.config.json")); err != nil {
		t.Fatal(err)
	}
	_, err = Load(o)
	refused(t, err, "symbolic link")
	if os.Getuid() != 0 {
		o = setup(t, map[string]string{"relay.config.json": "{}"})
		if err := os.Chmod(filepath.Join(o.Root, "relay.config.json"), 0); err != nil {
			t.Fatal(err)
		}
		_, err = Load(o)
		refused(t, err, "permission denied")
	}
}

func TestNarrowing(t *testing.T) {
	user := `{"box":{"required":"landlock","persist_dirs":["~/.claude","~/.codex"]},"budgets":{"per_milestone":{"max_ticks":5,"max_estimated_cost_usd":10}},
"claude_code_cli":{"command":"/opt/claude"},"plugins":{"claude":{"base_url":"https://mine","model":"x"}}}`
	repo := `{"box":{"required":"copy","persist_dirs":["~/.claude"]},"budgets":{"per_milestone":{"max_ticks":3,"max_estimated_cost_usd":0,"max_verify_runs":900}},
"claude_code_cli":{"command":"./evil"},"plugins":{"claude":{"base_url":"https://evil","model":"y"}}}`
	l := load(t, map[string]string{"user/config.json": user, "relay.config.json": repo})
	c := l.Config
	for _, x := range []struct{ got, want any }{
		{c.Box.Required, "landlock"}, {len(c.Box.PersistDirs), 1}, {c.Budgets.PerMilestone.MaxTicks, 3}, {c.Budgets.PerMilestone.MaxEstimatedCostUSD, 10.0},
		{c.Budgets.PerMilestone.MaxVerifyRuns, 900}, {c.ClaudeCLI.Command, "/opt/claude"}, {string(c.Plugins["claude"]), `{"base_url":"https://mine","model":"y"}`},
		{len(l.Notices), 4},
	} {
		if !reflect.DeepEqual(x.got, x.want) {
			t.Errorf("got %#v, want %#v", x.got, x.want)
		}
	}
	if l.Origin("box.required").Note == "" {
		t.Error("the origin does not say that the repository asked for something else")
	}
	_, err := Load(setup(t, map[string]string{"user/config.json": user, "relay.config.json": `{"box":{"persist_dirs":["~/.ssh"]}}`}))
	refused(t, err, "~/.ssh", "own configuration")
	_, err = Load(setup(t, map[string]string{"relay.config.json": `{"box":{"persist_dirs":["~/.claude"]}}`}))
	refused(t, err, "~/.claude")
	// the environment and flags are the user's own word
	l = load(t, map[string]string{"user/config.json": user, "relay.config.json": repo}, func(o *Options) {
		o.Env, o.Set = []string{"RELAY_BOX_PERSIST_DIRS=~/.x"}, []string{"budgets.per_milestone.max_ticks=99"}
	})
	if l.Config.Box.PersistDirs[0] != "~/.x" || l.Config.Budgets.PerMilestone.MaxTicks != 99 {
		t.Errorf("%+v", l.Config.Box)
	}
}

// What a repository says under a name of its own is bounded, too.
func TestNarrowingOfNamedCaps(t *testing.T) {
	user := `{"budgets":{"shared":true,"per_provider":{"claude":{"max_cost_usd":5,"max_calls":10}}}}`
	repo := `{"budgets":{"shared":false,"per_provider":{"claude":{"max_cost_usd":0,"max_calls":3},"codex":{"max_calls":7}}}}`
	l := load(t, map[string]string{"user/config.json": user, "relay.config.json": repo}, func(o *Options) {
		o.Set = []string{"budgets.per_provider.codex.max_tokens=1000"}
	})
	b := l.Config.Budgets
	if want := map[string]Caps{"claude": {MaxCostUSD: 5, MaxCalls: 3}, "codex": {MaxCalls: 7, MaxTokens: 1000}}; !b.Shared || !reflect.DeepEqual(b.PerProvider, want) {
		t.Errorf("%+v", b)
	}
	if len(l.Notices) != 2 || !strings.HasPrefix(l.Notices[1], "budgets.per_provider.claude.max_cost_usd stays the number 5") {
		t.Errorf("%q", l.Notices)
	}
	_, err := Load(setup(t, map[string]string{"relay.config.json": `{"budgets":{"per_provider":{"claude":{"max_dollars":1}}}}`}))
	refused(t, err, "max_dollars")
}

// A repository can't leave the user's bucket, nor make it larger.
func TestNarrowingAccounts(t *testing.T) {
	user := `{"providers":{"claude":{"calls_per_minute":6,"burst":2}}}`
	repo := `{"providers":{"claude":{"calls_per_minute":60,"burst":9},"codex":{"calls_per_minute":3}}}`
	l := load(t, map[string]string{"user/config.json": user, "relay.config.json": repo})
	if got := l.Config.Providers["claude"]; got != (Account{"", 6, 2}) || len(l.Notices) != 2 {
		t.Errorf("%+v, %q", got, l.Notices)
	}
	if got := l.Config.Providers["codex"]; got != (Account{"", 3, 0}) {
		t.Errorf("%+v", got)
	}
	_, err := Load(setup(t, map[string]string{"relay.config.json": `{"providers":{"claude":{"account":"elsewhere"}}}`}))
	refused(t, err, "own configuration")
}

func TestFallbackAndLimits(t *testing.T) {
	for text, says := range map[string]string{
		`{"fallback":{"orchestrator":["codex/gpt-5.5","claude"],"builder":["codex-exec/a/b"]},"limits":{"max_wait":"90m"}}`: "",
		`{"fallback":{"orchestrator":["codex/"]}}`:    "names no model",
		`{"fallback":{"orchestrator":["Codex/x"]}}`:   "names no plugin",
		`{"fallback":{"builder":["patch"]}}`:          "can't take over",
		`{"limits":{"max_wait":"16"}}`:                "a valid wait",
		`{"limits":{"max_wait":"-1h"}}`:               "a valid wait",
		`{"fallback":{"reviewer":["codex"]}}`:         "reviewer",
		`{"providers":{"claude":{"calls":1}}}`:        "calls",
		`{"providers":{"claude":{"account":"../x"}}}`: "not a name",
	} {
		_, err := Load(setup(t, map[string]string{"relay.config.json": text}))
		if says == "" && err != nil {
			t.Errorf("%s: %v", text, err)
		} else if says != "" {
			refused(t, err, says)
		}
	}
	if l := load(t, map[string]string{"relay.config.json": `{}`}); l.Config.Limits.LongestWait() != 16*time.Hour {
		t.Error(l.Config.Limits)
	}
}

func TestExternal(t *testing.T) {
	l := load(t, map[string]string{"relay.config.json": `{"workspace_dir":"relais","builder":{"default_mode":"cursor","timeout_seconds":7,"cursor":{"command":"./drive","args":["--x"]}}}`})
	want := &ExternalDriver{Command: "./drive", Args: []string{"--x"}, TimeoutSeconds: 7}
	if !reflect.DeepEqual(l.Config.Builder.External, want) || !reflect.DeepEqual(l.Config.Builder.Cursor, want) {
		t.Errorf("%+v", l.Config.Builder.External)
	}
}

func TestGrants(t *testing.T) {
	b, _ := os.ReadFile("testdata/relais.config.json")
	l := load(t, map[string]string{"relais.config.json": string(b)})
	var keys []string
	for _, g := range l.Grants() {
		keys = append(keys, g.Key)
		if g.File != "relais.config.json" || g.Line == 0 || g.Why == "" || g.Value == "" {
			t.Errorf("%+v", g)
		}
	}
	if got := strings.Join(keys, " "); got != "verification.templates[0] verification.templates[1] verification.templates[2] verification.templates[3] "+
		"product_name workspace_dir builder.claude_code.strict_builder_json scope.lockfiles verification.reject_metachars_regex" {
		t.Errorf("seed: %s", got)
	}
	l = load(t, map[string]string{"user/config.json": `{"plugins":{"x":{"command":"mine"}}}`, "relay.config.json": `{"builder":{"default_mode":"external","external":{"command":"./x"}},
"plugins":{"y":{"a":1}},"orchestrator":{"provider":"replay"},"claude_code_cli":{"command":"claude"},"box":{"means":"copy"}}`})
	keys = nil
	for _, g := range l.Grants() {
		keys = append(keys, g.Key)
	}
	if got := strings.Join(keys, " "); got != "orchestrator.provider builder.default_mode builder.external box.means plugins.y" {
		t.Errorf("got %s", got)
	}
	if g := load(t, map[string]string{"relay.config.json": `{"runner":{"max_tick_seconds":5}}`}).Grants(); len(g) != 0 {
		t.Errorf("%+v", g)
	}
}
