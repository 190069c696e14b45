package checks

import (
	"context"
	"sync"

	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/verify"
)

// Checker runs the checks of one change.
type Checker struct {
	of    *change.Change
	state string // relay's state on this machine

	hidden  []verify.Result
	seed    uint64   // of hidden
	parts   []string // files of the code whose tests differ; see withOldParts
	shadows []string // new files that stand before others; see shadowing
	bases   bases
	// reported is what the commands said of what was verified; see remember.
	reported map[string]verify.Report

	open    func(ctx context.Context, base, run string) Caches
	caching sync.Mutex // for the two below: Ahead opens them, too
	opened  bool
	cached  Caches // nil for none

	programs *programs
}

// Options are about the checks of one change.
type Options struct {
	// Caches opens what checks may reuse, for a run on a commit; nil, or a nil result, for
	// nothing.
	Caches func(ctx context.Context, base, run string) Caches
	// Programs is the file that says what the programs of checks were before the build. All
	// changes of one piece of work name the same: the first makes it, and the caller removes
	// it when the work is over. "" for a change that none follows.
	Programs string
	// Resumed: something may have been built already.
	Resumed bool
}

// New is the checker of a change into whose box no builder was let yet, but for one that is
// resumed.
func New(of *change.Change, o Options) (*Checker, error) {
	env := of.Env()
	c := &Checker{of: of, state: env.StateDir, open: o.Caches}
	of.With(c)
	return c, c.takePrograms(o.Programs, env.Environ, o.Resumed)
}

// Idle implements [change.Beside].
func (c *Checker) Idle() { c.bases.run.Wait() }

// Ended implements [change.Beside].
func (c *Checker) Ended(landed string) {
	if landed != "" {
		c.remember(landed)
	}
	c.closeCaches(landed)
}
