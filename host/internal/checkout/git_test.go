package checkout

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What the operator has under way has no name in the copy of the git directory.
func TestNothingUnderWay(t *testing.T) {
	r := newRepo(t)
	stash := func(text string) string {
		r.put("src/a.txt", text)
		r.git("stash", "-q")
		return r.git("rev-parse", "refs/stash")
	}
	stash("packed")
	r.git("update-ref", "refs/wip/main", "refs/stash") // as some editors keep what is not saved
	r.git("branch", "other")
	r.git("tag", "-a", "-m", "one", "one")
	r.git("pack-refs", "--all")
	last := stash("loose")
	amended := r.git("commit-tree", "-m", "amended", "HEAD^{tree}")
	r.git("reset", "-q", "--soft", amended)
	r.git("reset", "-q", "--soft", "main@{1}")
	r.put(".git/MERGE_MSG", "unsent")
	r.put(".git/rebase-merge/autostash", last)
	tree := r.take()
	refs := []string{"for-each-ref", "--format=%(objectname) %(refname)"}
	want := r.git(append(refs, "refs/heads", "refs/tags")...)
	if got := r.git(append([]string{"-C", tree.Kept.Root}, refs...)...); got != want {
		t.Errorf("refs: %s, want %s", got, want)
	}
	err := filepath.WalkDir(filepath.Join(tree.Kept.Root, ".git"), func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		for _, mine := range []string{last, amended, "unsent"} {
			if strings.Contains(string(text), mine) {
				t.Errorf("%s is in %s", mine, path)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// Where refs are links to those of another checkout, nothing is written there.
func TestLinkedRefs(t *testing.T) {
	r := newRepo(t)
	base, first := r.git("rev-parse", "HEAD"), r.root
	r.root = filepath.Join(filepath.Dir(first), "workdir")
	r.put(".git/HEAD", "ref: refs/heads/main\n")
	for _, name := range []string{"config", "info", "objects", "refs"} {
		if err := os.Symlink(filepath.Join(first, ".git", name), filepath.Join(r.root, ".git", name)); err != nil {
			t.Fatal(err)
		}
	}
	r.git("reset", "-q", "--hard")
	r.git("commit", "-q", "--allow-empty", "-m", "the operator's, since the run began")
	last := r.git("rev-parse", "HEAD")
	r.open()
	tree, err := r.k.Take(t.Context(), base, "main")
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Release()
	r.holds(tree, ".git/refs/heads/main", base+"\n")
	if got := r.git("rev-parse", "main"); got != last {
		t.Errorf("the operator's branch is at %s, want %s", got, last)
	}
}
