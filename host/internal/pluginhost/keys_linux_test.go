package pluginhost

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/keys"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/testdata/badplugins"
)

const ownKey = "sk-own-31415926535897932"

// environ is the environment that a plugin was started with.
func environ(t *testing.T, s Spec) string {
	t.Helper()
	p := mustOpen(t, s)
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.Pid()))
	if err != nil {
		t.Fatal(err)
	}
	return "\n" + strings.ReplaceAll(string(b), "\x00", "\n")
}

func keyFile(t *testing.T, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// With a key of its own a plugin gets that and nothing else; the configuration that it
// sees does not tell from where.
func TestOwnKey(t *testing.T) {
	t.Setenv("SOMEBODYS_KEY", "sk-somebody-else")
	spec := good()
	spec.Entry.Env = append(spec.Entry.Env, catalog.EnvVar{Name: "OTHER_KEY", Secret: true}, catalog.EnvVar{Name: "PLAIN_SETTING"})
	t.Setenv("OTHER_KEY", "sk-other-1234567890")
	t.Setenv("PLAIN_SETTING", "on")
	if env := environ(t, spec); !strings.Contains(env, secret) || !strings.Contains(env, "\nOTHER_KEY=") || strings.Contains(env, "SOMEBODYS_KEY") {
		t.Errorf("without a reference: %s", env)
	}
	for name, ref := range map[string]string{
		"file":    `"file:` + keyFile(t, ownKey+"\n", 0o600) + `"`,
		"command": `{"command": ["printf", "%s", "` + ownKey + `"]}`,
		"env":     `"env:RENAMED_KEY"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("RENAMED_KEY", ownKey)
			s := spec
			s.Config = []byte(`{"keys": {"` + badplugins.SecretVar + `": ` + ref + `}}`)
			env := environ(t, s)
			if !strings.Contains(env, "\n"+badplugins.SecretVar+"="+ownKey+"\n") || !strings.Contains(env, "\nPLAIN_SETTING=on\n") {
				t.Errorf("the key is missing: %s", env)
			}
			for _, other := range []string{secret, "OTHER_KEY", "SOMEBODYS_KEY", "RENAMED_KEY"} {
				if strings.Contains(env, other) {
					t.Errorf("it got %s: %s", other, env)
				}
			}
		})
	}
}

// A key of a reference is masked like one of the environment.
func TestOwnKeyIsMasked(t *testing.T) {
	var stderr bytes.Buffer
	spec := bad("leaky")
	spec.Stderr, spec.Config = &stderr, []byte(`{"keys": {"`+badplugins.SecretVar+`": "file:`+keyFile(t, ownKey, 0o600)+`"}}`)
	p := mustOpen(t, spec)
	_, f := p.Complete(context.Background(), prompt("hi"), nil)
	p.Close(context.Background())
	if f == nil || !strings.HasSuffix(f.Says, " suggests: replace [redacted]") || strings.Contains(stderr.String(), ownKey) {
		t.Errorf("%+v\n%s", f, stderr.String())
	}
}

// Of an address that a plugin is given, the name and the password are masked as they stand in
// it; a word that happens to be a password is not.
func TestPasswordInAddressIsMasked(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://me:open%20sesame@proxy.example:3128")
	p := mustOpen(t, good())
	done, f := p.Complete(context.Background(), prompt("dial http://me:open%20sesame@proxy.example:3128: refused, sesame"), nil)
	if f != nil || done.GetText() != "dial http://[redacted]proxy.example:3128: refused, sesame" {
		t.Errorf("%v %v", done, f)
	}
}

// A plugin that asks for no key passes on what it is given (external).
func TestKeyForPluginWithout(t *testing.T) {
	spec := good()
	spec.Entry.Env = nil
	spec.Config = []byte(`{"keys": {"AIDER_KEY": "file:` + keyFile(t, ownKey, 0o600) + `"}}`)
	if env := environ(t, spec); !strings.Contains(env, "\nAIDER_KEY="+ownKey+"\n") || strings.Contains(env, secret) {
		t.Error(env)
	}
}

// What is in the way of a key is said, with what to do, and no plugin is started.
func TestNoKey(t *testing.T) {
	for name, tc := range map[string]struct {
		config string
		code   judge.Code
		says   string
	}{
		"open to others": {`{"` + badplugins.SecretVar + `": "file:` + keyFile(t, ownKey, 0o644) + `"}`, judge.BlockedAuth, "chmod 600"},
		"no variable":    {`{"` + badplugins.SecretVar + `": "env:NOT_SET_HERE"}`, judge.BlockedAuth, "export NOT_SET_HERE"},
		"command fails":  {`{"` + badplugins.SecretVar + `": {"command": ["sh", "-c", "echo ` + ownKey + ` >&2; exit 1"]}}`, judge.BlockedAuth, "exit status 1"},
		"not asked for":  {`{"MISSPELT_KEY": "env:HOME"}`, judge.BlockedPlugin, "it knows " + badplugins.SecretVar},
		"a value":        {`{"` + badplugins.SecretVar + `": "` + ownKey + `"}`, judge.BlockedPlugin, "never written here"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := good()
			spec.Config = []byte(`{"keys": ` + tc.config + `}`)
			_, err := Open(context.Background(), spec)
			var f *Failure
			if !errors.As(err, &f) || f.Diagnostic().Code != tc.code || !strings.Contains(err.Error(), tc.says) {
				t.Fatalf("%v", err)
			}
			// The command of the person is shown to the person: what it prints is not.
			if text := strings.ReplaceAll(fmt.Sprintf("%+v %v", *f, err), "echo "+ownKey, ""); strings.Contains(text, ownKey) {
				t.Errorf("the key is told: %s", text)
			}
		})
	}
}

// The file that the operator allowed has only what the environment lacks, and only for
// plugins that ask for it.
func TestEnvFile(t *testing.T) {
	root := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", root).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	if err := os.WriteFile(filepath.Join(root, ".env"), []byte("LACKING_KEY="+ownKey+"\n"+badplugins.SecretVar+"=sk-not-this-one\nDATABASE=x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	spec := good()
	spec.Entry.Env = append(spec.Entry.Env, catalog.EnvVar{Name: "LACKING_KEY", Secret: true})
	if env := environ(t, spec); strings.Contains(env, ownKey) {
		t.Errorf("nobody said that the file is to be read: %s", env)
	}
	spec.EnvFile = keys.EnvFile{Root: root, Path: ".env"}
	env := environ(t, spec)
	if !strings.Contains(env, "\nLACKING_KEY="+ownKey) || !strings.Contains(env, secret) || strings.Contains(env, "not-this-one") || strings.Contains(env, "DATABASE") {
		t.Error(env)
	}
}
