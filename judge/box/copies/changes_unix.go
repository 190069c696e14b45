//go:build linux || darwin

package copies

import (
	"context"
	"maps"
	"path/filepath"
	"slices"

	"github.com/paxiom/relay/judge/box/internal/tree"
	"golang.org/x/sys/unix"
)

// overlayChanges does in a builder's copy what the builder did in the real folders: agents know
// a repository by its path and may use that. What the builder has changed in the copy
// as well stays as it is there.
type overlayChanges struct {
	tops []string // of the copies
	made []traces
	// locked are folders that were made writable, and their modes.
	locked map[string]uint32
}

// open opens the folder of a path in the copy, when the path is still as it was made.
// A missing one must have been missing.
func (f *overlayChanges) open(i int, at string) (dir int, name string, ok bool) {
	dir, name, err := openParent(f.tops[i], at)
	if err != nil {
		return -1, "", false
	}
	now, there := lookAt(dir, name)
	made, was := f.made[i][at]
	if there != was || there && !made.still(now) {
		unix.Close(dir)
		return -1, "", false
	}
	var st unix.Stat_t
	if unix.Fstat(dir, &st) == nil && st.Mode&0o700 != 0o700 {
		if f.locked == nil {
			f.locked = map[string]uint32{}
		}
		f.locked[filepath.Join(f.tops[i], filepath.Dir(at))] = uint32(st.Mode)
		unix.Fchmod(dir, uint32(st.Mode)&0o7777|0o700)
	}
	return dir, name, true
}

// lock gives the folders their modes back, as far as they are still there.
func (f *overlayChanges) lock() {
	for _, path := range slices.Backward(slices.Sorted(maps.Keys(f.locked))) {
		if now, ok := lookAt(unix.AT_FDCWD, path); ok && now.isDir() {
			unix.Fchmodat(unix.AT_FDCWD, path, f.locked[path]&0o7777, 0)
		}
	}
	f.locked = nil
}

func (f *overlayChanges) remove(i int, at string) {
	if dir, name, ok := f.open(i, at); ok {
		tree.RemoveAt(dir, name)
		unix.Close(dir)
	}
}

func (f *overlayChanges) chmod(i int, at string, mode uint32) {
	top := f.tops[i]
	if at == "." {
		unix.Fchmodat(unix.AT_FDCWD, top, mode&0o7777, 0)
		return
	}
	dir, name, err := openParent(top, at)
	if err != nil {
		return
	}
	defer unix.Close(dir)
	now, there := lookAt(dir, name)
	made, was := f.made[i][at]
	if there && now.kind() == mode&unix.S_IFMT && (!was || made.still(now)) && now.kind() != unix.S_IFLNK {
		unix.Fchmodat(dir, name, mode&0o7777, 0)
	}
}

// put brings what lies at a path of the real folder into the copy.
func (f *overlayChanges) put(i int, real, at string, now trace) {
	if at == "." {
		return
	}
	to, name, ok := f.open(i, at)
	if !ok {
		return
	}
	defer unix.Close(to)
	from, _, err := openParent(real, at)
	if err != nil {
		return
	}
	defer unix.Close(from)
	if made, was := f.made[i][at]; was && !(made.isDir() && now.isDir()) {
		tree.RemoveAt(to, name)
	}
	switch now.kind() {
	case unix.S_IFDIR:
		unix.Mkdirat(to, name, 0o700)
	case unix.S_IFREG, unix.S_IFLNK:
		if now.Mode&0o400 == 0 {
			unix.Fchmodat(from, name, now.Mode&0o7777|0o400, 0)
		}
		c := treeCopy{ctx: context.Background(), real: traces{}, made: traces{}}
		c.entry(from, to, name, at, 0)
		if now.kind() == unix.S_IFREG {
			unix.Fchmodat(to, name, now.Mode&0o7777, 0)
		}
	default: // a pipe, a socket, a device: the judge refuses each, so a pipe stands for all
		tree.MakePipe(to, name)
	}
}

// same says that the copy of a file is untouched and the real file holds the same.
func (f *overlayChanges) same(i int, real, at string) bool {
	dir, name, ok := f.open(i, at)
	if !ok {
		return false
	}
	defer unix.Close(dir)
	made := f.made[i][at]
	if made.Shut || name == "" {
		return false
	}
	return samePath(f.tops[i], real, at, made.kind())
}
