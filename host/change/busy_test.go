package change

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAtWork(t *testing.T) {
	r := newRepo(t)
	for file, want := range map[string]map[string]string{
		".git/rebase-merge/head-name=refs/heads/main":                {"main": "the rebase", "": "your git rebase", "other": ""},
		".git/worktrees/side/rebase-merge/head-name=refs/heads/main": {"main": "the rebase", "": "", "other": ""},
		".git/BISECT_LOG=":  {"main": "", "": "your git bisect"},
		".git/index.lock=":  {"main": "index.lock", "": "index.lock"},
		".git/MERGE_HEAD=x": {"main": "", "": ""},
	} {
		r.sh(file)
		for branch, says := range want {
			if got := r.env.AtWork(branch, 0); (got == "") != (says == "") || !strings.Contains(got, says) {
				t.Errorf("%s, on %q: %q, want %q", file, branch, got, says)
			}
		}
		name, _, _ := strings.Cut(file, "=")
		must(t, os.RemoveAll(filepath.Join(r.root, name)))
		must(t, os.RemoveAll(filepath.Join(r.root, ".git/rebase-merge")))
	}
}

// While the list of a rebase is edited HEAD is still on the branch, which git can't move later if it
// has moved by then.
func TestRecordDuringARebase(t *testing.T) {
	r := newRepo(t)
	r.sh("README.md=more\n.git/rebase-merge/head-name=refs/heads/main")
	if commit, err := Record(t.Context(), r.env, "record", "main", []string{"README.md"}, Message{Subject: "list"}, nil); !errors.Is(err, ErrElsewhere) || commit != "" {
		t.Errorf("%q, %v", commit, err)
	}
	if got := r.git("log", "--format=%s"); got != "base" {
		t.Errorf("log %q", got)
	}
	must(t, os.RemoveAll(filepath.Join(r.root, ".git/rebase-merge")))
	_, err := Record(t.Context(), r.env, "record", "main", []string{"README.md"}, Message{Subject: "list"}, nil)
	must(t, err)
	if got := r.git("log", "--format=%s"); got != "list\nbase" {
		t.Errorf("log %q", got)
	}
}
