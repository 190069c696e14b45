package patch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/paxiom/relay/judge"
)

// most bounds a patch in bytes.
const most = 32 << 20

// Left calls see for each path that a builder left; see the method of change.Change.
type Left func(see func(ch judge.Change, old, made func() (io.ReadCloser, error))) error

// Bytes gives what Write writes.
func Bytes(left Left) ([]byte, error) {
	var out bytes.Buffer
	_, err := Write(&out, left)
	return out.Bytes(), err
}

// Write writes what a builder left, at most 32 MiB of it; what git can't express, or was
// left out, is named in comment lines. It holds one file at a time in memory, and says how
// much it has written.
func Write(w io.Writer, left Left) (int64, error) {
	out := &counted{w: w}
	var hold [2]bytes.Buffer // one place for all paths, since each of them may have 8 MiB
	err := left(func(ch judge.Change, old, made func() (io.ReadCloser, error)) {
		if old == nil {
			fmt.Fprintln(out, "# a changed file is not in this patch: it holds a value of a credential")
		} else if err := out.path(ch, old, made, &hold); err != nil {
			fmt.Fprintf(out, "# %q is not in this patch: %v\n", ch.Path, err)
		}
	})
	return out.n, errors.Join(err, out.err)
}

var errFull = errors.New("it has become too large")

// path writes the patch of one path, or nothing of it and why.
func (c *counted) path(ch judge.Change, old, made func() (io.ReadCloser, error), hold *[2]bytes.Buffer) error {
	before := c.n
	if ch.Kind != judge.Special {
		was, err := read(&hold[0], old, ch.OldMode, ch.Base.Size)
		if err != nil {
			return err
		}
		var is Side
		if ch.Kind != judge.Deleted {
			if is, err = read(&hold[1], made, ch.NewMode, ch.Size); err != nil {
				return err
			}
		}
		// No hunk has more than both texts and its head: only near the end it is worth being measured.
		if c.n+2*int64(len(was.Content)+len(is.Content))+1<<20 > most {
			size := &counted{w: io.Discard}
			if writeDiff(size, ch.Path, was, is); c.n+size.n > most {
				return errFull
			}
		}
		writeDiff(c, ch.Path, was, is) // c keeps the error
	}
	if c.n == before {
		fmt.Fprintf(c, "# %q changed in a way that a patch can't express\n", ch.Path)
	}
	return nil
}

// read reads a side of this size, unless it is larger than anything is read.
func read(hold *bytes.Buffer, open func() (io.ReadCloser, error), mode fs.FileMode, size int64) (Side, error) {
	if mode == 0 {
		return Side{}, nil
	}
	r, err := open()
	if err != nil {
		return Side{}, err
	}
	defer r.Close()
	if size > judge.MaxFileSize {
		return Side{Mode: mode, Unread: true}, nil
	}
	hold.Reset()
	hold.Grow(int(size) + bytes.MinRead) // all of it at once: it need not grow on the way
	_, err = hold.ReadFrom(io.LimitReader(r, judge.MaxFileSize+1))
	return Side{Mode: mode, Content: hold.Bytes()}, err
}

// counted counts what is written; after an error nothing is.
type counted struct {
	w   io.Writer
	n   int64
	err error
}

func (c *counted) Write(p []byte) (int, error) {
	if c.err == nil {
		_, c.err = c.w.Write(p)
		c.n += int64(len(p))
	}
	return len(p), c.err
}
