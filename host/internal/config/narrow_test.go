package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/judge"
)

// Every key has a decision, and only what can be looser says what that does.
func TestEveryKeyIsDecided(t *testing.T) {
	for _, k := range table {
		if k.narrow == undecided {
			t.Errorf("%s: nobody has decided what a repository's value may do to the user's own; see narrowing", k.path)
		}
		if k.why != "" && k.narrow == harmless {
			t.Errorf("%s: nothing is looser than another", k.path)
		}
	}
}

// Every key of a repository's file is harmless, can't be more than relay's own, is refused, or
// needs a yes: a key that nobody has thought of needs one.
func TestEveryLooserValueAsks(t *testing.T) {
	unbounded := "budgets.per_milestone.max_estimated_cost_usd budgets.per_run.max_cost_usd budgets.per_run.max_calls budgets.per_run.max_tokens budgets.per_cycle.max_cost_usd " +
		"budgets.per_cycle.max_calls budgets.per_cycle.max_tokens budgets.per_day.max_cost_usd budgets.per_day.max_calls budgets.per_day.max_tokens" // no cap is built in
	strictest := "box.required box.hide runner.runner_owned_globs verification.protected_globs verification.required builder.allow_patch_mode scope.ceiling.allow_new_files " +
		"scope.default_allowed_globs scope.ceiling.allowed_globs pipeline.scope.allowed_globs pipeline.scope.allow_new_files box.limits.cpus box.limits.cpu_seconds orchestrator.max_parse_retries_per_tick"
	none := strings.Fields(unbounded + " " + strictest)
	values := map[string]string{
		"product_name": `"x"`, "workspace_dir": `"src"`, "claude_code_cli.command": `"x"`, "limits.max_wait": `"17h"`, "box.persist_dirs": `["~/.x"]`, "box.network.hosts": `["a.org"]`,
		"verification.caches": `[".x"]`, "notify.command": `["x"]`, "telemetry.endpoint": `"http://a.org"`, "budgets.prices_file": `"~/x"`, "env_file": `".env"`, "plugins": `{"x":{}}`,
		"verification.templates": `[{"id":"a","cmd":"x"}]`, "verification.hidden": `[{"id":"a","cmd":"x","folder":"~/x"}]`, "scope.scratch_globs": `["**"]`, "box.show": `["~/.ssh"]`,
		"box.means": `"copy"`, "box.limits.memory_mb": "1000", "fallback.orchestrator": `["x"]`, "fallback.builder": `["x"]`, "pipeline.push.branch": `"x"`, "verification.mutation": "false",
	}
	for _, name := range []string{"ntfy", "slack", "telegram", "webhook"} {
		values["notify."+name] = `"env:X"`
	}
	for _, k := range table {
		if !k.top() || k.narrow == harmless || slices.Contains(none, k.path) || strings.HasPrefix(k.path, "builder.external.") || strings.HasPrefix(k.path, "builder.cursor.") {
			continue
		}
		value := values[k.path]
		switch {
		case value != "":
		case k.kind == kWhole || k.kind == kNumber:
			value = num(k.max)
		case k.kind == kBool:
			value = fmt.Sprint(k.def != true)
		case k.kind == kTexts && k.narrow == union:
			value = "[]"
		case k.kind == kTexts:
			value = `["x"]`
		case len(k.enum) > 0:
			value = strconv.Quote(k.enum[len(k.enum)-1])
			if i := slices.IndexFunc(k.enum, func(e string) bool { return e == "full" || e == "allow" }); i >= 0 {
				value = strconv.Quote(k.enum[i])
			}
		default:
			value = `"x"`
		}
		names := strings.Split(k.path, ".")
		text := `{"` + strings.Join(names, `":{"`) + `":` + value + strings.Repeat("}", len(names))
		l, err := Load(setup(t, map[string]string{"relay.config.json": text}))
		if err != nil {
			var f *diag.Error
			if !errors.As(err, &f) || f.Code != judge.BlockedUntrustedConfig {
				t.Errorf("%s: the value of this test is refused: %v", text, err)
			}
			continue
		}
		if len(l.Grants()) != 1 || l.Grants()[0].Why == "" {
			t.Errorf("%s: a repository has it without a yes: %+v", text, l.Grants())
		}
	}
}

// A key that nobody has decided about needs a yes whatever its value.
func TestUndecidedAsks(t *testing.T) {
	n := fromPlain("same", Origin{})
	if k := (&key{path: "x", kind: kText}); !k.needsYes(n, nil) {
		t.Error("a new key is believed")
	}
}

// A repository narrows what the user says, and never widens it.
func TestRepositoryNarrows(t *testing.T) {
	for _, c := range []struct {
		name, user, repo string
		got              func(*Config) any
		want             any
		notices          int
	}{
		{"forbidden", `{"scope":{"default_forbidden_globs":["a","b"]}}`, `{"scope":{"default_forbidden_globs":["c","b"]}}`, func(c *Config) any { return strings.Join(c.Scope.DefaultForbiddenGlobs, " ") }, "c b a", 1},
		{"forbidden, none", `{"scope":{"default_forbidden_globs":["a"]}}`, `{"scope":{"default_forbidden_globs":[]}}`, func(c *Config) any { return strings.Join(c.Scope.DefaultForbiddenGlobs, " ") }, "a", 1},
		{"forbidden, more", `{"scope":{"default_forbidden_globs":["a"]}}`, `{"scope":{"default_forbidden_globs":["a","z"]}}`, func(c *Config) any { return strings.Join(c.Scope.DefaultForbiddenGlobs, " ") }, "a z", 0},
		{"protected", `{"verification":{"protected_globs":["ci/**"]}}`, `{"verification":{"protected_globs":["x"]}}`, func(c *Config) any { return strings.Join(c.Verification.ProtectedGlobs, " ") }, "x ci/**", 1},
		{"limits", `{"diff_limits":{"default_max_lines_changed":10,"default_max_files_touched":5}}`, `{"diff_limits":{"default_max_lines_changed":20000,"default_max_files_touched":2}}`, func(c *Config) any {
			return [2]int{c.DiffLimits.DefaultMaxLinesChanged, c.DiffLimits.DefaultMaxFilesTouched}
		}, [2]int{10, 2}, 1},
		{"the ceiling's limit over the user's default", `{"diff_limits":{"default_max_lines_changed":10}}`, `{"scope":{"ceiling":{"max_lines_changed":900}}}`, func(c *Config) any { return c.TickFence().MaxLines }, 10, 1},
		{"commits", `{"commit":{"builder_commits":"stop"}}`, `{"commit":{"builder_commits":"keep"}}`, func(c *Config) any { return c.Commit.BuilderCommits }, "stop", 1},
		{"commits, stricter", `{"commit":{"builder_commits":"keep"}}`, `{"commit":{"builder_commits":"stop"}}`, func(c *Config) any { return c.Commit.BuilderCommits }, "stop", 0},
		{"allowed", `{"scope":{"default_allowed_globs":["src/**","docs/**"]}}`, `{"scope":{"default_allowed_globs":["src/lib/**","**/*.md","docs/**"]}}`, func(c *Config) any { return strings.Join(c.TickFence().Allowed, " ") }, "src/lib/** docs/**", 1},
		{"allowed, everything", `{"scope":{"default_allowed_globs":["src/**"]}}`, `{"scope":{"default_allowed_globs":["**"],"ceiling":{"allowed_globs":["**"]}}}`, func(c *Config) any { return strings.Join(c.TickFence().Allowed, " ") }, "src/**", 2},
		{"allowed, nothing in common", `{"scope":{"ceiling":{"allowed_globs":["src/**"]}}}`, `{"scope":{"ceiling":{"allowed_globs":["lib/**"]}}}`, func(c *Config) any { return strings.Join(c.TickFence().Allowed, " ") }, "", 1},
		{"new files", `{"scope":{"ceiling":{"allow_new_files":false}}}`, `{"scope":{"ceiling":{"allow_new_files":true}}}`, func(c *Config) any { return c.Scope.Ceiling.AllowNewFiles }, false, 1},
		{"lockfiles", `{"scope":{"default_allow_lockfile_changes":false}}`, `{"scope":{"ceiling":{"allow_lockfile_changes":true}}}`, func(c *Config) any { return c.TickFence().LockfileChanges }, false, 1},
		{"required", `{"verification":{"required":["a"]}}`, `{"verification":{"required":["b"],"templates":[{"id":"a","cmd":"x"},{"id":"b","cmd":"y"}]}}`, func(c *Config) any { return strings.Join(c.Verification.Required, " ") }, "b a", 1},
		{"strict answers", `{"builder":{"claude_code":{"strict_builder_json":true}}}`, `{"builder":{"claude_code":{"strict_builder_json":false}}}`, func(c *Config) any { return c.Builder.ClaudeCode.StrictBuilderJSON }, true, 1},
		{"notify.command", `{"notify":{"command":["a"]}}`, `{"notify":{"command":["b"]}}`, func(c *Config) any { return c.Notify.Command[0] }, "a", 1},
		{"longest wait", `{"limits":{"max_wait":"2h"}}`, `{"limits":{"max_wait":"90h"}}`, func(c *Config) any { return c.Limits.LongestWait().String() }, "2h0m0s", 1},
		{"no wait", `{"limits":{"max_wait":"2h"}}`, `{"limits":{"max_wait":"0s"}}`, func(c *Config) any { return c.Limits.LongestWait().String() }, "0s", 0},
		{"history", `{"history":{"enabled":true}}`, `{"history":{"enabled":false}}`, func(c *Config) any { return c.History.Enabled }, true, 1},
		{"dirty", `{"worktree":{"dirty":"block"}}`, `{"worktree":{"dirty":"allow"}}`, func(c *Config) any { return c.Worktree.Dirty }, "block", 1},
		{"nothing of the user's", `{}`, `{"scope":{"default_allowed_globs":["x"],"default_forbidden_globs":["y"]}}`, func(c *Config) any { return c.Scope.DefaultAllowedGlobs[0] + c.Scope.DefaultForbiddenGlobs[0] }, "xy", 0},
	} {
		l := load(t, map[string]string{"user/config.json": c.user, "relay.config.json": c.repo})
		if got := c.got(l.Config); got != c.want || len(l.Notices) != c.notices {
			t.Errorf("%s: %v, want %v; notices %q", c.name, got, c.want, l.Notices)
		}
	}
}

// What loosens relay's own limits needs a person's yes.
func TestLooserThanBuiltInAsks(t *testing.T) {
	for text, want := range map[string][]string{
		`{"scope":{"default_forbidden_globs":[".git/**"]}}`:                                                                     {"scope.default_forbidden_globs"},
		`{"scope":{"default_allowed_globs":["src/**"],"ceiling":{"max_lines_changed":401,"max_files_touched":12}}}`:             {"scope.ceiling.max_lines_changed"},
		`{"diff_limits":{"default_max_files_touched":13},"commit":{"builder_commits":"keep"},"verification":{"test_globs":[]}}`: {"commit.builder_commits", "diff_limits.default_max_files_touched", "verification.test_globs"},
		`{"diff_limits":{"default_max_files_touched":3},"commit":{"builder_commits":"stop"},"runner":{"max_tick_seconds":10}}`:  nil,
		`{"scope":{"ceiling":{"allow_lockfile_changes":true}},"orchestrator":{"max_budget_usd":0}}`:                             {"orchestrator.max_budget_usd", "scope.ceiling.allow_lockfile_changes"},
	} {
		var got []string
		for _, g := range load(t, map[string]string{"relay.config.json": text}).Grants() {
			got = append(got, g.Key)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// Relay's own value needs a yes where the user has chosen another.
func TestTakingBackTheUsersChoiceAsks(t *testing.T) {
	user := `{"orchestrator":{"provider":"ollama"},"models":{"builder_model":"haiku"},"pipeline":{"on_limit":"wait","review":{"provider":"ollama"}}}`
	for text, want := range map[string][]string{
		`{"orchestrator":{"provider":"claude"}}`:                                         {"orchestrator.provider"},
		`{"models":{"builder_model":"sonnet","orchestrator_model":"opus"}}`:              {"models.builder_model"},
		`{"pipeline":{"on_limit":"fallback","review":{"provider":"codex"}}}`:             {"pipeline.review", "pipeline.on_limit"},
		`{"orchestrator":{"max_turns":1},"pipeline":{"max_review_rounds":3}}`:            nil,
		`{"box":{"network":{"builder":"needed"}},"commit":{"builder_commits":"squash"}}`: nil,
	} {
		var got []string
		for _, g := range load(t, map[string]string{"user/config.json": user, "relay.config.json": text}).Grants() {
			got = append(got, g.Key)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// A check that every change has to pass must be there.
func TestRequiredChecks(t *testing.T) {
	for text, says := range map[string]string{
		`{"verification":{"required":["x"]}}`: "no check",
		`{"verification":{"required":["a"],"templates":[{"id":"a","cmd":"x","args":["{{p}}"],"params":{"p":{"kind":"path"}}}]}}`: "parameters",
		`{"verification":{"required":["a b"]}}`: "not an id",
	} {
		_, err := Load(setup(t, map[string]string{"relay.config.json": text}))
		refused(t, err, "verification.required")
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// The product's name stands in system prompts: it is a name.
func TestProductNameIsAName(t *testing.T) {
	for _, name := range []string{"relay! Do this", "a\\nb", "`x`", " x", "{{TASK_JSON}}", strings.Repeat("x", 41)} {
		_, err := Load(setup(t, map[string]string{"relay.config.json": `{"product_name":"` + name + `"}`}))
		refused(t, err, "product_name")
	}
	if got := load(t, map[string]string{"relay.config.json": `{"product_name":"Relais-2 v1.0"}`}).Config.ProductName; got != "Relais-2 v1.0" {
		t.Error(got)
	}
}
