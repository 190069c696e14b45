package change

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/paxiom/relay/judge"
)

// withOldTests is what is laid over the real tree when the tests are to be those of the
// base. New tests stay where the base has none at all, for a runner that finds no tests
// may call that a failure, and where a command names them.
func (c *Change) withOldTests(ctx context.Context, k Checks) ([]judge.Change, error) {
	var base []string
	if slices.ContainsFunc(c.verdict.Kept, func(ch judge.Change) bool { return ch.Kind == judge.Added }) {
		out, err := c.env.Git.Run(ctx, nil, "ls-tree", "-r", "--name-only", "-z", c.opts.Base)
		if err != nil {
			return nil, err
		}
		base = strings.Split(string(out), "\x00")
	}
	none := !slices.ContainsFunc(base, func(name string) bool { return c.policy.OfTests(name) })
	return c.verdict.WithoutTests(func(ch *judge.Change) bool {
		return ch.Kind == judge.Added && (none || c.commanded(k, base, ch.Path))
	}), nil
}

// commanded reports whether a command names a path, or a folder that it lies in, of
// which the base has nothing.
func (c *Change) commanded(k Checks, base []string, name string) bool {
	for _, cmd := range k.Commands {
		for _, arg := range cmd.Argv {
			at := path.Clean(strings.TrimPrefix(arg, c.env.Git.Root+"/"))
			known := func(b string) bool { return b == at || strings.HasPrefix(b, at+"/") }
			if (at == name || strings.HasPrefix(name, at+"/")) && !slices.ContainsFunc(base, known) {
				return true
			}
		}
	}
	return false
}
