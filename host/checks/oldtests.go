package checks

import (
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
)

// withOldTests is what is laid over the real tree when the tests are to be those of the
// base, and what they import. New tests stay where the base has none at all, for a runner
// that finds no tests may call that a failure, and where a command names them.
func (c *Checker) withOldTests(ctx context.Context, k Checks) ([]judge.Change, error) {
	var base []string
	if slices.ContainsFunc(c.of.Verdict().Kept, func(ch judge.Change) bool { return ch.Kind == judge.Added }) {
		out, err := c.of.Git().Run(ctx, nil, "ls-tree", "-r", "--name-only", "-z", c.of.Base())
		if err != nil {
			return nil, err
		}
		base = strings.Split(string(out), "\x00")
	}
	none := !slices.ContainsFunc(base, func(name string) bool { return c.of.Policy().OfTests(name) })
	kept := c.of.Verdict().WithoutTests(func(ch *judge.Change) bool {
		return ch.Kind == judge.Added && (none || c.commanded(k, base, ch.Path))
	})
	c.shadows = c.shadowing(base)
	return slices.DeleteFunc(kept, func(ch judge.Change) bool { return slices.Contains(c.shadows, ch.Path) }), nil
}

// withOldParts puts back the tests that lie in changed files of the code, and notes those
// files. It is nil where there are none.
func (c *Checker) withOldParts(ctx context.Context, k Checks) (func(*box.Box) error, error) {
	c.parts = nil
	var writes []func(Checks, *box.Box) error
	for _, ch := range c.of.Verdict().Kept {
		if k.PutBack == nil || ch.Kind != judge.Modified && ch.Kind != judge.Deleted || !ch.OldMode.IsRegular() || c.of.Policy().Names(ch.Path) || slices.Contains(c.of.Verdict().Tests, ch.Path) {
			continue
		}
		now, err := content(func() (*os.File, error) { return c.of.Box().Open(ch.Path) })
		there := err == nil && ch.Kind == judge.Modified
		var failed error
		base := func() string {
			text, err := c.of.Git().Run(ctx, nil, "cat-file", "blob", c.of.Base()+":"+ch.Path)
			failed = err
			return string(text)
		}
		write, ok := k.PutBack(ch.Path, base, string(now))
		if failed != nil {
			return nil, failed
		}
		if write == nil && ok || !there && c.moved(k, ch.Path, base) {
			continue
		}
		c.parts = append(c.parts, ch.Path)
		if !ok || !there {
			return nil, fmt.Errorf("those in %s can't be put back into what it is now", ch.Path)
		}
		writes = append(writes, write)
	}
	if len(writes) == 0 {
		return nil, nil
	}
	return func(b *box.Box) error {
		for _, write := range writes {
			if err := write(k, b); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// moved reports whether a new file has the tests of one that is gone.
func (c *Checker) moved(k Checks, name string, base func() string) bool {
	return slices.ContainsFunc(c.of.Verdict().Kept, func(ch judge.Change) bool {
		if ch.Kind != judge.Added || path.Ext(ch.Path) != path.Ext(name) {
			return false
		}
		now, err := content(func() (*os.File, error) { return c.of.Box().Open(ch.Path) })
		if err != nil {
			return false
		}
		write, ok := k.PutBack(ch.Path, base, string(now))
		return ok && write == nil
	})
}

// Tests are the changed tests that the task does not name: files, and, as far as Verify has come, files
// of the code with tests in them that differ and new files that shadow another.
func (c *Checker) Tests() []string { return slices.Concat(c.of.Verdict().Tests, c.parts, c.shadows) }

// commanded reports whether a command names a path, or a folder that it lies in, of
// which the base has nothing.
func (c *Checker) commanded(k Checks, base []string, name string) bool {
	for _, cmd := range k.Commands {
		for _, arg := range cmd.Argv {
			at := path.Clean(strings.TrimPrefix(arg, c.of.Git().Root+"/"))
			known := func(b string) bool { return b == at || strings.HasPrefix(b, at+"/") }
			if (at == name || strings.HasPrefix(name, at+"/")) && !slices.ContainsFunc(base, known) {
				return true
			}
		}
	}
	return false
}
