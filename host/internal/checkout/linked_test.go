package checkout

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Folders elsewhere that links lead to are named: tools write beside what they find there.
func TestLinked(t *testing.T) {
	r := newRepo(t)
	far, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"modules", "ignored", "file"} {
		if err := os.Mkdir(filepath.Join(far, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"node_modules": far + "/modules", "web/node_modules": far + "/modules", "cache.o": far + "/ignored",
		"inside": "src", "above": "..", "all": "/", "gone": far + "/gone", "self": "self", "untracked": far + "/file"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(r.root, name)), 0o755), os.Symlink(to, filepath.Join(r.root, name))); err != nil {
			t.Fatal(err)
		}
	}
	r.git("add", "node_modules", "web", "inside", "above", "all", "gone", "self")
	r.git("commit", "-q", "-m", "links")
	tree := r.take()
	defer tree.Release()
	if want := []string{far + "/ignored", far + "/modules"}; !slices.Equal(tree.Kept.Linked, want) {
		t.Errorf("linked: %q, want %q", tree.Kept.Linked, want)
	}
}
