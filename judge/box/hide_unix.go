//go:build linux || darwin

package box

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/paxiom/relay/judge/box/internal/tree"
)

// hidden is what is hidden of Spec.Hide: what is shown, and what the box is made of, is
// left out. What is shown below something that is hidden is listed by shownBelow.
func (b *Box) hidden() (out []Hidden) {
	keep := append(b.lowers(), b.spec.Home)
	shown := b.shown()
	hide := slices.Clone(b.spec.Hide)
	mounts, _ := hostMounts() // without the kernel's list nothing is known to be mounted twice
	for _, h := range hide {
		hide = append(hide, elsewhere(mounts, h)...)
	}
	for _, dir := range append([]string{b.spec.StateDir}, b.spec.states...) {
		hide = append(hide, elsewhere(mounts, Hidden{Path: dir})...)
	}
	for _, h := range hide {
		covers := func(path string) bool { return tree.Within(h.Path, path) }
		if slices.Contains(keep, h.Path) || b.spec.Home != "" && tree.Within(b.spec.Home, h.Path) || slices.ContainsFunc(shown, covers) {
			continue
		}
		out = append(out, h)
	}
	slices.SortStableFunc(out, func(a, b Hidden) int { return len(a.Path) - len(b.Path) })
	return out
}

// mount is one line of the kernel's table: what of a device is mounted, and where.
type mount struct{ device, root, at string }

func readMounts(table string) (mounts []mount) {
	plain := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for line := range strings.Lines(table) {
		if f := strings.Fields(line); len(f) > 4 {
			mounts = append(mounts, mount{f[2], plain.Replace(f[3]), plain.Replace(f[4])})
		}
	}
	return mounts
}

// elsewhere gives the other places where what is hidden can be read, since what holds it,
// or a part of it, is mounted a second time: a home of which another path is the origin,
// or the top of a file system of which it is a part.
func elsewhere(mounts []mount, h Hidden) (all []Hidden) {
	real, err := filepath.EvalSymlinks(h.Path)
	if err != nil {
		return nil
	}
	var in mount
	for _, m := range mounts { // of two at one place the last is seen
		if tree.Within(real, m.at) && len(m.at) >= len(in.at) {
			in = m
		}
	}
	below, err := filepath.Rel(in.at, real)
	if err != nil {
		return nil
	}
	inner := filepath.Join(in.root, below)
	for _, m := range mounts {
		at, was := "", real
		switch {
		case m.device != in.device:
			continue
		case tree.Within(inner, m.root):
			rel, _ := filepath.Rel(m.root, inner)
			at = filepath.Join(m.at, rel)
		case tree.Within(m.root, inner):
			rel, _ := filepath.Rel(inner, m.root)
			at, was = m.at, filepath.Join(real, rel)
		}
		if at == "" || tree.Within(at, real) {
			continue
		}
		one, err := os.Stat(was)
		two, err2 := os.Stat(at)
		if err == nil && err2 == nil && os.SameFile(one, two) { // and not something that is mounted over it
			all = append(all, Hidden{Path: at, Instead: h.Instead})
		}
	}
	return all
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

// StateName is the folder of a git directory in which relay keeps what it believes. No box
// shows one, be it that of the work tree, of another work tree, or of a submodule.
const StateName = "relay"

// statesIn finds those folders.
func statesIn(gitDirs []string) (states []string) {
	for _, dir := range gitDirs {
		for _, at := range []string{"", "worktrees/*", "modules/*", "modules/*/*", "modules/*/worktrees/*"} {
			found, _ := filepath.Glob(filepath.Join(quoteGlob(dir), at, StateName))
			for _, state := range found {
				if info, err := os.Lstat(state); err == nil && info.IsDir() {
					states = append(states, state)
				}
			}
		}
	}
	return states
}

// quoteGlob has a path stand for itself in a pattern.
func quoteGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}
