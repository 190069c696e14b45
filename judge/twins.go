package judge

import (
	"context"
	"path"
	"slices"
	"strings"
)

// Beside gives what a commit has in the folders on the way to new files: the names that
// theirs could be taken for.
func (g *Git) Beside(ctx context.Context, commit string, changes []Change) (names []string, err error) {
	var dirs []string
	seen := map[string]bool{}
	for i := range changes {
		if c := &changes[i]; c.isNew() && len(c.Path) <= maxPath {
			for dir := path.Dir(c.Path); !seen[dir]; dir = path.Dir(dir) {
				seen[dir] = true
				dirs = append(dirs, "./"+dir+"/")
			}
		}
	}
	for some := range slices.Chunk(dirs, 500) { // a command line has room for so many
		out, err := g.Run(ctx, nil, append([]string{"ls-tree", "-zt", "--name-only", "--full-tree", commit}, some...)...)
		if err != nil {
			return nil, err
		}
		names = append(names, strings.FieldsFunc(string(out), func(c rune) bool { return c == 0 })...)
	}
	return names, nil
}

// isNew reports whether the change is a new file that git would hold.
func (c *Change) isNew() bool { return c.Kind == Added && !c.NewMode.IsDir() && !c.Ignored }

// twins looks for new files whose name, or that of a folder on the way to them, is another's
// but for letter case. Here both are there; on a disk that folds case, as those of macOS and
// Windows do, git can check out only one of them.
func (j *trial) twins(beside []string) {
	gone := map[string]bool{}
	for i := range j.changes {
		gone[j.changes[i].Path] = j.changes[i].Kind == Deleted
	}
	there := map[string]string{}
	for _, name := range beside {
		if !gone[name] {
			there[foldLetters(name)] = name
		}
	}
	for i := range j.changes {
		c := &j.changes[i]
		if !c.isNew() || j.policy.opens && j.named[c.Path] {
			continue
		}
		for name := c.Path; name != "."; name = path.Dir(name) {
			folded := foldLetters(name)
			if other := there[folded]; other != "" && other != name {
				j.breaks(StopForbidden, c.Path, "differs from %q in letter case only, so that both can't be checked out on macOS or Windows; only a task of yours whose allowed_globs name %q may add it", other, c.Path)
				break
			}
			there[folded] = name
		}
	}
}
