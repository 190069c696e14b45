//go:build linux || darwin

package box

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/paxiom/relay/judge/box/internal/tree"
)

// A box is a layer of several folders: of the root, of git directories outside it, and of
// folders in those that are shown as they are where the others are kept commits.

// resolveKept makes the paths of a kept commit real.
func resolveKept(spec *Spec, real func(what string, path *string) error) error {
	if spec.Kept == nil {
		return nil
	}
	kept := *spec.Kept
	kept.GitDirs = slices.Clone(kept.GitDirs)
	if err := real("kept checkout", &kept.Root); err != nil {
		return err
	}
	for i := range kept.GitDirs {
		if err := real("kept git directory", &kept.GitDirs[i]); err != nil {
			return err
		}
	}
	if spec.Means != Overlay || len(kept.GitDirs) != len(spec.GitDirs) {
		return &Error{Op: "show the kept checkout", Path: kept.Root, Why: "it does not go with this box"}
	}
	spec.Kept = &kept
	return nil
}

// shownBy are the folders of a layer's list after the first n.
func shownBy(list string, n int) (shown []string) {
	for i, line := range strings.Split(strings.TrimSuffix(list, "\n"), "\n") {
		if path, err := strconv.Unquote(line); err == nil && i >= n {
			shown = append(shown, path)
		}
	}
	return shown
}

// lowers are the folders that the layer is a layer of; the root comes first.
func (b *Box) lowers() []string {
	lowers := append([]string{b.spec.Root}, b.spec.GitDirs...)
	if b.spec.Kept != nil {
		lowers = append(lowers, b.spec.Kept.Shown...)
	}
	return lowers
}

// gone reports whether the i-th of them is one that is shown as it is, and that its owner has
// removed since: the workspace, or what git ignores.
func (b *Box) gone(i int) bool { return b.live(i) && missing(b.below(i)) }

func (b *Box) live(i int) bool { return i > len(b.spec.GitDirs) }

func missing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// below is what lies below the i-th of them.
func (b *Box) below(i int) string {
	switch k := b.spec.Kept; {
	case k == nil || i > len(k.GitDirs):
		return b.lowers()[i]
	case i == 0:
		return k.Root
	default:
		return k.GitDirs[i-1]
	}
}

// part finds where a path of the repository lies: in which of the lowers, and where there.
func (b *Box) part(name string) (i int, rel string) {
	return b.partOf(filepath.Join(b.spec.Root, name))
}

// partOf is part for an absolute path; -1 when it is in none.
func (b *Box) partOf(path string) (i int, rel string) {
	i, most := -1, -1
	for n, lower := range b.lowers() {
		if tree.Within(path, lower) && len(lower) > most {
			i, most = n, len(lower)
		}
	}
	if i < 0 {
		return i, ""
	}
	return i, filepath.ToSlash(strings.TrimPrefix(path[most:], "/"))
}

// there reports whether something lies at a path, as the box shows it before anything is
// written.
func (b *Box) there(path string) bool {
	if i, rel := b.partOf(path); i >= 0 {
		path = filepath.Join(b.below(i), rel)
	}
	_, err := os.Lstat(path)
	return err == nil
}

// upper is where the writes to the i-th of them are.
func (b *Box) upper(i int) string {
	if b.copies() {
		return b.weak.Copy(i)
	}
	return filepath.Join(b.layer, strconv.Itoa(i), "up")
}
func (b *Box) work(i int) string { return filepath.Join(b.layer, strconv.Itoa(i), "work") }

// holder is the one of the lowers in which the i-th of them, a folder that is shown, lies.
func (b *Box) holder(i int) (at int, rel string) {
	all := b.lowers()[:1+len(b.spec.GitDirs)]
	most := -1
	for n, lower := range all {
		if tree.Within(b.lowers()[i], lower) && len(lower) > most {
			at, most = n, len(lower)
		}
	}
	return at, filepath.ToSlash(strings.TrimPrefix(b.lowers()[i][max(most, 0):], "/"))
}

// inGit says that a path lies in .git, and where.
func inGit(path string) (string, bool) {
	if path == ".git" {
		return ".", true
	}
	return strings.CutPrefix(path, ".git/")
}
