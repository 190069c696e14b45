//go:build linux || darwin

package copies

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/paxiom/relay/judge/box/internal/tree"
)

// statesToHide are relay's state in the real repository, which a copy leaves out, and what
// of its state on the machine the box is not made of. exe, which may be nil, lies there for
// some plugins: a script is read once more by its interpreter.
func (b *copied) statesToHide(exe *os.File) []string {
	used := append(slices.Clone(b.Lowers), b.Layout.Dir)
	if exe != nil {
		used = append(used, exe.Name())
	}
	for _, bind := range b.Binds {
		used = append(used, bind.Path)
	}
	used = append(used, b.Persist...)
	hide := slices.Clone(b.States)
	entries, _ := os.ReadDir(b.StateDir) // what can't be listed can't be read either
	for _, e := range entries {
		path := filepath.Join(b.StateDir, e.Name())
		if e.Name() != filepath.Base(b.Scratch) && !slices.ContainsFunc(used, func(at string) bool { return tree.Within(at, path) }) {
			hide = append(hide, path)
		}
	}
	return hide
}

// readable are the folders and files below dir that can be read when what is hidden
// can't: with a kernel that only knows how to allow.
func readable(dir string, hidden []string) (dirs, files []string) {
	if !slices.ContainsFunc(hidden, func(h string) bool { return tree.Within(h, dir) }) {
		return []string{dir}, nil
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case slices.Contains(hidden, path) || e.Type()&os.ModeSymlink != 0: // a link's target is found where it lies
		case e.IsDir():
			more, single := readable(path, hidden)
			dirs, files = append(dirs, more...), append(files, single...)
		default:
			files = append(files, path)
		}
	}
	return dirs, files
}
