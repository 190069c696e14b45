//go:build linux || darwin

package copies

import (
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/paxiom/relay/judge/box/internal/tree"
	"golang.org/x/sys/unix"
)

// No means without namespaces keeps a builder from changing the modes of what belongs to
// the same user. A folder above the repository, or of relay's own, that was shut would
// keep relay out, and the user after it: so their modes are remembered, and put back
// before anything else.

// parentModes gives the modes of the folders on the way to what relay needs, and of its own
// files that a box is made of.
func (b *copied) parentModes() map[string]uint32 {
	modes := map[string]uint32{}
	add := func(path string) {
		var st unix.Stat_t
		if unix.Lstat(path, &st) == nil && int(st.Uid) == os.Getuid() && !tree.Is(&st, unix.S_IFLNK) {
			modes[path] = uint32(st.Mode)
		}
	}
	way := func(dir string) {
		for ; dir != "/" && dir != "." && dir != ""; dir = filepath.Dir(dir) {
			add(dir)
		}
	}
	for i, of := range b.snapshot.Of {
		way(filepath.Dir(of))
		way(b.snapshot.place(i))
		if b.copies() && i < len(b.Lowers) {
			way(filepath.Dir(b.Copy(i)))
		}
	}
	way(b.Home)
	for _, dir := range []string{b.StateDir, b.Layer, b.Layout.Dir, filepath.Join(b.Layout.Dir, layerRun)} {
		way(dir)
		entries(dir, 1, add)
	}
	for _, dir := range slices.Concat(b.Busy, b.States) {
		add(dir)
		entries(dir, 3, add)
	}
	for _, of := range b.snapshot.Of { // those are looked at as a whole
		delete(modes, of)
	}
	return modes
}

// entries adds what is in a folder and, so many folders deep, in those below it.
func entries(dir string, depth int, add func(string)) {
	const most = 1000
	names, _ := os.ReadDir(dir)
	for _, name := range names[max(0, len(names)-most):] { // of a long history the latest
		path := filepath.Join(dir, name.Name())
		add(path)
		if name.IsDir() && depth > 1 {
			entries(path, depth-1, add)
		}
	}
}

// open puts the modes back of what lies above, and says which were changed.
func (v *snapshot) open() (found []string) {
	for _, path := range slices.Sorted(maps.Keys(v.Above)) { // what lies above comes first
		var st unix.Stat_t
		was := v.Above[path]
		if unix.Lstat(path, &st) != nil || uint32(st.Mode) == was || !tree.Is(&st, was&unix.S_IFMT) {
			continue
		}
		if unix.Fchmodat(unix.AT_FDCWD, path, was&0o7777, 0) == nil {
			found = append(found, "changed the mode of "+path)
		}
	}
	return found
}
