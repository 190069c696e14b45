//go:build linux || darwin

package copies

import (
	"context"
	"io"
	"os"
	"path"
	"time"

	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/judge/box/internal/tree"
	"golang.org/x/sys/unix"
)

// treeCopy makes the copy of a tree: files with their modes and times, links and
// folders. Named pipes, sockets and devices are left out. Blocks are shared where the
// file system can; a hard link never is, since a write to it in place would write
// the real file.
type treeCopy struct {
	ctx context.Context
	// skip names what is left out, by its path relative to the top.
	skip func(path string) bool
	// real and made are what the original and the copy look like.
	real, made traces
}

// copyTree copies the folder from to the folder to, which it makes.
func copyTree(ctx context.Context, from, to string, skip func(string) bool) (*treeCopy, error) {
	c := &treeCopy{ctx: ctx, skip: skip, real: traces{}, made: traces{}}
	source, err := tree.OpenFolder(unix.AT_FDCWD, from)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: from, Err: err}
	}
	defer unix.Close(source)
	if err := os.MkdirAll(to, 0o700); err != nil {
		return nil, err
	}
	target, err := tree.OpenFolder(unix.AT_FDCWD, to)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: to, Err: err}
	}
	defer unix.Close(target)
	var st unix.Stat_t
	if err := unix.Fstat(source, &st); err != nil {
		return nil, err
	}
	if err := c.folder(source, target, ".", 0); err != nil {
		return nil, err
	}
	c.real["."] = traceOf(&st)
	if err := unix.Fchmod(target, uint32(st.Mode)&0o7777); err != nil {
		return nil, err
	}
	if err := unix.Fstat(target, &st); err != nil {
		return nil, err
	}
	c.made["."] = traceOf(&st)
	return c, nil
}

// settleClock waits until a change has another time than what was just made.
func settleClock() { time.Sleep(clockGrain) }

// clockGrain is more than the coarsest clock that file systems take times from.
const clockGrain = 20 * time.Millisecond

func (c *treeCopy) folder(from, to int, rel string, depth int) error {
	names, err := tree.Names(from)
	if err != nil {
		return err
	}
	for _, name := range names {
		at := path.Join(rel, name)
		if c.skip(at) {
			continue
		}
		if err := c.ctx.Err(); err != nil {
			return err
		}
		if err := c.entry(from, to, name, at, depth); err != nil {
			return &os.PathError{Op: "copy", Path: at, Err: err}
		}
	}
	return nil
}

func (c *treeCopy) entry(from, to int, name, at string, depth int) error {
	was, ok := lookAt(from, name)
	if !ok {
		return nil // gone meanwhile
	}
	var err error
	switch was.kind() {
	case unix.S_IFDIR:
		was.Shut, err = c.subfolder(from, to, name, at, was, depth)
	case unix.S_IFREG:
		was, err = copyFile(from, to, name)
	case unix.S_IFLNK:
		var target string
		if target, err = tree.ReadLink(from, name); err == nil {
			err = unix.Symlinkat(target, to, name)
		}
	default:
		c.real[at] = was
		return nil
	}
	if err == unix.ENOENT {
		return nil
	} else if err != nil {
		return err
	}
	if !was.isDir() {
		setTimes(to, name, was.MTime)
	}
	made, _ := lookAt(to, name)
	made.Shut = was.Shut
	c.real[at], c.made[at] = was, made
	return nil
}

func (c *treeCopy) subfolder(from, to int, name, at string, was trace, depth int) (shut bool, err error) {
	if depth >= box.MaxDepth {
		return false, unix.ELOOP
	}
	if err := unix.Mkdirat(to, name, 0o700); err != nil {
		return false, err
	}
	target, err := tree.OpenFolder(to, name)
	if err != nil {
		return false, err
	}
	defer unix.Close(target)
	source, err := tree.OpenFolder(from, name)
	if err == nil {
		defer unix.Close(source)
		err = c.folder(source, target, at, depth+1)
	} else if err == unix.EACCES || err == unix.EPERM {
		shut, err = true, nil
	}
	if err != nil {
		return false, err
	}
	return shut, unix.Fchmod(target, was.Mode&0o7777)
}

// copyFile copies a regular file to a new one of the same name and mode. What can't be
// read is shut, and an empty file stands for it.
func copyFile(from, to int, name string) (was trace, err error) {
	was, _ = lookAt(from, name)
	in, err := unix.Openat(from, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err == unix.EACCES || err == unix.EPERM {
		was.Shut = true
	} else if err != nil {
		return was, err
	}
	out, err := unix.Openat(to, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err == nil {
		target := os.NewFile(uintptr(out), name)
		defer target.Close()
		if !was.Shut {
			source := os.NewFile(uintptr(in), name)
			defer source.Close()
			err = copyContent(target, source)
			var st unix.Stat_t
			if err == nil {
				if err = unix.Fstat(in, &st); err == nil {
					was = traceOf(&st)
				}
			}
		}
		if err == nil {
			err = unix.Fchmod(out, was.Mode&0o7777)
		}
	} else if !was.Shut {
		unix.Close(in)
	}
	return was, err
}

// copyContent copies a file's bytes; holes stay holes.
func copyContent(out, in *os.File) error {
	if tree.Clone(out, in) == nil {
		return nil
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(in.Fd()), &st); err != nil {
		return err
	}
	if st.Blocks*512 >= st.Size {
		_, err := io.Copy(out, in)
		return err
	}
	for at := int64(0); at < st.Size; {
		data, err := in.Seek(at, tree.SeekData)
		if err != nil {
			break // nothing but a hole is left
		}
		if at, err = in.Seek(data, tree.SeekHole); err != nil {
			return err
		}
		if _, err := in.Seek(data, io.SeekStart); err != nil {
			return err
		}
		if _, err := out.Seek(data, io.SeekStart); err != nil {
			return err
		}
		if _, err := io.CopyN(out, in, at-data); err != nil && err != io.EOF {
			return err
		}
	}
	return out.Truncate(st.Size)
}

// setTimes gives a file the time of its original, so that build tools find it no newer
// than what was made of it.
func setTimes(dir int, name string, mtime int64) {
	at := unix.NsecToTimespec(mtime)
	unix.UtimesNanoAt(dir, name, []unix.Timespec{at, at}, unix.AT_SYMLINK_NOFOLLOW)
}
