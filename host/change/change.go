package change

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
)

// Env is what all changes of one repository share.
type Env struct {
	Git *judge.Git
	// StateDir is relay's own state on this machine; layers lie below it.
	StateDir string
	Journal  *journal.Journal
	// Home is the user's home, "" for $HOME; Persist are what stays writable in it.
	Home    string
	Persist []string
	// Means contains the processes: see package box. Busy are folders in the
	// work tree that relay writes while a builder runs; what Watch names in them it
	// does not write.
	Means       string
	Busy, Watch []string
	// Owned are globs of relay's own files: never applied, never kept.
	Owned []string
	// Moving are globs of files that relay and the operator write while a builder works,
	// as a pipeline's task list: they are no part of what the builder commits.
	Moving []string
	// Environ is the user's environment, for git's idea of who commits.
	Environ []string
}

// Options are about one change.
type Options struct {
	RunID string
	// Base is the commit the work tree is at, Branch the branch that HEAD names, ""
	// when detached.
	Base, Branch string
	// Binds are shown in the box, for example a plugin's socket folder.
	Binds []box.Bind
	// Layer reuses a folder of an earlier change; "" makes a new one.
	Layer string
}

// Change is one passage from a box to a commit or to nothing.
type Change struct {
	env     Env
	opts    Options
	log     *journal.Log
	box     *box.Box
	layer   string
	touched *judge.Touched
	verdict judge.Verdict
	own     []ownCommit // to be made again; see judgeOwn
	ahead   *prepared   // a landing that was begun; see Prepare
	gone    removals
}

// The kinds of journal records.
const (
	recBegin    = "begin"    // a box is about to be made
	recState    = "state"    // the workflow entered a state
	recApply    = "apply"    // the real tree is about to be written
	recApplied  = "applied"  // it was written
	recLanded   = "landed"   // the branch has the commit, or none is made
	recReverted = "reverted" // the work tree is what it was before
)

// beginning is the data of recBegin.
type beginning struct {
	Layer  string `json:"layer"`
	Base   string `json:"base"`
	Branch string `json:"branch"`
}

// Begin opens the journal of a change and prepares its box. The work tree must be
// clean; the caller holds the workspace's lock.
func Begin(env Env, o Options) (*Change, error) {
	c := &Change{env: env, opts: o, layer: o.Layer}
	if c.layer == "" {
		c.layer = filepath.Join(env.StateDir, "boxes", o.RunID)
	}
	var err error
	if c.log, err = env.Journal.Begin(o.RunID); err != nil {
		return nil, fmt.Errorf("begin a change: %w", err)
	}
	if err = c.log.Append(recBegin, beginning{Layer: c.layer, Base: o.Base, Branch: o.Branch}); err != nil {
		return nil, errors.Join(err, c.log.Settle())
	}
	if c.box, err = c.newBox(c.env.Persist, c.opts.Binds); err != nil {
		return nil, errors.Join(err, removeLayer(c.layer), c.log.Settle())
	}
	return c, nil
}

func (c *Change) newBox(persist []string, binds []box.Bind) (*box.Box, error) {
	if err := os.MkdirAll(filepath.Dir(c.layer), 0o700); err != nil {
		return nil, err
	}
	return box.New(box.Spec{
		Means: c.env.Means, Busy: c.env.Busy, Watch: c.env.Watch, Root: c.env.Git.Root, GitDirs: c.env.Git.Outside(), Home: c.env.Home, StateDir: c.env.StateDir,
		Layer: c.layer, Persist: persist, Binds: binds,
	})
}

// Box is where the builder runs.
func (c *Change) Box() *box.Box { return c.box }

// Enter writes down that the workflow enters a state, before it acts.
func (c *Change) Enter(state string) error {
	return c.log.Append(recState, stateRecord{state})
}

// stateRecord is the data of recState.
type stateRecord struct {
	State string `json:"state"`
}

// Reset throws away what was built so far and gives an empty box.
func (c *Change) Reset() error {
	c.unprepare()
	if err := c.gone.drop(c.box); err != nil {
		return err
	}
	c.touched, c.own = nil, nil
	var err error
	c.box, err = c.newBox(c.env.Persist, c.opts.Binds)
	return err
}

// Judge reads what the builder left and judges it. No process may be running in the
// box. The verdict is also kept for Land. Where the policy keeps the builder's own
// commits, each of them is judged too.
func (c *Change) Judge(ctx context.Context, p judge.Policy) (judge.Verdict, error) {
	c.unprepare()
	c.own = nil
	err := c.judgeLayer(ctx, p)
	if err == nil && c.verdict.Code == judge.Success && c.verdict.BuilderCommitted && p.BuilderCommits == judge.KeepCommits {
		err = c.judgeOwn(ctx, p)
	}
	if err != nil {
		c.touched = nil // what was not judged to the end can't land
		return judge.Verdict{}, err
	}
	return c.verdict, nil
}

func (c *Change) judgeLayer(ctx context.Context, p judge.Policy) error {
	t, err := c.box.Touched(ctx, c.env.Git)
	if err != nil {
		return err
	}
	t.Branch = c.opts.Branch
	c.touched = &t
	c.verdict = judge.Judge(t, p)
	return nil
}

// Touched is what Judge read.
func (c *Change) Touched() judge.Touched { return *c.touched }

// Clear throws the box away, and lets what was in it be removed while the caller goes
// on: nothing can be judged, landed or kept of the change any more. Discard waits for it.
func (c *Change) Clear() error {
	c.unprepare()
	if c.box == nil {
		return nil
	}
	err := c.gone.drop(c.box)
	if err == nil {
		c.box = nil
	}
	return err
}

// Discard throws the box away and settles the journal. The real tree is as it was,
// or as Land left it. It may be called more than once.
func (c *Change) Discard() error {
	if c.log == nil {
		return nil
	}
	err := c.Clear()
	if err == nil {
		// Boxes that could be made only in part, on a full disk, are nobody's: they go too.
		err = errors.Join(newCommitter(c.env, c.layer).remove(), c.gone.wait(), removeLayer(c.layer))
	}
	if err != nil {
		return err // the journal stays open: the next start removes what is left
	}
	err = c.log.Settle()
	c.log = nil
	return err
}

// Leave lets go of a change that somebody else goes on with: an apply that could be
// neither finished nor reverted, for Recover, or a layer, for Resume.
func (c *Change) Leave() error {
	if c.log == nil {
		return nil
	}
	err := errors.Join(c.gone.wait(), c.log.Close())
	c.log = nil
	return err
}
