package checks

import (
	"context"

	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/verify"
)

// Caches keep what the tools of checks compile and download, for one change. Checks run the
// builder's code: what one wrote is taken over only when the change has landed, and at once
// only where it ran on the base.
type Caches interface {
	Folders() []box.Cache
	Add(commit string, written []string) // by a check of a commit as it is
	Stage(written []string)              // by a check of the change
	Unstage()                            // what was staged is another change's than the one that may land
	Keep(commit string)                  // what was staged
	Close()
}

// Cached is how Options.Caches opens them; what can't be opened is none.
func Cached[C Caches](open func(ctx context.Context, base, run string) (C, error)) func(ctx context.Context, base, run string) Caches {
	return func(ctx context.Context, base, run string) Caches {
		if c, err := open(ctx, base, run); err == nil {
			return c
		}
		return nil
	}
}

// caches are opened by the first check. Without them checks are slow, and right.
func (c *Checker) caches(ctx context.Context) Caches {
	c.caching.Lock()
	defer c.caching.Unlock()
	if !c.opened && c.open != nil {
		c.cached = c.open(context.WithoutCancel(ctx), c.of.Base(), c.of.RunID())
	}
	c.opened = true
	return c.cached
}

// Rebuilt implements [change.Beside]: what checks wrote of what is not there any more is
// forgotten.
func (c *Checker) Rebuilt() {
	c.caching.Lock()
	defer c.caching.Unlock()
	if c.cached != nil {
		c.cached.Unstage()
	}
}

// closeCaches ends their use by this change; landed is its commit, "" for none.
func (c *Checker) closeCaches(landed string) {
	c.caching.Lock()
	defer c.caching.Unlock()
	c.opened = true
	if c.cached == nil {
		return
	}
	if landed != "" {
		c.cached.Keep(landed)
	}
	c.cached.Close()
	c.cached = nil
}

// warm has a check's box show the caches.
func (x *boxExec) warm(ctx context.Context, b *box.Box) {
	if k := x.c.caches(ctx); k != nil {
		b.Cache(k.Folders())
	}
}

// collect takes what the check wrote there. One that was killed may have left half of it.
func (x *boxExec) collect(ctx context.Context, b *box.Box, res verify.Result) {
	k := x.c.caches(ctx)
	if k == nil || res.Err != nil || res.TimedOut {
		return
	}
	var written []string
	for i := range k.Folders() {
		written = append(written, b.Cached(i))
	}
	switch {
	case len(written) == 0 || written[0] == "":
	case len(x.kept) == 0:
		k.Add(x.c.of.Base(), written)
	case res.ExitCode == 0 && x.on != onceOn:
		k.Stage(written)
	}
}
