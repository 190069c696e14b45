package change

import (
	"context"
	"errors"
	"io"
	"path"
	"slices"
	"time"

	"github.com/paxiom/relay/host/change/fault"
	"github.com/paxiom/relay/judge"
)

// Landing says how a judged change lands.
type Landing struct {
	Message Message
	// Commit makes one commit on the current branch, on top of the builder's own
	// ones where those are kept. Otherwise the changes stay in
	// the work tree and nothing is written into .git.
	Commit bool
	// Note is kept in the journal for the process that finishes the landing after a crash.
	Note any
	// Verify looks once more at a change that is about to land on another commit than the
	// one it was verified on, since the operator has committed meanwhile: see
	// [Change.Verify]. It says why that stops the change. nil: it lands where it was built, or not at all.
	Verify func(context.Context) (refused string, err error)
	// Say tells a person what the landing waits for. It may be nil.
	Say func(string)
}

// Landed is what Land did.
type Landed struct {
	Commit string   // "" when none was made
	Base   string   // what it is on top of
	Paths  []string // what was written in the work tree
	Notes  []string // what a person should know, one sentence each
}

// Land writes exactly what was judged into the work tree and commits it, on the branch and
// on top of what came meanwhile where that is possible: see Landing.Verify. If a file,
// HEAD or the index is no longer what it was when it was compared, nothing is written
// and the error is STOP_HEAD_MOVED. Once the writing has begun, ctx no longer ends it.
func (c *Change) Land(ctx context.Context, l Landing) (Landed, error) {
	if c.touched == nil || c.verdict.Code != judge.Success {
		return Landed{}, errors.New("only a change that was judged a success can land")
	}
	if len(c.verdict.Kept)+len(c.moves) == 0 {
		return Landed{}, nil
	}
	var last place
	over := false
	if c.follows(l) && c.env.AtWork(c.opts.Branch, 0) != "" {
		var err error
		if _, over, err = c.settle(ctx, l, 0); err != nil {
			return Landed{}, err
		}
	}
	for n := 1; ; n++ {
		began := time.Now()
		beside, err := c.follow(ctx, l)
		if err != nil {
			return Landed{}, err
		}
		landed, err := c.landOn(ctx, l, beside)
		if err == nil && landed.Commit != "" {
			c.landed = landed.Commit
		}
		if !fault.Is(err, judge.StopHeadMoved) || !c.follows(l) || over || n == maxFollow {
			return landed, err
		}
		at, late, serr := c.settle(ctx, l, time.Since(began))
		if serr != nil || at == last && fault.Mine(err) {
			return landed, err
		}
		last, over = at, late
	}
}

// landOn lands the change on its base; beside: the work tree is on another branch.
func (c *Change) landOn(ctx context.Context, l Landing, beside bool) (landed Landed, err error) {
	err = c.planned(ctx, l, beside, func(land *lander, p *plan) error {
		if beside {
			landed, err = land.publish(ctx, p, l.Note)
		} else {
			landed, err = land.write(ctx, p, l.Note)
		}
		return err
	})
	return landed, err
}

// planned has do continue from a plan whose commit is made; of the repository, only its
// objects are written by then.
func (c *Change) planned(ctx context.Context, l Landing, beside bool, do func(*lander, *plan) error) error {
	root, kept := c.env.Git.Root, c.ownKept()
	if beside {
		root = c.Root()
		// A change of the rules may have what it ignored before committed.
		if !slices.ContainsFunc(kept, func(ch judge.Change) bool { return path.Base(ch.Path) == ".gitignore" }) {
			kept = slices.DeleteFunc(slices.Clone(kept), func(ch judge.Change) bool { return ch.Ignored })
		}
	}
	real, err := openReal(root)
	if err != nil {
		return err
	}
	defer real.Close()
	if kept, err = c.onto(real, kept); err != nil {
		return err
	}
	land := c.lander(real)
	open := func(name string) (io.ReadCloser, error) { return c.box.Open(name) }
	var commit func(*plan) (string, error)
	if l.Commit {
		k := newCommitter(c.env, c.layer)
		defer k.remove()
		commit = func(p *plan) (string, error) {
			commit, err := land.build(ctx, k, p, l.Message)
			if err != nil || commit == "" || len(c.own) == 0 {
				return commit, err
			}
			if err := c.storeLarge(); err != nil {
				return "", err
			}
			return land.chain(ctx, c.own, commit, l.Message)
		}
	}
	p, err := land.ready(kept, c.moves, open, commit)
	if err != nil {
		return err
	}
	return do(land, p)
}
