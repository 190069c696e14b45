//go:build linux || darwin

package box

import (
	"context"
	"io/fs"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box/internal/tree"
	"github.com/paxiom/relay/judge/git"
)

const (
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
	fd, err := tree.OpenAt(p.up, p.name)
	if err != nil {
		return nil, hasCapability(p.up, p.name)
	}
	defer unix.Close(fd)
	if max(p.upSt.Size, p.st.Size) <= tree.SmallFile {
		now = tree.ReadSmall(fd, p.upSt.Size)
	}
	return now, isCapable(fd)
}

// counted says that a change has lines to count.
func counted(c *judge.Change) bool { return c.Kind != judge.Special && c.Kind != judge.ModeOnly }

// largeOf are the paths of those changes of which a commit has git-lfs's pointer.
func largeOf(ctx context.Context, git *git.Repo, changes []judge.Change) (map[string]bool, error) {
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
		target, err := tree.ReadLink(root, path)
		return []byte(target), err == nil
	case !mode.IsRegular():
		return nil, true // a pipe, a device: it has none
	case size > tree.MaxContent:
		return nil, false
	}
	out, err := tree.ReadBeneath(root, path, size)
	return out, err == nil && len(out) <= tree.MaxContent
}

// stamp is the state of a real file, as the apply step will compare it.
func stamp(st *unix.Stat_t) judge.Stamp {
	return judge.Stamp{Exists: true, Mode: tree.FileMode(uint32(st.Mode)), Size: st.Size, Ino: st.Ino, MTime: st.Mtim.Nano(), CTime: st.Ctim.Nano()}
}
