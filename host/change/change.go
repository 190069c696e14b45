package change

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/paxiom/relay/host/internal/checkout"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/judge/git"
)

// Env is what all changes of one repository share.
type Env struct {
	Git *git.Repo
	// StateDir is relay's own state on this machine; layers lie below it.
	StateDir string
	Journal  *journal.Journal
	// Home is the user's home, "" for $HOME; Persist are what stays writable in it.
	Home    string
	Persist []string
	// Hide are credentials, which no box shows.
	Hide []box.Hidden
	// Secrets finds the first value of a credential in a text, unless known says that its
	// form may be there: where it comes from, and its line; from is "" for none. A nil
	// Secrets finds nothing.
	Secrets func(r io.Reader, known func(form string) bool) (from string, line int, err error)
	// Means contains the processes: see package box. Required is the weakest that is
	// accepted. Choose gives Means where only git's filters may need a box; it may be nil.
	Means, Required string
	Choose          func(ctx context.Context, root string) (string, error)
	// Keep keeps the commits that boxes show in the place of the work tree; nil where they
	// show the work tree.
	Keep *checkout.Keeper
	// Busy are folders in the work tree that relay writes while a builder runs; what Watch
	// names in them it does not write.
	Busy, Watch []string
	// Owned are globs of relay's own files: never applied, never kept.
	Owned []string
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
}

// Change is one way from a box to a commit or to nothing.
type Change struct {
	env     Env
	opts    Options
	log     *journal.Log
	box     *box.Box
	layer   string
	touched *judge.Touched
	verdict judge.Verdict
	policy  judge.Policy // that it was judged by
	own     []ownCommit  // to be made again; see judgeOwn
	moves   moves        // of submodules

	// harmless are the paths that Judge found to hold no credential; leaky is what withheld
	// knows of others.
	harmless, leaky map[string]bool
	// told are parts of names that hold a credential, each with what is told instead.
	told []string

	landed string // the commit that the change is now
	beside Beside // nil for none

	base *checkout.Tree // nil where the box shows the work tree
}

// Beside is what works with a change from outside of this room: the checks, which run in boxes
// of it.
type Beside interface {
	Idle()               // waits until no box of the change is in use
	Rebuilt()            // what was built is another by now
	Ended(landed string) // the change is over; landed is its commit, "" for none
}

// With has b hear of the change.
func (c *Change) With(b Beside) { c.beside = b }

// idle waits until no box of the change is in use.
func (c *Change) idle() {
	if c.beside != nil {
		c.beside.Idle()
	}
}

func (c *Change) rebuilt() {
	if c.beside != nil {
		c.beside.Rebuilt()
	}
}

func (c *Change) ended() {
	if c.beside != nil {
		c.beside.Ended(c.landed)
	}
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

// Begin opens the journal of a change and prepares its box. Where no commits are kept, the
// work tree must be clean; the caller holds the workspace's lock.
func Begin(ctx context.Context, env Env, o Options) (*Change, error) {
	c := &Change{env: env, opts: o, layer: filepath.Join(env.StateDir, "boxes", o.RunID)}
	err := env.Free(ctx, o.Branch) // or nothing could land
	if err == nil {
		err = c.takeBase(ctx)
	}
	if err != nil {
		return nil, err
	}
	if c.log, err = env.Journal.Begin(o.RunID); err != nil {
		c.base.Release()
		return nil, fmt.Errorf("begin a change: %w", err)
	}
	if err = c.log.Append(recBegin, beginning{Layer: c.layer, Base: o.Base, Branch: o.Branch}); err != nil {
		c.base.Release()
		return nil, errors.Join(err, c.log.Settle())
	}
	if c.box, err = c.newBox(c.env.Persist, c.opts.Binds); err != nil {
		c.base.Release()
		return nil, errors.Join(err, removeLayer(c.layer), c.log.Settle())
	}
	return c, nil
}

// takeBase has the box show the commit as relay keeps it.
func (c *Change) takeBase(ctx context.Context) (err error) {
	if c.env.Keep == nil {
		return nil
	}
	c.base, err = c.env.Keep.Take(ctx, c.opts.Base, c.opts.Branch)
	return err
}

// git is the repository with the base as its work tree. In submodules git looks for their
// own repositories, which only the real one has.
func (c *Change) git() *git.Repo {
	if c.base == nil || c.base.Submodules {
		return c.env.Git
	}
	return c.base.Git
}

// Root is the folder that holds the base.
func (c *Change) Root() string {
	if c.base != nil {
		return c.base.Kept.Root
	}
	return c.env.Git.Root
}

func (c *Change) newBox(persist []string, binds []box.Bind) (*box.Box, error) {
	if err := os.MkdirAll(filepath.Dir(c.layer), 0o700); err != nil {
		return nil, err
	}
	var kept *box.Kept
	if c.base != nil {
		kept = &c.base.Kept
	}
	return box.New(box.Spec{
		Kept: kept, Means: c.env.Means, Required: c.env.Required, Busy: c.env.Busy, Watch: c.env.Watch, Root: c.env.Git.Root, Main: c.env.Git.Main(), GitDirs: c.env.Git.Outside(), Home: c.env.Home, StateDir: c.env.StateDir,
		Layer: c.layer, Persist: persist, Binds: binds, Hide: c.env.Hide,
	})
}

// Box is where the builder runs.
func (c *Change) Box() *box.Box { return c.box }

// Fresh is a box beside the change's own, with the base and these changes.
func (c *Change) Fresh(name string, changes []judge.Change, binds ...box.Bind) (*box.Box, error) {
	return c.box.Fresh(c.layer+"."+name, changes, binds...)
}

// Env is what the change was begun with.
func (c *Change) Env() Env { return c.env }

// RunID names the change.
func (c *Change) RunID() string { return c.opts.RunID }

// Policy is that by which it was judged.
func (c *Change) Policy() *judge.Policy { return &c.policy }

// Verdict is that of Judge, with all names as they are.
func (c *Change) Verdict() *judge.Verdict { return &c.verdict }

// Git is the repository.
func (c *Change) Git() *git.Repo { return c.env.Git }

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
	c.rebuilt()
	if err := c.box.Discard(); err != nil {
		return err
	}
	c.touched, c.own, c.moves = nil, nil, nil
	var err error
	c.box, err = c.newBox(c.env.Persist, c.opts.Binds)
	return err
}

// Judge reads what the builder left and judges it. No process may be running in the
// box. The verdict is also kept for Land. Where the policy keeps the builder's own
// commits, each of them is judged too.
func (c *Change) Judge(ctx context.Context, p judge.Policy) (judge.Verdict, error) {
	c.own, c.harmless, c.leaky = nil, map[string]bool{}, nil
	err := c.judgeLayer(ctx, p)
	if err == nil && c.verdict.Code == judge.Success {
		err = c.judgeNested()
	}
	if err == nil && c.verdict.Code == judge.Success {
		var broken []judge.Violation
		if broken, err = c.leaks(ctx); len(broken) > 0 {
			c.verdict.Code, c.verdict.Violations = judge.StopSecret, broken
		}
		for _, ch := range c.verdict.Kept {
			c.harmless[ch.Path] = err == nil && len(broken) == 0
		}
	}
	if err == nil && c.verdict.Code == judge.Success && c.verdict.BuilderCommitted && p.BuilderCommits() == judge.KeepCommits {
		err = c.judgeOwn(ctx, p)
	}
	if err == nil {
		err = c.untold(ctx)
	}
	if err != nil {
		c.touched = nil // what was not judged to the end can't land
		return judge.Verdict{}, err
	}
	return c.folded(c.tell(c.verdict)), nil
}

func (c *Change) judgeLayer(ctx context.Context, p judge.Policy) error {
	t, err := c.box.Touched(ctx, c.git())
	if err != nil {
		return err
	}
	t.Branch, t.GitConfig = c.opts.Branch, c.env.Git.ConfigFiles()
	if err := c.findMoves(ctx, &t, &p); err != nil {
		return err
	}
	list := func(all bool, paths []string) ([]string, error) { return c.env.Git.List(ctx, c.opts.Base, all, paths) }
	if t.Beside, err = judge.Beside(t.Changes, list); err != nil {
		return err
	}
	c.touched = &t
	c.verdict, c.policy = judge.Judge(t, p), p
	c.verdict.Kept = c.unfold(c.verdict.Kept)
	return nil
}

// judgeNested refuses what lies in another repository, such as a submodule: no commit of
// this one can hold it.
func (c *Change) judgeNested() error {
	real, err := openReal(c.env.Git.Root)
	if err != nil {
		return err
	}
	defer real.Close()
	real.trade(c.verdict.Kept)
	known := map[string]bool{}
	for _, ch := range c.ownKept() {
		if dir := real.inNested(ch.Path, known); dir != "" {
			c.verdict.Code = judge.StopForbidden
			c.verdict.Violations = append(c.verdict.Violations, judge.Violation{Code: judge.StopForbidden, Path: ch.Path,
				Rule: fmt.Sprintf("belongs to another repository: %q has a .git of its own; run relay inside of it", dir)})
		}
	}
	return nil
}

// Touched is what Judge read, with names as they may be told.
func (c *Change) Touched() judge.Touched {
	t := *c.touched
	if len(c.told) > 0 {
		r := strings.NewReplacer(c.told...)
		t.Changes = slices.Clone(t.Changes)
		for i := range t.Changes {
			t.Changes[i].Path = r.Replace(t.Changes[i].Path)
		}
	}
	return t
}

// Kept is what of it would land, once it was judged.
func (c *Change) Kept() []judge.Change { return c.verdict.Kept }

// Base is the commit that the change is on top of now.
func (c *Change) Base() string { return c.opts.Base }

// Discard throws the box away and settles the journal. The real tree is as it was,
// or as Land left it. It may be called more than once.
func (c *Change) Discard() error {
	if c.log == nil {
		return nil
	}
	c.idle()
	err := c.box.Discard()
	if err == nil {
		// Boxes that could be made only in part, on a full disk, are nobody's: they go too.
		err = errors.Join(newCommitter(c.env, c.layer).remove(), removeLayer(c.layer))
	}
	if err != nil {
		return err // the journal stays open: the next start removes what is left
	}
	c.ended()
	c.base.Release()
	err = c.log.Settle()
	c.log = nil
	return err
}

// Empty removes what was built. The journal stays open for Discard: what a run that landed
// nothing has to write down may need the room on the disk.
func (c *Change) Empty() error {
	if c.log == nil {
		return nil
	}
	c.idle()
	return c.box.Discard()
}

// Leave lets go of a change that somebody else continues: an apply that could be
// neither finished nor reverted, for Recover, or a layer, for Resume.
func (c *Change) Leave() error {
	if c.log == nil {
		return nil
	}
	c.idle()
	err := c.log.Close()
	c.ended()
	c.base.Release()
	c.log = nil
	return err
}
