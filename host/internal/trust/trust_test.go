package trust

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/judge"
)

func load(t *testing.T, name, text string) *config.Loaded {
	t.Helper()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := config.Load(config.Options{Root: root, UserDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

const tests = `{"verification":{"templates":[{"id":"t","cmd":"go","args":["test"]}]}}`

func TestDigest(t *testing.T) {
	base, items := Needed(load(t, "relay.config.json", tests))
	if len(items) != 1 || items[0].Key != "verification.templates[0]" || items[0].Value != `{"args":["test"],"cmd":"go","id":"t"}` || items[0].Line != 1 || len(base) != 64 {
		t.Errorf("%s %+v", base, items)
	}
	for name, c := range map[string]struct {
		file, text string
		same       bool
	}{
		"other format":     {"relay.config.yaml", "verification:\n  templates:\n    - {cmd: go, args: [test], id: t}\n", true},
		"other limits":     {"relay.config.json", strings.Replace(tests, `{"ver`, `{"runner":{"max_tick_seconds":5},"ver`, 1), true},
		"built-in command": {"relay.config.json", strings.Replace(tests, `{"ver`, `{"claude_code_cli":{"command":"claude"},"ver`, 1), true},
		"other argument":   {"relay.config.json", strings.Replace(tests, `"test"`, `"test","-exec=./x"`, 1), false},
		"other program":    {"relay.config.json", strings.Replace(tests, `"go"`, `"./go"`, 1), false},
		"plugin":           {"relay.config.json", strings.Replace(tests, `{"ver`, `{"plugins":{"claude":{"base_url":"http://x"}},"ver`, 1), false},
		"command":          {"relay.config.json", strings.Replace(tests, `{"ver`, `{"claude_code_cli":{"command":"./claude"},"ver`, 1), false},
	} {
		if d, _ := Needed(load(t, c.file, c.text)); (d == base) != c.same {
			t.Errorf("%s: same digest %v, want %v", name, d == base, c.same)
		}
	}
	if d, items := Needed(load(t, "relay.config.json", "{}")); d != "" || items != nil {
		t.Errorf("nothing needs trust, got %s %v", d, items)
	}
}

func none(string) string { return "" }

func TestCheck(t *testing.T) {
	l := load(t, "relay.config.json", tests)
	s := Open(filepath.Join(t.TempDir(), "deep", "state"))
	digest, _ := Needed(l)
	f, ok := fault.As(s.Check(l, none))
	if !ok || f.Code != judge.BlockedUntrustedConfig || !strings.Contains(f.Why, "verification.templates[0]") || !strings.Contains(f.Fix, "`relay trust`") || !strings.Contains(f.Fix, digest) {
		t.Fatalf("%+v", f)
	}
	for env, want := range map[string]bool{digest: true, "abc, " + digest: true, "": false, "1": false, digest[:63]: false} {
		err := s.Check(l, func(n string) string {
			if n == EnvName {
				return env
			}
			return ""
		})
		if (err == nil) != want {
			t.Errorf("RELAY_TRUST=%s: %v", env, err)
		}
	}
	if err := s.Add(l.Root, digest); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(l, none); err != nil {
		t.Error(err)
	}
	// the same repository by another name, and another repository
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(l.Root, link); err != nil {
		t.Fatal(err)
	}
	if ok, err := s.IsTrusted(link, digest); !ok || err != nil {
		t.Error("not trusted through a link", err)
	}
	if ok, _ := s.IsTrusted(t.TempDir(), digest); ok {
		t.Error("another repository with the same configuration is trusted")
	}
	if err := os.WriteFile(l.File, []byte(strings.Replace(tests, `"go"`, `"./evil"`, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	changed, err := config.Load(config.Options{Root: l.Root, UserDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if s.Check(changed, none) == nil {
		t.Error("a changed command is still trusted")
	}
	if ok, err := s.Remove(l.Root); !ok || err != nil {
		t.Error(err)
	}
	if ok, _ := s.Remove(l.Root); ok {
		t.Error("removed twice")
	}
	if s.Check(l, none) == nil {
		t.Error("still trusted after Remove")
	}
	for _, bad := range []string{"", "abc", strings.Repeat("g", 64)} {
		if s.Add(l.Root, bad) == nil {
			t.Errorf("%q is taken for a digest", bad)
		}
	}
}

func TestManyAtOnce(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for i := range 24 {
		wg.Go(func() {
			if err := Open(dir).Add(fmt.Sprintf("/repo/%d", i), fmt.Sprintf("%064x", i)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if r, err := Open(dir).Roots(); err != nil || len(r) != 24 {
		t.Errorf("%d of 24 kept, %v", len(r), err)
	}
	if fi, err := os.Stat(dir); err != nil || fi.Mode().Perm()&0o022 != 0 {
		t.Error("the folder can be written by others")
	}
}

func TestBadStore(t *testing.T) {
	for _, text := range []string{"", "[]", "null x", `{"repositories":{"/a":5}}`, `{"schema_version":2,"repositories":{}}`, `{"Repositories":{}}`} {
		s := Open(t.TempDir())
		if err := os.WriteFile(s.Path(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := s.IsTrusted("/a", strings.Repeat("a", 64))
		f, ok := fault.As(err)
		if !ok || f.Code != judge.BlockedUntrustedConfig || !strings.Contains(f.Fix, "rm ") {
			t.Errorf("%q: %v", text, err)
		}
	}
	s := Open(t.TempDir())
	if err := os.Symlink("/dev/zero", s.Path()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.IsTrusted("/a", "b"); err == nil {
		t.Error("a link was followed")
	}
}
