package policy

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/judge/git"
)

// repository commits files below policy/, links where a text begins with "-> ".
func repository(t *testing.T, files map[string]string) *git.Repo {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, "policy", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if to, ok := strings.CutPrefix(text, "-> "); ok {
			if err := os.Symlink(to, path); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "base"}} {
		if out, err := exec.Command("git", append([]string{"-C", root}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git, err := git.Open(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	return git
}

// What other programs have in files of these names is named, and keeps nobody from working;
// a rule of relay's with a slip in it is not taken for one of theirs.
func TestFilesOfOthers(t *testing.T) {
	others := map[string]string{
		"one.cel":      "object.spec.replicas <= 5\n",
		"two.cel":      "// forbid more\nask in [1, 2] &&\n  ask in x &&\nforbid == true && forbid.name : 3\n",
		"binary.cel":   "\xff\xfe\x00",
		"large.cel":    strings.Repeat("x && ", maxText),
		"link.cel":     "-> /etc/passwd",
		"in/a.cel":     "forbid a: below a folder of the folder\n    true\n",
		"notes.txt":    "forbid a: m\n    true\n",
		"manifest.cel": "{\n  \"ask\": true\n}\n",
		"three.cel":    "a ? b :\nx in [c] ? d : e\nf(g ? h : i)\n",
	}
	git := repository(t, others)
	for name, open := range map[string]func() (*Set, error){
		"commit": func() (*Set, error) { return Open(t.Context(), git, "HEAD", nil) },
		"tree":   func() (*Set, error) { return OpenTree(git.Root, nil) },
	} {
		s, err := open()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		p := s.Decide(Input{})
		if len(s.rules) != 0 || p == nil || len(p.Hits) > 0 || p.SHA256 != "" || len(p.Ignored) != 7 {
			t.Errorf("%s: %+v", name, p)
		}
	}
	for text, want := range map[string]string{
		"Forbid a: m\n    true\n":                                            "policy/r.cel:1: a line begins with",
		"object.a\nask B:\n    true\n":                                       "policy/r.cel:1: a line begins with",
		"forbid a\n    true\n":                                               "policy/r.cel:1: a line begins with",
		"forbidd a: m\n    true\n":                                           "policy/r.cel:1: a line begins with",
		"Deny a: m\n    true\n":                                              "policy/r.cel:1: a line begins with",
		" forbid a: m\n    true\n":                                           "policy/r.cel:1: an indented line",
		"forbid\u00a0a: m\n    true\n":                                       "policy/r.cel:1: a line begins with",
		"- ask a: m\n    true\n":                                             "policy/r.cel:1: a line begins with",
		"forbid a m\n    true\n":                                             "policy/r.cel:1: a line begins with",
		"forbid in-a m\n    true\n":                                          "policy/r.cel:1: a line begins with",
		"forbid \"a\": m\n    true\n":                                        "policy/r.cel:1: a line begins with",
		"forbid a\uff1a m\n    true\n":                                       "policy/r.cel:1: a line begins with",
		"forbid a: m\n    chnge.lines\n":                                     "policy/r.cel:2: a: undeclared reference",
		bom + "forbid a: m\n    chnge\n":                                     "policy/r.cel:2: a: undeclared reference",
		"forbid a: m\n\ttrue\nallow b:\n":                                    "policy/r.cel:3: a line begins with",
		"\xff\xfe" + wide("forbid a: m\r\n    true\r\n", 1) + "\x00":         "policy/r.cel: it is not UTF-8",
		"\x00" + wide("// mine\nask a: m\n    true\n", 1):                    "policy/r.cel: it is not UTF-8",
		"\xff\xfe\x00\x00" + wide("forbid a: m\n    true\n", 3) + "\x00\x00": "policy/r.cel: it is not UTF-8",
	} {
		others["r.cel"] = text
		_, err := Open(t.Context(), repository(t, others), "HEAD", nil)
		if f, ok := diag.As(err); !ok || !strings.Contains(f.Why, want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// wide puts bytes of zero between those of a text, as UTF-16 has one and UTF-32 three.
func wide(text string, n int) string {
	return strings.Join(strings.Split(text, ""), strings.Repeat("\x00", n))
}

// What an editor or a file system leaves beside the user's rules is none, and blocks nothing.
func TestLeftBesideRules(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, ".config", "relay", "policy")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"a.cel": "forbid a: m\n    true\n", "B.CEL": "ask b: m\n    true\n", "a.cel~": "forbid a: m\n", ".a.cel.swp": "b0VIM", "#a.cel#": "x", "._a.cel": "\x00\x05\x16\x07"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("me@host.1:2", filepath.Join(dir, ".#a.cel")); err != nil {
		t.Fatal(err)
	}
	s, err := OpenTree(t.TempDir(), []string{"HOME=" + home})
	if err != nil || len(s.rules) != 2 {
		t.Fatalf("%+v, %v", s, err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "b.cel")); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenTree(t.TempDir(), []string{"HOME=" + home}); err == nil {
		t.Error("a rule that can't be read does not count, silently")
	}
}

// Nor do many, of which the first are named.
func TestManyFilesOfOthers(t *testing.T) {
	others := map[string]string{"Z.CEL": "forbid a: m\n    true\n"}
	for i := range maxFiles + 10 {
		others[fmt.Sprintf("a%d.cel", i)] = "true\n"
	}
	s, err := Open(t.Context(), repository(t, others), "HEAD", nil)
	if err != nil || len(s.rules) != 1 || len(s.Ignored) != maxNamedAlone+1 || s.Ignored[maxNamedAlone] != "and 190 more" {
		t.Errorf("%v, %+v", err, s)
	}
}
