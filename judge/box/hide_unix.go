//go:build linux || darwin

package box

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/paxiom/relay/judge/box/internal/tree"
)

// hidden is what is hidden of Spec.Hide: what is shown, and what the box is made of, is
// left out. What is shown below something that is hidden is listed by shownBelow.
func (b *Box) hidden() (out []Hidden) {
	keep := append(b.lowers(), b.spec.Home)
	shown := b.shown()
	for _, h := range b.spec.Hide {
		covers := func(path string) bool { return tree.Within(h.Path, path) }
		if slices.Contains(keep, h.Path) || b.spec.Home != "" && tree.Within(b.spec.Home, h.Path) || slices.ContainsFunc(shown, covers) {
			continue
		}
		out = append(out, h)
	}
	slices.SortStableFunc(out, func(a, b Hidden) int { return len(a.Path) - len(b.Path) })
	return out
}

// shown are the paths of which nothing is hidden.
func (b *Box) shown() []string {
	shown := slices.Clone(b.spec.Persist)
	for _, bind := range b.spec.Binds {
		if !bind.Hidden {
			shown = append(shown, bind.Path)
		}
	}
	return shown
}

// statesToHide are relay's state in the real repository, which a copy leaves out, and what
// of its state on the machine the box is not made of. exe, which may be nil, lies there for
// some plugins: a script is read once more by its interpreter.
func (b *Box) statesToHide(exe *os.File) []string {
	used := append(b.lowers(), b.layer)
	if exe != nil {
		used = append(used, exe.Name())
	}
	for _, bind := range b.spec.Binds {
		used = append(used, bind.Path)
	}
	used = append(used, b.spec.Persist...)
	hide := slices.Clone(b.spec.states)
	entries, _ := os.ReadDir(b.spec.StateDir) // what can't be listed can't be read either
	for _, e := range entries {
		path := filepath.Join(b.spec.StateDir, e.Name())
		if e.Name() != scratchName && !slices.ContainsFunc(used, func(at string) bool { return tree.Within(at, path) }) {
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
