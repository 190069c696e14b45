//go:build linux || darwin

package box

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/paxiom/relay/judge"
)

const (
	// smallFile is what is read in one go, in bytes.
	smallFile = 64 << 10
	// maxContent is the largest file whose lines are counted.
	maxContent = 8 << 20
	// maxCompare is the largest file that is compared; larger ones count as changed.
	maxCompare = 1 << 30
	// maxLines is the highest limit that a policy can have. Once a change is over
	// it, its other files need not be read.
	maxLines = 20_000
	// maxIgnored is how much content of ignored files is read: they are rarely
	// kept, and there may be tens of thousands.
	maxIgnored = 16 << 20
)

// contents are both sides of a change; OK says that they could be read.
type contents struct {
	old, now     []byte
	oldOK, nowOK bool
}

// read reads both sides of a change, as far as it has them.
func (r *reader) read(c *judge.Change) contents {
	s, path := contents{oldOK: true, nowOK: true}, strings.TrimPrefix(c.Path, r.prefix)
	if c.Kind != judge.Added {
		s.old, s.oldOK = content(r.low, path, c.OldMode, c.Base.Size)
	}
	if c.Kind != judge.Deleted {
		s.now, s.nowOK = content(r.up, path, c.NewMode, c.Size)
	}
	return s
}

// look opens a file of the layer once for all that is asked of it on the way: whether it
// has capabilities, and what it holds if it is small (else nil).
func (r *reader) look(p *place) (now []byte, capable bool) {
	fd, err := openAt(p.up, p.name)
	if err != nil {
		return nil, hasCapability(p.up, p.name)
	}
	defer unix.Close(fd)
	if max(p.upSt.Size, p.st.Size) <= smallFile {
		now = readSmall(fd, p.upSt.Size)
	}
	return now, isCapable(fd)
}

// counted says that a change has lines to count.
func counted(c *judge.Change) bool { return c.Kind != judge.Special && c.Kind != judge.ModeOnly }

// largeOf are the paths of those changes of which a commit has git-lfs's pointer.
func largeOf(ctx context.Context, git *judge.Git, changes []judge.Change) (map[string]bool, error) {
	if git == nil {
		return nil, nil
	}
	var paths []string
	for _, c := range changes {
		if counted(&c) && !c.Ignored {
			paths = append(paths, c.Path)
		}
	}
	return git.Large(ctx, paths)
}

// countLines fills in the size of each change in lines; of what is large, that of the change
// to its pointer.
func (r *reader) countLines(changes []judge.Change, large map[string]bool) {
	left, ignoredLeft := maxLines, int64(maxIgnored)
	for i := range changes {
		c := &changes[i]
		if !counted(c) || r.ctx.Err() != nil {
			continue
		}
		if c.Ignored {
			if ignoredLeft -= max(c.Size, c.Base.Size); ignoredLeft < 0 {
				c.Lines.TooLarge = true
				continue
			}
		} else if left < 0 {
			c.Lines.TooLarge = true
			continue
		}
		side := r.read(c)
		if large[c.Path] {
			c.Lines, c.Parts = judge.CountPointer(c.Kind), parts(c, side)
			left -= int(c.Lines.Charge)
			continue
		}
		if !side.oldOK || !side.nowOK {
			c.Lines.TooLarge = true
			continue
		}
		limit := left
		if c.Ignored {
			limit = maxLines
		}
		c.Lines = judge.CountLines(side.old, side.now, limit)
		c.Parts = parts(c, side)
		if !c.Ignored {
			left -= int(c.Lines.Charge)
		}
	}
}

// parts looks for the parts of a file that tools run or obey. The target of a link says
// nothing about them.
func parts(c *judge.Change, side contents) []string {
	if c.OldMode&fs.ModeSymlink != 0 || c.NewMode&fs.ModeSymlink != 0 {
		return nil
	}
	if c.Kind != judge.Added && side.old == nil {
		side.old = []byte{}
	}
	if c.Kind != judge.Deleted && side.now == nil {
		side.now = []byte{}
	}
	return judge.ChangedParts(c.Path, side.old, side.now)
}

// content reads a file, or the target of a link; false when it is too large or
// can't be read.
func content(root int, path string, mode fs.FileMode, size int64) ([]byte, bool) {
	switch {
	case mode&fs.ModeSymlink != 0:
		target, err := readLink(root, path)
		return []byte(target), err == nil
	case !mode.IsRegular():
		return nil, true // a pipe, a device: it has none
	case size > maxContent:
		return nil, false
	}
	out, err := readBeneath(root, path, size)
	return out, err == nil && len(out) <= maxContent
}

// readBeneath reads a regular file below a folder, up to one byte more than is counted.
// There may be many of them, so it makes no more calls of the kernel than it must: none
// to look at a file that was just seen to be a regular one, and still is of that size.
func readBeneath(dir int, path string, seen int64) ([]byte, error) {
	fd, err := openAt(dir, path)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	if seen <= smallFile {
		if out := readSmall(fd, seen); out != nil {
			return out, nil
		}
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || !is(&st, unix.S_IFREG) {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrInvalid}
	}
	buf := make([]byte, min(st.Size, maxContent)+1)
	n := 0
	for n < len(buf) {
		k, err := unix.Read(fd, buf[n:])
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, &fs.PathError{Op: "read", Path: path, Err: err}
		}
		if k == 0 {
			break
		}
		n += k
	}
	return buf[:n], nil
}

// readSmall reads a file that was just seen to have that size; nil when it has not, or is
// nothing of the kind: a pipe can't be read at a place.
func readSmall(fd int, size int64) []byte {
	buf := make([]byte, size+1)
	if n, err := unix.Pread(fd, buf, 0); err != nil || int64(n) != size {
		return nil
	}
	return buf[:size]
}

// sameContent compares two regular files of the same size; now is what the upper one
// holds, if that was read already.
func sameContent(p *place, now []byte) bool {
	if p.upSt.Size > maxCompare {
		return false
	}
	if p.upSt.Size <= smallFile {
		var err error
		if now == nil {
			now, err = readBeneath(p.up, p.name, p.upSt.Size)
		}
		if err != nil {
			return false
		}
		old, err := readBeneath(p.low, p.name, p.st.Size)
		return err == nil && bytes.Equal(now, old)
	}
	var files [2]*bufio.Reader
	for i, dir := range []int{p.up, p.low} {
		f, err := openBeneath(dir, p.name)
		if err != nil {
			return false
		}
		defer f.Close()
		files[i] = bufio.NewReaderSize(f, 1<<17)
	}
	for {
		a, errA := files[0].Peek(1 << 16)
		b, errB := files[1].Peek(1 << 16)
		if !bytes.Equal(a, b) {
			return false
		}
		if errA != nil || errB != nil {
			return errA == io.EOF && errB == io.EOF
		}
		files[0].Discard(len(a))
		files[1].Discard(len(b))
	}
}

// openBeneath opens a regular file below a folder for reading. No component may be
// a link, and nothing that would block or have an effect is opened.
func openBeneath(dir int, path string) (*os.File, error) {
	fd, err := openAt(dir, path)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), path)
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrInvalid}
	}
	return f, nil
}

func readLink(dir int, path string) (string, error) {
	buf := make([]byte, 4096)
	n, err := unix.Readlinkat(dir, path, buf)
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

// fileMode turns the kernel's mode into Go's.
func fileMode(mode uint32) fs.FileMode {
	out := fs.FileMode(mode & 0o777)
	switch mode & unix.S_IFMT {
	case unix.S_IFDIR:
		out |= fs.ModeDir
	case unix.S_IFLNK:
		out |= fs.ModeSymlink
	case unix.S_IFIFO:
		out |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		out |= fs.ModeSocket
	case unix.S_IFCHR:
		out |= fs.ModeDevice | fs.ModeCharDevice
	case unix.S_IFBLK:
		out |= fs.ModeDevice
	}
	if mode&unix.S_ISUID != 0 {
		out |= fs.ModeSetuid
	}
	if mode&unix.S_ISGID != 0 {
		out |= fs.ModeSetgid
	}
	if mode&unix.S_ISVTX != 0 {
		out |= fs.ModeSticky
	}
	return out
}

// stamp is the state of a real file, as the apply step will compare it.
func stamp(st *unix.Stat_t) judge.Stamp {
	return judge.Stamp{Exists: true, Mode: fileMode(uint32(st.Mode)), Size: st.Size, Ino: st.Ino, MTime: st.Mtim.Nano(), CTime: st.Ctim.Nano()}
}
