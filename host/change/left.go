package change

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/paxiom/relay/judge"
)

// Left calls see for each path that the builder left, scratch aside, with what opens both
// sides of it: that of the base, if the file there still is what was compared, and the
// builder's. They are nil where the builder's holds a value of a credential: nobody is
// shown that.
func (c *Change) Left(see func(ch judge.Change, old, made func() (io.ReadCloser, error))) error {
	if c.touched == nil {
		return nil
	}
	real, err := openReal(c.Root())
	if err != nil {
		return err
	}
	defer real.Close()
	for _, ch := range c.touched.Changes {
		switch {
		case ch.Ignored && !slices.ContainsFunc(c.verdict.Kept, func(k judge.Change) bool { return k.Path == ch.Path }):
		case c.moves.at(ch.Path) != nil: // as git writes it
			m := c.moves.at(ch.Path)
			ch.OldMode, ch.NewMode = 0o644, 0o644
			see(ch, saying("Subproject commit "+m.From+"\n"), saying("Subproject commit "+m.To+"\n"))
		case c.withheld(ch):
			see(ch, nil, nil)
		default:
			see(ch, func() (io.ReadCloser, error) { return openOld(real, ch) }, func() (io.ReadCloser, error) { return c.content(ch) })
		}
	}
	return nil
}

// saying opens a text.
func saying(text string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
}

func openOld(real *realTree, ch judge.Change) (io.ReadCloser, error) {
	if now, err := real.stampAt(ch.Path); err != nil || !now.Same(ch.Base) {
		return nil, errors.New("the file was changed meanwhile")
	}
	if ch.OldMode&fs.ModeSymlink != 0 {
		to, err := real.Readlink(ch.Path)
		return io.NopCloser(strings.NewReader(to)), err
	}
	return real.Open(ch.Path)
}
