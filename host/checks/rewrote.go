package checks

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
)

// maxWrote is how many test files that a check wrote are looked at, maxGolden how much of one.
const (
	maxWrote  = 5_000
	maxGolden = 16 << 20
)

// rewrote lists the test files, and what they compare with, that were there before the
// check and that it has changed. Where the box is no overlay nobody can tell.
func (x *boxExec) rewrote(ctx context.Context, b *box.Box) (names []string) {
	written := b.Wrote(x.c.of.Policy().OfTests, maxWrote)
	switch len(written) {
	case 0:
		return nil
	case maxWrote:
		return []string{"more test files than relay looks at"}
	}
	out, err := x.c.of.Git().Run(ctx, nil, "ls-tree", "-r", "--name-only", "-z", x.c.of.Base())
	if err != nil {
		return []string{"files of which git can't say whether they were there"}
	}
	base := map[string]bool{}
	for name := range strings.SplitSeq(string(out), "\x00") {
		base[name] = true
	}
	for _, name := range written {
		was := func() (*os.File, error) { return os.Open(filepath.Join(x.c.of.Root(), filepath.FromSlash(name))) }
		switch i := slices.IndexFunc(x.kept, func(c judge.Change) bool { return c.Path == name }); {
		case i >= 0 && x.kept[i].Kind != judge.Deleted:
			was = func() (*os.File, error) { return x.c.of.Box().Open(name) }
		case i >= 0 || !base[name]:
			continue // it was not there
		}
		old, err := content(was)
		now, err2 := content(func() (*os.File, error) { return b.Open(name) })
		// A runner may add snapshots to those that it has.
		if err != nil || err2 != nil || bytes.Equal(old, now) || strings.HasSuffix(name, ".snap") && holds(now, old) {
			continue
		}
		names = append(names, name)
	}
	return names
}

func content(open func() (*os.File, error)) ([]byte, error) {
	f, err := open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return nil, errors.Join(err, fs.ErrInvalid)
	}
	return io.ReadAll(io.LimitReader(f, maxGolden))
}

// holds reports whether all lines of old are still there, in their order.
func holds(now, old []byte) bool {
	left := bytes.Split(old, []byte("\n"))
	for line := range bytes.SplitSeq(now, []byte("\n")) {
		if len(left) > 0 && bytes.Equal(line, left[0]) {
			left = left[1:]
		}
	}
	return len(left) == 0
}
