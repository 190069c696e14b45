package trust

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/attest"
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
	f, ok := diag.As(s.Check(l, none))
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
	if err := s.Add(l.Root, digest, nil); err != nil {
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
		if s.Add(l.Root, bad, nil) == nil {
			t.Errorf("%q is taken for a digest", bad)
		}
	}
}

func TestManyAtOnce(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for i := range 24 {
		wg.Go(func() {
			if err := Open(dir).Add(fmt.Sprintf("/repo/%d", i), fmt.Sprintf("%064x", i), nil); err != nil {
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
		f, ok := diag.As(err)
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

// What changed since the last yes is shown, and what only moved is not.
func TestChanges(t *testing.T) {
	s, root := Open(t.TempDir()), t.TempDir()
	item := func(key, value string) Item { return Item{Key: key, Value: value, Why: "why"} }
	before := []Item{item("a", "1"), item("t[0]", "x"), item("t[1]", "y"), item("gone", "g")}
	if _, known, err := s.Changes(root, before); known || err != nil {
		t.Fatal("something is known of a new repository", err)
	}
	if err := s.Add(root, strings.Repeat("ab", 32), before); err != nil {
		t.Fatal(err)
	}
	got, known, err := s.Changes(root, []Item{item("a", "2"), item("t[0]", "new"), item("t[1]", "x"), item("t[2]", "y")})
	want := []Change{{"a", "1", "2", "why"}, {"t[0]", "", "new", "why"}, {"gone", "g", "", ""}}
	if err != nil || !known || !slices.Equal(got, want) {
		t.Errorf("%+v %v", got, err)
	}
}

// What a person allows for good widens the ceiling of that repository alone; what is allowed
// once is given once.
func TestWishes(t *testing.T) {
	s, root, other := Open(t.TempDir()), t.TempDir(), t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	taken := func(root string) string {
		t.Helper()
		wish, err := s.TakeAllowed(root)
		must(err)
		if wish == nil {
			return ""
		}
		return string(wish.Task)
	}
	yes := func(*Wish) attest.Approval { return attest.Approval{Kind: attest.Beyond} }
	w := Wish{RunID: "r1", Task: []byte(`{"a":1}`), Widening: Widening{Globs: []string{"docs/**"}, Lines: 900}}
	for answer, want := range map[string]string{"no": "", "use src": "", AllowOnce: `{"a":1}`} {
		must(s.Ask(root, w))
		must(s.AnswerWish(root, "r0", AllowOnce, yes)) // of another question
		must(s.AnswerWish(root, "r1", answer, yes))
		if got := strings.Join(strings.Fields(taken(root)), ""); got != want {
			t.Errorf("%q: %q", answer, got)
		}
		if taken(root) != "" {
			t.Error("given twice")
		}
	}
	if got, err := s.Widened(root); err != nil || len(got.Globs) > 0 {
		t.Errorf("%+v %v", got, err)
	}
	must(s.Ask(root, w))
	if taken(root) != "" {
		t.Error("what nobody has allowed is given")
	}
	must(s.Ask(root, w))
	must(s.AnswerWish(root, "r1", AllowAlways, yes))
	got, err := s.Widened(root)
	if err != nil || !slices.Equal(got.Globs, w.Widening.Globs) || got.Lines != 900 || taken(root) == "" {
		t.Errorf("%+v %v", got, err)
	}
	if got, _ := s.Widened(other); len(got.Globs) > 0 || got.Lines > 0 {
		t.Errorf("another repository has %+v", got)
	}
	c := got.Widen(judge.Ceiling{Allowed: [][]string{{"src/**"}, {"src/**", "x"}}, MaxLines: 10, MaxFiles: 3})
	if len(c.Allowed[0]) != 2 || len(c.Allowed[1]) != 3 || c.MaxLines != 900 || c.MaxFiles != 3 || c.NewFiles {
		t.Errorf("%+v", c)
	}
	once := Wish{RunID: "r2", Task: w.Task, OnceOnly: true, Widening: Widening{NewFiles: true}}
	must(s.Ask(root, once))
	must(s.AnswerWish(root, "r2", AllowAlways, yes)) // was not offered
	if got, _ := s.Widened(root); got.NewFiles || taken(root) != "" {
		t.Error("a protected file is opened for good")
	}
	must(s.Ask(root, w))
	must(s.AnswerWish(root, "r1", AllowOnce, yes))
	must(os.RemoveAll(filepath.Join(root, ".git"))) // and another repository is made in its place
	if got, err := s.Widened(root); err != nil || len(got.Globs) > 0 || got.Lines > 0 {
		t.Errorf("another repository at the same path has %+v %v", got, err)
	}
	if task := taken(root); task != "" {
		t.Errorf("another repository at the same path is given %s", task)
	}
}
