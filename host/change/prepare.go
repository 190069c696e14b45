package change

import (
	"context"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
)

// prepared is a landing as far as it goes without anything of the repository but its
// objects being written.
type prepared struct {
	land *lander
	plan *plan
	err  error
	tidy []func()

	message string
	index   os.FileInfo // git's, as it was before
	done    chan struct{}
}

// Prepare begins with a landing in the background, while the checks run: Land of the
// same message goes on from there. Whatever Land has to be sure of at its own time it
// looks at then. Where what runs in a box is watched by its traces in the repository,
// nothing is written into it meanwhile, and Prepare does nothing.
func (c *Change) Prepare(ctx context.Context, l Landing) {
	if c.touched == nil || c.verdict.Code != judge.Success || len(c.verdict.Kept) == 0 || !l.Commit || c.box.Means() != box.Overlay {
		return
	}
	c.unprepare()
	p := &prepared{done: make(chan struct{})}
	c.ahead = p
	go func() {
		defer close(p.done)
		c.fill(ctx, p, l, false)
	}()
}

// prepare does it now; beside: without the work tree.
func (c *Change) prepare(ctx context.Context, l Landing, beside bool) *prepared {
	p := &prepared{}
	c.fill(ctx, p, l, beside)
	return p
}

func (c *Change) fill(ctx context.Context, p *prepared, l Landing, beside bool) {
	p.message, p.index = l.Message.text(), c.gitIndex()
	root, kept := c.env.Git.Root, c.verdict.Kept
	if beside {
		root = c.root()
		// A change of the rules may have what it ignored before committed.
		if !slices.ContainsFunc(kept, func(ch judge.Change) bool { return path.Base(ch.Path) == ".gitignore" }) {
			kept = slices.DeleteFunc(slices.Clone(kept), func(ch judge.Change) bool { return ch.Ignored })
		}
	}
	real, err := openReal(root)
	if err == nil {
		p.tidy = append(p.tidy, func() { real.Close() })
		p.land = c.lander(real)
		kept, err = c.onto(real, kept)
	}
	if err != nil {
		p.err = err
		return
	}
	open := func(name string) (io.ReadCloser, error) { return c.box.Open(name) }
	if !l.Commit {
		p.plan, p.err = p.land.ready(kept, open, nil)
		return
	}
	k := newCommitter(c.env, c.layer)
	p.tidy = append(p.tidy, func() { k.remove() })
	p.plan, p.err = p.land.ready(kept, open, func(entries []entry) (string, error) {
		commit, err := p.land.build(ctx, k, entries, l.Message)
		if err != nil || commit == "" || len(c.own) == 0 {
			return commit, err
		}
		if err := c.storeLarge(); err != nil {
			return "", err
		}
		return p.land.chain(ctx, c.own, commit, l.Message)
	})
}

// takePrepared gives what was prepared for this landing; nil when there is nothing, or
// it failed, or git's index is another one since: a stranger may have staged something.
func (c *Change) takePrepared(l Landing) *prepared {
	p := c.ahead
	if p == nil {
		return nil
	}
	<-p.done
	now := c.gitIndex()
	same := c.base != nil || p.index != nil && now != nil && os.SameFile(p.index, now) && p.index.Size() == now.Size() && p.index.ModTime().Equal(now.ModTime())
	if p.err != nil || !same || p.message != l.Message.text() {
		c.unprepare()
		return nil
	}
	c.ahead = nil
	return p
}

// unprepare throws away what was prepared.
func (c *Change) unprepare() {
	if c.ahead != nil {
		<-c.ahead.done
		c.ahead.close()
		c.ahead = nil
	}
}

// lander is what lands the change in the real tree.
func (c *Change) lander(real *realTree) *lander {
	l := &lander{env: c.env, log: c.log, real: real, base: c.opts.Base, branch: c.opts.Branch, clean: c.clean}
	if c.base != nil {
		l.kept, l.index = true, c.base.Index
	}
	return l
}

func (p *prepared) close() {
	for _, f := range p.tidy {
		f()
	}
}

func (c *Change) gitIndex() os.FileInfo {
	fi, _ := os.Stat(filepath.Join(c.env.Git.GitDir, "index"))
	return fi
}
