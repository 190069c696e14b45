package change

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/paxiom/relay/judge/box"
)

// A box shows nothing of what the operator has under way, but for submodules.
func TestShownAllTheSame(t *testing.T) {
	r := newRepo(t)
	r.git("clone", "-q", r.root, filepath.Join(r.root, "sub"))
	r.git("add", "sub")
	r.git("commit", "-qm", "sub")
	dirty := []string{"src/a.go", "draft.txt", "sub"}
	for _, c := range []struct {
		means string
		want  []string
	}{{box.Overlay, dirty[2:]}, {box.Copy, dirty}} {
		r.env.Keep = r.env.filtering().Keeper(r.env.Git, c.means, "")
		if got, err := r.env.Shown(t.Context(), dirty); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v, want %q", c.means, got, err, c.want)
		}
	}

	// A git directory that says it has part of another one is not kept.
	other := filepath.Join(filepath.Dir(r.root), "other")
	must(t, os.Rename(filepath.Join(r.root, ".git"), other))
	must(t, os.Mkdir(filepath.Join(r.root, ".git"), 0o755))
	r.write(".git/commondir", other, 0o644)
	r.write(".git/HEAD", "ref: refs/heads/main\n", 0o644)
	r.open()
	if r.env.filtering().Keeper(r.env.Git, box.Overlay, "") != nil {
		t.Error("a commit would be kept without its git directory")
	}
}
