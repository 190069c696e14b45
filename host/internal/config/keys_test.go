package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/judge"
)

const keyCanary = "sk-ant-canary-0123456789abcdef"

// A key, or what stands where a key belongs, is refused wherever it is, with what to do,
// and is repeated nowhere.
func TestKeysAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ file, text, set, says string }{
		"known look":      {file: "relay.config.json", text: "{\"plugins\":\n{\"claude\":{\"model\":\"" + keyCanary + "\"}}}", says: "line 2, plugins.claude.model: this looks like an Anthropic key"},
		"in a list":       {file: "relay.config.json", text: `{"verification":{"templates":[{"id":"a","cmd":"x","args":["` + keyCanary + `"]}]}}`, says: "verification.templates[0].args[0]"},
		"where text is":   {file: "relay.config.yaml", text: "product_name: " + keyCanary, says: "line 1, product_name"},
		"toml":            {file: "relay.config.toml", text: "[plugins.codex]\nx = \"" + keyCanary + "\"", says: "line 2, plugins.codex.x"},
		"password":        {file: "relay.config.json", text: `{"plugins":{"codex":{"base_url":"https://me:canary@example.org/v1"}}}`, says: "an address with a password"},
		"no reference":    {file: "relay.config.json", text: `{"plugins":{"claude":{"keys":{"ANTHROPIC_API_KEY":"canary"}}}}`, says: "never written here"},
		"keys as text":    {file: "relay.config.json", text: `{"plugins":{"claude":{"keys":"canary"}}}`, says: "expected an object of variables"},
		"under api_key":   {file: "relay.config.json", text: `{"plugins":{"claude":{"api_key":"canary"}}}`, says: "keys are not set here"},
		"a key as secret": {file: "relay.config.json", text: `{"plugins":{"claude":{"secret":"canary"}}}`, says: "keys are not set here"},
		"bad variable":    {file: "relay.config.json", text: `{"plugins":{"claude":{"keys":{"LD_PRELOAD":"file:/x"}}}}`, says: "not a variable for a key"},
		"by --set":        {set: "product_name=" + keyCanary, says: "product_name=…"},
		"by --set, plain": {set: "plugins.claude.keys.ANTHROPIC_API_KEY=canary", says: "never written here"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if c.file != "" {
				if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			o := Options{Root: dir, UserDir: t.TempDir(), AllowMissing: true}
			if c.set != "" {
				o.Set = []string{c.set}
			}
			_, err := Load(o)
			f, ok := diag.As(err)
			if !ok || f.Code != judge.BlockedMissingConfig || f.Fix == "" || !strings.Contains(f.Error(), c.says) {
				t.Fatalf("%v", err)
			}
			if strings.Contains(f.Error(), "canary") {
				t.Errorf("it is repeated: %v", f)
			}
		})
	}
}

func TestKeyReferences(t *testing.T) {
	l := load(t, map[string]string{"relay.config.json": `{"plugins":{"claude":{"transport":"api","keys":{"ANTHROPIC_API_KEY":"file:~/key","ANTHROPIC_AUTH_TOKEN":{"command":["pass","show","x"]}}},
		"codex":{"keys":{"OPENAI_API_KEY":"env:WORK"}}}}`})
	if got := string(l.Config.Plugins["claude"]); got != `{"keys":{"ANTHROPIC_API_KEY":"file:~/key","ANTHROPIC_AUTH_TOKEN":{"command":["pass","show","x"]}},"transport":"api"}` {
		t.Error(got)
	}
	// The user's own key goes before a repository's wish.
	l = load(t, map[string]string{"user/config.json": `{"plugins":{"claude":{"keys":{"ANTHROPIC_API_KEY":"env:MINE"}}}}`,
		"relay.config.json": `{"plugins":{"claude":{"keys":{"ANTHROPIC_API_KEY":"file:/etc/shadow"}}}}`})
	if got := string(l.Config.Plugins["claude"]); got != `{"keys":{"ANTHROPIC_API_KEY":"env:MINE"}}` || len(l.Notices) != 1 {
		t.Errorf("%s %q", got, l.Notices)
	}
}

// A repository can't make relay read a file of it as keys.
func TestEnvFileIsTheUsers(t *testing.T) {
	for name, o := range map[string]func(*Options){
		"environment": func(o *Options) { o.Env = []string{"RELAY_ENV_FILE=.env"} },
		"flag":        func(o *Options) { o.Set = []string{"env_file=.env"} },
		"user":        func(*Options) {},
	} {
		files := map[string]string{"relay.config.json": "{}"}
		if name == "user" {
			files["user/config.json"] = `{"env_file":".env"}`
		}
		if l := load(t, files, o); l.Config.EnvFile != ".env" {
			t.Errorf("%s: %q", name, l.Config.EnvFile)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "relay.config.json"), []byte(`{"env_file":".env"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Load(Options{Root: dir, UserDir: t.TempDir()})
	if f, ok := diag.As(err); !ok || f.Code != judge.BlockedUntrustedConfig || !strings.Contains(f.Error(), "env_file") {
		t.Errorf("%v", err)
	}
	_, err = Load(Options{Root: dir, UserDir: t.TempDir(), Set: []string{"env_file=../.env"}})
	if err == nil {
		t.Error("a file outside the repository is taken")
	}
}

// How keys are given is a setting like others, and a repository can't undo what the user
// wants of it.
func TestSecretBroker(t *testing.T) {
	l := load(t, map[string]string{"relay.config.json": `{"plugins":{"claude":{"secret":"broker"}}}`})
	if got := string(l.Config.Plugins["claude"]); got != `{"secret":"broker"}` {
		t.Error(got)
	}
	shown := false
	for _, v := range l.Values() {
		shown = shown || v.Key == "plugins.claude.secret" && v.Value == "broker"
	}
	if !shown {
		t.Error("config show does not have it")
	}
	l = load(t, map[string]string{"user/config.json": `{"plugins":{"claude":{"secret":"broker"}}}`, "relay.config.json": `{"plugins":{"claude":{"secret":"environment"}}}`})
	if got := string(l.Config.Plugins["claude"]); got != `{"secret":"broker"}` || len(l.Notices) != 1 {
		t.Errorf("%s %q", got, l.Notices)
	}
}
