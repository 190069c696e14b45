package change

import (
	"bytes"
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
	real, err := openReal(c.env.Git.Root)
	if err != nil {
		return 0, err
	}
	defer real.Close()
	out := &counted{w: w}
	for _, ch := range c.touched.Changes {
		if ch.Ignored && !c.kept(ch.Path) {
			continue
		}
		one, err := c.patchOf(real, ch)
		switch {
		case err != nil:
			fmt.Fprintf(out, "# %q is not in this patch: %v\n", ch.Path, err)
		case len(one) == 0:
			fmt.Fprintf(out, "# %q changed in a way that a patch can't express\n", ch.Path)
		case out.n+int64(len(one)) > maxPatch:
			fmt.Fprintf(out, "# %q is not in this patch: it has become too large\n", ch.Path)
		default:
			out.Write(one)
		}
	}
	return out.n, out.err
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

// patchOf is the patch of one path. Contents over judge.MaxFileSize are only marked.
func (c *Change) patchOf(real *realTree, ch judge.Change) ([]byte, error) {
	if ch.Kind == judge.Special {
		return nil, nil
	}
	old, err := oldContent(real, ch)
	if err != nil {
		return nil, err
	}
	var made []byte
	if ch.Kind != judge.Deleted {
		r, err := c.content(ch)
		if err != nil {
			return nil, err
		}
		made, err = io.ReadAll(io.LimitReader(r, judge.MaxFileSize+1))
		r.Close()
		if err != nil {
			return nil, err
		}
	}
	return judge.UnifiedDiff(ch.Path, old, made, ch.OldMode, ch.NewMode), nil
}

// oldContent is what the real file holds, if it still is what was compared.
func oldContent(real *realTree, ch judge.Change) ([]byte, error) {
	if ch.OldMode == 0 {
		return nil, nil
	}
	if now, err := real.stampAt(ch.Path); err != nil || !sameStamp(now, ch.Base) {
		return nil, fmt.Errorf("the file was changed meanwhile")
	}
	if ch.OldMode&fs.ModeSymlink != 0 {
		to, err := real.Readlink(ch.Path)
		return []byte(to), err
	}
	f, err := real.Open(ch.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, judge.MaxFileSize+1))
}

// kept says whether a path is among what would land.
func (c *Change) kept(path string) bool {
	for _, ch := range c.verdict.Kept {
		if ch.Path == path {
			return true
		}
	}
	return false
}
