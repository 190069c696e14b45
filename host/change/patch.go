package change

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/paxiom/relay/judge"
)

// maxPatch bounds the kept patch in bytes.
const maxPatch = 32 << 20

// Patch gives what WritePatch writes.
func (c *Change) Patch() ([]byte, error) {
	var out bytes.Buffer
	_, err := c.WritePatch(&out)
	return out.Bytes(), err
}

// WritePatch writes what the builder left as a patch that git apply takes, at most
// 32 MiB of it; what git can't express, or was left out, is named in comment lines. It
// holds one file at a time in memory, and says how much it has written.
func (c *Change) WritePatch(w io.Writer) (int64, error) {
	if c.touched == nil {
		return 0, nil
	}
	real, err := openReal(c.root())
	if err != nil {
		return 0, err
	}
	defer real.Close()
	out := &counted{w: w}
	var hold sides
	for _, ch := range c.touched.Changes {
		if ch.Ignored && !c.kept(ch.Path) {
			continue
		}
		if c.withheld(ch) {
			fmt.Fprintln(out, "# a changed file is not in this patch: it holds a value of a credential")
			continue
		}
		if err := c.patchOf(out, real, ch, &hold); err != nil {
			fmt.Fprintf(out, "# %q is not in this patch: %v\n", ch.Path, err)
		}
	}
	return out.n, out.err
}

var errFull = errors.New("it has become too large")

// sides is where both contents of a path are held while its patch is made: one place
// for all paths, since each of them may have 8 MiB.
type sides struct{ old, made bytes.Buffer }

// patchOf writes the patch of one path, or nothing of it and why.
func (c *Change) patchOf(out *counted, real *realTree, ch judge.Change, hold *sides) error {
	if ch.Kind == judge.Special {
		fmt.Fprintf(out, "# %q changed in a way that a patch can't express\n", ch.Path)
		return nil
	}
	old, err := oldSide(real, ch, &hold.old)
	if err != nil {
		return err
	}
	made, err := c.newSide(ch, &hold.made)
	if err != nil {
		return err
	}
	if out.n+judge.MaxDiff(ch.Path, old, made) > maxPatch { // only then it is worth being measured
		size := &counted{w: io.Discard}
		if judge.WriteDiff(size, ch.Path, old, made); out.n+size.n > maxPatch {
			return errFull
		}
	}
	before := out.n
	judge.WriteDiff(out, ch.Path, old, made) // out keeps the error
	if out.n == before {
		fmt.Fprintf(out, "# %q changed in a way that a patch can't express\n", ch.Path)
	}
	return nil
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

// newSide is what the builder left at a path.
func (c *Change) newSide(ch judge.Change, hold *bytes.Buffer) (judge.Side, error) {
	if ch.Kind == judge.Deleted {
		return judge.Side{}, nil
	}
	r, err := c.content(ch)
	if err != nil {
		return judge.Side{}, err
	}
	defer r.Close()
	return readSide(hold, r, ch.NewMode, ch.Size)
}

// oldSide is what the real file holds, if it still is what was compared.
func oldSide(real *realTree, ch judge.Change, hold *bytes.Buffer) (judge.Side, error) {
	if ch.OldMode == 0 {
		return judge.Side{}, nil
	}
	if now, err := real.stampAt(ch.Path); err != nil || !sameStamp(now, ch.Base) {
		return judge.Side{}, errors.New("the file was changed meanwhile")
	}
	if ch.OldMode&fs.ModeSymlink != 0 {
		to, err := real.Readlink(ch.Path)
		return judge.Side{Mode: ch.OldMode, Content: []byte(to)}, err
	}
	f, err := real.Open(ch.Path)
	if err != nil {
		return judge.Side{}, err
	}
	defer f.Close()
	return readSide(hold, f, ch.OldMode, ch.Base.Size)
}

// readSide reads a side of this size, unless it is larger than anything is read.
func readSide(hold *bytes.Buffer, r io.Reader, mode fs.FileMode, size int64) (judge.Side, error) {
	if size > judge.MaxFileSize {
		return judge.Side{Mode: mode, Unread: true}, nil
	}
	hold.Reset()
	hold.Grow(int(size) + bytes.MinRead) // all of it at once: it need not grow on the way
	_, err := hold.ReadFrom(io.LimitReader(r, judge.MaxFileSize+1))
	return judge.Side{Mode: mode, Content: hold.Bytes()}, err
}

// kept reports whether a path is among what would land.
func (c *Change) kept(path string) bool {
	for _, ch := range c.verdict.Kept {
		if ch.Path == path {
			return true
		}
	}
	return false
}
