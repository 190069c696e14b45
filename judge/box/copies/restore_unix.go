//go:build linux || darwin

package copies

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/paxiom/relay/judge/box/internal/tree"
	"golang.org/x/sys/unix"
)

// restore undoes what was changed in the real folders since the snapshot last was right,
// and says what it was, one line each. Where into is not nil, what was changed is done
// there first, as if the builder had worked in its copy: so it is judged, and nothing
// of it is lost.
func (v *snapshot) restore(ctx context.Context, into *overlayChanges) (found []string, err error) {
	found = v.open()
	for i := range v.Of {
		now, shut, lookErr := v.look(ctx, i, true)
		if lookErr != nil {
			err = errors.Join(err, lookErr)
			continue
		}
		r := restorer{v: v, i: i, now: now, shut: shut, into: into, locked: map[string]uint32{}}
		if into != nil && i >= len(into.tops) {
			r.into, r.far = nil, true
		}
		r.compare()
		r.fold()
		r.keepAside()
		r.remove()
		r.restore()
		r.lock()
		found, err = append(found, r.found...), errors.Join(err, r.err)
		if r.far {
			v.Elsewhere = append(v.Elsewhere, r.found...)
		}
		if r.aside > 0 {
			found = append(found, "what was there is kept in "+v.Aside)
		}
	}
	return append(found, v.open()...), err // what lies in them
}

// restorer puts one real folder back.
type restorer struct {
	v    *snapshot
	i    int
	now  traces
	shut map[string]uint32 // folders that the look made readable, and their modes before
	into *overlayChanges
	far  bool // a builder ran, and the box has no copy of it

	lost  []string // were there, and are not what they were; sorted
	added []string // were not there; sorted
	modes []string // have another mode; sorted
	found []string
	// locked are folders that were made writable, and the modes that they get in the end.
	locked map[string]uint32
	aside  int // how many files were kept aside
	err    error
}

func (r *restorer) tell(what, at string) {
	full := at
	if r.i > 0 {
		full = filepath.Join(r.v.Of[r.i], at)
	}
	r.found = append(r.found, what+" "+full)
}

func (r *restorer) fail(at string, err error) {
	if err != nil {
		r.err = errors.Join(r.err, &os.PathError{Op: "put back", Path: filepath.Join(r.v.Of[r.i], at), Err: err})
	}
}

// compare finds what was changed. Times alone are put right without a word.
func (r *restorer) compare() {
	for _, at := range slices.Sorted(maps.Keys(r.v.Real[r.i])) {
		was := r.v.Real[r.i][at]
		now, ok := r.now[at]
		now.Mode = r.mode(at)
		if r.v.skips(r.i, at) || was.isSpecial() || ok && was.still(now) {
			continue
		}
		switch {
		case ok && was.kind() == now.kind() && (was.isDir() || r.sameContent(at, was, now)):
			if r.v.Dir != "" && !was.isDir() && now.Nlink > was.Nlink { // another name leads to it now
				r.lost = append(r.lost, at)
				r.tell("linked to", at)
				continue
			}
			r.attributes(at, was, now)
		case r.v.Dir == "": // what can't have been the builder is the operator's work
		case !ok:
			r.lost = append(r.lost, at)
			r.tell("removed", at)
		default:
			r.lost = append(r.lost, at)
			r.tell("changed", at)
		}
	}
	if r.v.Dir == "" {
		return
	}
	for _, at := range slices.Sorted(maps.Keys(r.now)) {
		if _, ok := r.v.Real[r.i][at]; !ok && !newObject(at) {
			r.added = append(r.added, at)
			r.tell("added", at)
		}
	}
}

// mode is the mode that something has now, or had before it was made readable.
func (r *restorer) mode(at string) uint32 {
	if mode, was := r.shut[at]; was {
		return mode
	}
	return r.now[at].Mode
}

// sameContent says that a file or link still holds what it held.
func (r *restorer) sameContent(at string, was, now trace) bool {
	if was.Size != now.Size {
		return false
	}
	if r.v.Dir == "" { // nobody could write it: only another file can be there
		return was.Ino == now.Ino && (was.MTime == now.MTime || r.far || r.into != nil && r.into.same(r.i, r.v.Of[r.i], at))
	}
	return !was.Shut && samePath(r.v.place(r.i), r.v.Of[r.i], at, was.kind())
}

// attributes puts back the mode and the time of what else is as it was.
func (r *restorer) attributes(at string, was, now trace) {
	dir, name, err := r.open(at)
	if err != nil {
		r.fail(at, err)
		return
	}
	defer unix.Close(dir)
	if was.Mode != now.Mode && was.kind() != unix.S_IFLNK {
		r.tell("changed the mode of", at)
		r.modes = append(r.modes, at)
		r.fail(at, unix.Fchmodat(dir, name, was.Mode&0o7777, 0))
	}
	if !was.isDir() && was.MTime != now.MTime && (!r.far || r.v.Dir != "") { // or it may be the operator's, who wrote as many bytes
		setTimes(dir, name, was.MTime)
	}
	r.remember(dir, name, at)
}

// open opens the folder of a path; the top is a name in the folder above it.
func (r *restorer) open(at string) (dir int, name string, err error) {
	if at == "." {
		top := r.v.Of[r.i]
		dir, err = tree.OpenFolder(unix.AT_FDCWD, filepath.Dir(top))
		return dir, filepath.Base(top), err
	}
	return openParent(r.v.Of[r.i], at)
}

// openToWrite is open, and makes the folder writable for the time of the restoring.
func (r *restorer) openToWrite(at string) (dir int, name string, err error) {
	if dir, name, err = r.open(at); err != nil || at == "." {
		return dir, name, err
	}
	var st unix.Stat_t
	if unix.Fstat(dir, &st) == nil && st.Mode&0o700 != 0o700 {
		above := filepath.Dir(at)
		r.locked[above] = r.v.Real[r.i][above].Mode
		unix.Fchmod(dir, uint32(st.Mode)&0o7777|0o700)
	}
	return dir, name, nil
}

// lock gives folders the modes that they are to have, the deepest first.
func (r *restorer) lock() {
	for _, at := range slices.Backward(slices.Sorted(maps.Keys(r.locked))) {
		if _, ok := r.v.Real[r.i][at]; !ok {
			continue // it was not there, and is not any more
		}
		dir, name, err := r.open(at)
		if err == nil {
			err = unix.Fchmodat(dir, name, r.locked[at]&0o7777, 0)
			r.remember(dir, name, at)
			unix.Close(dir)
		}
		r.fail(at, err)
	}
}

// remember takes what is there now for right.
func (r *restorer) remember(dir int, name, at string) {
	if now, ok := lookAt(dir, name); ok {
		now.Shut = r.v.Real[r.i][at].Shut
		r.v.Real[r.i][at] = now
		if _, ok := r.v.Base[r.i][at]; ok {
			r.v.Base[r.i][at] = now
		}
	}
}

// overlayChanges does in the copy what was done in the real folder.
func (r *restorer) fold() {
	if r.into == nil {
		return
	}
	for _, at := range slices.Backward(r.lost) {
		if _, ok := r.now[at]; !ok {
			r.into.remove(r.i, at)
		}
	}
	present := append(slices.Clone(r.added), r.lost...)
	slices.Sort(present)
	for _, at := range present {
		if now, ok := r.now[at]; ok {
			now.Mode = r.mode(at)
			r.into.put(r.i, r.v.Of[r.i], at, now)
		}
	}
	r.into.lock()
	present = append(present, r.modes...)
	slices.Sort(present)
	for _, at := range slices.Backward(present) { // modes last: those of folders may forbid writing
		if now, ok := r.now[at]; ok && (now.isDir() || slices.Contains(r.modes, at)) {
			r.into.chmod(r.i, at, r.mode(at))
		}
	}
}

// newObject says that a path that was not there is an object of git's, or a folder for
// them: without a reference it means nothing, and with one it is somebody's commit.
func newObject(at string) bool {
	at = strings.TrimPrefix(at, ".git/")
	return strings.HasPrefix(at, "objects/") && !strings.HasPrefix(at, "objects/info")
}

// keepAside copies the files and links that are going to be taken away.
func (r *restorer) keepAside() {
	for _, at := range append(slices.Clone(r.added), r.lost...) {
		now, ok := r.now[at]
		if !ok || now.isDir() || now.isSpecial() {
			continue
		}
		from, name, err := openParent(r.v.Of[r.i], at)
		if err != nil {
			continue
		}
		place := filepath.Join(r.v.Aside, filepath.Dir(filepath.Join(r.v.Of[r.i], at)))
		if os.MkdirAll(place, 0o700) == nil {
			if to, err := tree.OpenFolder(unix.AT_FDCWD, place); err == nil {
				unix.Unlinkat(to, name, 0)
				c := treeCopy{ctx: context.Background(), real: traces{}, made: traces{}}
				if c.entry(from, to, name, at, 0) == nil {
					r.aside++
				}
				unix.Close(to)
			}
		}
		unix.Close(from)
	}
}

// remove takes away what was not there.
func (r *restorer) remove() {
	for _, at := range slices.Backward(r.added) {
		dir, name, err := r.openToWrite(at)
		if err == nil {
			err = tree.RemoveAll(dir, name)
			unix.Close(dir)
		}
		if err != unix.ENOENT {
			r.fail(at, err)
		}
	}
}

// restore puts what was lost back from the snapshot, folders before what is in them. A
// file is replaced, never written through: what else leads to it is not the user's.
func (r *restorer) restore() {
	temporary := ".relay-put-back-" + rand.Text()[:8] // or something could be in its place
	for _, at := range r.lost {
		was := r.v.Real[r.i][at]
		dir, name, err := r.openToWrite(at)
		if err != nil {
			r.fail(at, err)
			continue
		}
		if now, ok := lookAt(dir, name); ok && now.kind() != was.kind() {
			r.fail(at, tree.RemoveAll(dir, name))
		}
		switch kept := r.v.Kept[r.i][at]; {
		case was.isDir():
			if err = unix.Mkdirat(dir, name, 0o700); err == nil || err == unix.EEXIST {
				err, r.locked[at] = nil, was.Mode
			}
		case was.Shut:
			err = errors.New("it could not be read when the snapshot was made")
		default:
			if err = r.fetch(at, kept, dir, temporary); err == nil {
				setTimes(dir, temporary, was.MTime)
				err = unix.Renameat(dir, temporary, dir, name)
			}
			if err != nil {
				unix.Unlinkat(dir, temporary, 0)
			}
		}
		r.fail(at, err)
		r.remember(dir, name, at)
		unix.Close(dir)
	}
}

// fetch brings a file or link out of the snapshot under another name.
func (r *restorer) fetch(at string, kept trace, dir int, as string) error {
	from, name, err := openParent(r.v.place(r.i), at)
	if err != nil {
		return err
	}
	defer unix.Close(from)
	if now, ok := lookAt(from, name); !ok || !kept.still(now) {
		return errors.New("its copy in the snapshot was tampered with")
	}
	if kept.kind() == unix.S_IFLNK {
		target, err := tree.ReadLink(from, name)
		if err != nil {
			return err
		}
		return unix.Symlinkat(target, dir, as)
	}
	return copyAs(from, name, dir, as, kept.Mode)
}

// copyAs copies a regular file under another name.
func copyAs(from int, name string, to int, as string, mode uint32) error {
	in, err := unix.Openat(from, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	source := os.NewFile(uintptr(in), name)
	defer source.Close()
	out, err := unix.Openat(to, as, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	target := os.NewFile(uintptr(out), as)
	defer target.Close()
	if err := copyContent(target, source); err != nil {
		return err
	}
	return unix.Fchmod(out, mode&0o7777)
}

// samePath says that two trees hold the same file or link at one path.
func samePath(a, b, at string, kind uint32) bool {
	da, name, err := openParent(a, at)
	if err != nil {
		return false
	}
	defer unix.Close(da)
	db, _, err := openParent(b, at)
	if err != nil {
		return false
	}
	defer unix.Close(db)
	if kind == unix.S_IFLNK {
		ta, erra := tree.ReadLink(da, name)
		tb, errb := tree.ReadLink(db, name)
		return erra == nil && errb == nil && ta == tb
	}
	one, ok := lookAt(da, name)
	other, ok2 := lookAt(db, name)
	return ok && ok2 && one.Size == other.Size && tree.Same(da, db, name, one.Size, nil)
}
