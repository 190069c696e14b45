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
