package judge

import (
	"path"
	"slices"
)

// Beside gives what the base has in the folders on the way to new files: the names that
// theirs could be taken for. A folder of which the changes leave nothing is none of them.
// list gives what lies in the base below some paths: with all, every file, otherwise what is
// directly there.
func Beside(changes []Change, list func(all bool, paths []string) ([]string, error)) (names []string, err error) {
	var dirs []string
	seen, folded, gone := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i := range changes {
		c := &changes[i]
		gone[c.Path] = c.Kind == Deleted
		if c.isNew() && len(c.Path) <= maxPath {
			for dir := path.Dir(c.Path); !seen[dir]; dir = path.Dir(dir) {
				seen[dir], folded[foldLetters(dir)] = true, true
				dirs = append(dirs, "./"+dir+"/")
			}
		}
	}
	for some := range slices.Chunk(dirs, 500) { // a command line has room for so many
		found, err := list(false, some)
		if err != nil {
			return nil, err
		}
		names = append(names, found...)
	}
	for i, name := range names {
		if seen[name] || !folded[foldLetters(name)] {
			continue
		}
		below, err := list(true, []string{"./" + name + "/"})
		if err != nil {
			return nil, err
		}
		if len(below) > 0 && !slices.ContainsFunc(below, func(path string) bool { return !gone[path] }) {
			names[i] = ""
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" }), nil
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
				j.breaks(StopForbidden, c.Path, "differs from %q in letter case only, so that both can't be checked out on macOS or Windows; only your own task whose allowed_globs name %q may add it", other, c.Path)
				break
			}
			there[folded] = name
		}
	}
}
