//go:build linux || darwin

package tree

import (
	"bufio"
	"bytes"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

const (
	// SmallFile is what is read in one go, in bytes.
	SmallFile = 64 << 10
	// MaxContent is the largest file whose lines are counted.
	MaxContent = 8 << 20
	// MaxCompare is the largest file that is compared; larger ones count as changed.
	MaxCompare = 1 << 30
)

// ReadBeneath reads a regular file below a folder, up to one byte more than is counted.
// There may be many of them, so it makes no more calls of the kernel than it must: none
// to look at a file that was just seen to be a regular one, and still is of that size.
func ReadBeneath(dir int, path string, seen int64) ([]byte, error) {
	fd, err := OpenAt(dir, path)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	if seen <= SmallFile {
		if out := ReadSmall(fd, seen); out != nil {
			return out, nil
		}
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || !Is(&st, unix.S_IFREG) {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrInvalid}
	}
	buf := make([]byte, min(st.Size, MaxContent)+1)
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

// ReadSmall reads a file that was just seen to have that size; nil when it has not, or is
// nothing of the kind: a pipe can't be read at a place.
func ReadSmall(fd int, size int64) []byte {
	buf := make([]byte, size+1)
	if n, err := unix.Pread(fd, buf, 0); err != nil || int64(n) != size {
		return nil
	}
	return buf[:size]
}

// Same reports whether two folders hold the same under one name, where both have a regular
// file of this size. now is what a holds, if that was read already.
func Same(a, b int, name string, size int64, now []byte) bool {
	if size > MaxCompare {
		return false
	}
	if size <= SmallFile {
		var err error
		if now == nil {
			now, err = ReadBeneath(a, name, size)
		}
		if err != nil {
			return false
		}
		old, err := ReadBeneath(b, name, size)
		return err == nil && bytes.Equal(now, old)
	}
	var files [2]*bufio.Reader
	for i, dir := range []int{a, b} {
		f, err := OpenBeneath(dir, name)
		if err != nil {
			return false
		}
		defer f.Close()
		files[i] = bufio.NewReaderSize(f, 1<<17)
	}
	for {
		one, errOne := files[0].Peek(1 << 16)
		other, errOther := files[1].Peek(1 << 16)
		if !bytes.Equal(one, other) {
			return false
		}
		if errOne != nil || errOther != nil {
			return errOne == io.EOF && errOther == io.EOF
		}
		files[0].Discard(len(one))
		files[1].Discard(len(other))
	}
}

// OpenBeneath opens a regular file below a folder for reading. No component may be
// a link, and nothing that would block or have an effect is opened.
func OpenBeneath(dir int, path string) (*os.File, error) {
	fd, err := OpenAt(dir, path)
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

// ReadLink gives the target of a link below a folder.
func ReadLink(dir int, path string) (string, error) {
	buf := make([]byte, 4096)
	n, err := unix.Readlinkat(dir, path, buf)
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

// FileMode turns the kernel's mode into Go's.
func FileMode(mode uint32) fs.FileMode {
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
