package change

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/paxiom/relay/host/internal/journal"
)

// Sync puts what was built so far on disk, so that Resume finds it whole even after the
// machine was restarted.
func (c *Change) Sync() error { return c.box.Sync() }

// Resume continues with the change of o.RunID that was left with its layer, by Leave or by
// a crash. One whose apply had begun, or whose layer is not whole, is settled as Recover
// does. Both results are nil when there is no such change.
func Resume(ctx context.Context, env Env, o Options) (*Change, *Recovery, error) {
	runs, err := env.Journal.Unfinished()
	at := slices.IndexFunc(runs, func(r journal.Run) bool { return r.ID == o.RunID })
	if err != nil || at < 0 {
		return nil, nil, err
	}
	run := &runs[at]
	var begin beginning
	if rec, ok := run.Last(recBegin); ok && run.Damaged == "" && rec.Decode(&begin) == nil && begin.Base == o.Base && begin.Branch == o.Branch {
		if _, applying := run.Last(recApply); !applying {
			if c, err := reopen(ctx, env, o, run, begin.Layer); c != nil || err != nil {
				return c, nil, err
			}
		}
	}
	r, err := recoverRun(ctx, env, run, false, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("recover run %s: %w", run.ID, err)
	}
	return nil, &r, nil
}

// reopen opens the layer and the journal of a change again; nil when the layer is not
// whole.
func reopen(ctx context.Context, env Env, o Options, run *journal.Run, layer string) (*Change, error) {
	if _, err := os.Lstat(layer); err != nil {
		return nil, nil // it was being discarded: a new one would be empty, as if nothing had been built
	}
	c := &Change{env: env, opts: o, layer: layer}
	// What the one that was cut off had made for its checks and its commit is not there.
	k := newCommitter(env, layer)
	k.quiet()
	if err := errors.Join(removeChecks(layer), k.remove()); err != nil {
		return nil, err
	}
	err := c.takeBase(ctx)
	if err != nil {
		return nil, err
	}
	if c.box, err = c.newBox(env.Persist, o.Binds); err != nil {
		c.base.Release()
		return nil, nil
	}
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		err := c.box.Sync()
		if err == nil {
			break
		}
		if !errors.Is(err, syscall.EAGAIN) || time.Since(begin) > patience {
			c.base.Release()
			return nil, err // the kernel has not ended the box of the host that was killed
		}
	}
	if c.log, err = run.Resume(); err != nil {
		c.base.Release()
		return nil, err
	}
	return c, nil
}

// Bind shows the box that the next processes run in other folders than those before.
func (c *Change) Bind(o Options) error {
	c.rebuilt()
	b, err := c.newBox(c.env.Persist, o.Binds)
	if err == nil {
		c.box, c.opts.Binds = b, o.Binds
	}
	return err
}
