package host

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/confine"
	"github.com/paxiom/relay/host/internal/crew"
	"github.com/paxiom/relay/host/internal/history"
	"github.com/paxiom/relay/host/internal/launch"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/verify"
)

// CheckLine is one check of the configuration.
type CheckLine struct {
	ID        string   `json:"id"`
	Hidden    bool     `json:"hidden"`
	Required  bool     `json:"required"` // of every change
	Command   []string `json:"command"`
	Folder    string   `json:"folder,omitempty"` // of a hidden one
	Class     string   `json:"class,omitempty"`
	OnRequest bool     `json:"on_request,omitempty"`
	Draft     bool     `json:"draft,omitempty"` // it does not count yet
}

// CheckList is the document of relay check list.
type CheckList struct {
	Doc
	Checks []CheckLine `json:"checks"`
}

// Checks are the checks of the repository, hidden ones last.
func (r *Repo) Checks(ctx context.Context) (*CheckList, error) {
	o, err := r.open()
	if err != nil {
		return nil, err
	}
	v := &o.loaded.Config.Verification
	res := &CheckList{Doc: Doc{"relay.check.list", 1}, Checks: []CheckLine{}}
	for _, t := range v.Templates {
		res.Checks = append(res.Checks, CheckLine{ID: t.ID, Command: append([]string{t.Cmd}, t.Args...), Required: slices.Contains(v.Required, t.ID)})
	}
	hidden, err := r.hidden(ctx, o, nil)
	if err != nil {
		return nil, err
	}
	for _, c := range hidden {
		h := v.Hidden[slices.IndexFunc(v.Hidden, func(h config.Hidden) bool { return h.ID == c.ID })]
		res.Checks = append(res.Checks, CheckLine{ID: c.ID, Hidden: true, Command: c.Argv, Folder: c.Folder, Class: c.Class, OnRequest: h.OnRequest, Required: !h.OnRequest})
	}
	for _, dir := range v.CheckDirs {
		if _, err := os.Stat(filepath.Join(dir, config.CheckFile)); err != nil {
			res.Checks = append(res.Checks, CheckLine{ID: filepath.Base(dir), Hidden: true, Folder: dir, Draft: true, Command: []string{}})
		}
	}
	return res, nil
}

// hidden are the hidden checks for this repository of these names; of no names, all.
func (r *Repo) hidden(ctx context.Context, o *opened, ids []string) ([]verify.Command, error) {
	v := &o.loaded.Config.Verification
	asked := ids
	if len(ids) == 0 {
		for _, h := range v.Hidden {
			asked = append(asked, h.ID)
		}
	}
	git, err := judge.OpenGit(ctx, o.root)
	if err != nil {
		return nil, fault.Git(err)
	}
	all, _ := v.HiddenChecks(git, r.home(), asked)
	return slices.DeleteFunc(all, func(c verify.Command) bool { return !slices.Contains(asked, c.ID) }), nil
}

// CheckRun are the options of one run of hidden checks by hand.
type CheckRun struct {
	IDs  []string // none for all
	Seed uint64   // 0 for another one
}

// CheckResults is the document of relay check run.
type CheckResults struct {
	Doc
	Seed    uint64     `json:"seed"`
	Results []CheckEnd `json:"results"`
}

// CheckEnd is how one check ended.
type CheckEnd struct {
	ID      string `json:"id"`
	OK      bool   `json:"ok"`
	Outcome string `json:"outcome"`
	Output  string `json:"output"`
}

// OK reports whether all of them passed.
func (c *CheckResults) OK() bool {
	return !slices.ContainsFunc(c.Results, func(e CheckEnd) bool { return !e.OK })
}

// RunHidden runs hidden checks on the last commit.
func (r *Repo) RunHidden(ctx context.Context, q CheckRun) (*CheckResults, error) {
	o, err := r.open()
	if err != nil {
		return nil, err
	}
	if err := r.trust().Check(o.loaded, r.getenv); err != nil {
		return nil, err
	}
	all, err := r.hidden(ctx, o, q.IDs)
	if err != nil {
		return nil, err
	}
	for _, id := range q.IDs {
		if !slices.ContainsFunc(all, func(c verify.Command) bool { return c.ID == id }) {
			return nil, fault.New("", fmt.Sprintf("there is no hidden check %q", Safe(id)), "", "`relay check list`")
		}
	}
	if len(all) == 0 {
		return nil, fault.New("", "this repository has no hidden check", "", "`relay check new NAME --hidden`")
	}
	if q.Seed == 0 {
		q.Seed = 1 + rand.Uint64N(1<<53-1)
	}
	t, err := r.tryOut(ctx, o)
	if err != nil {
		return nil, err
	}
	defer t.close()
	res := &CheckResults{Doc: Doc{"relay.check.run", 1}, Seed: q.Seed}
	ends, err := t.run(ctx, all, q.Seed)
	for _, e := range ends {
		res.Results = append(res.Results, CheckEnd{ID: e.Command.ID, OK: e.OK(), Outcome: e.Outcome(), Output: string(e.Output)})
	}
	return res, err
}

// tryout is a box in which checks are tried on the last commit, and on what is made of it.
type tryout struct {
	change *change.Change
	checks change.Checks
	free   func() error
}

func (r *Repo) tryOut(ctx context.Context, o *opened) (*tryout, error) {
	cfg := o.loaded.Config
	env, err := r.changeEnv(ctx, o)
	if err != nil {
		return nil, err
	}
	if env.Means, err = crew.Means(ctx, cfg, r.stateDir(), o.root); err != nil {
		return nil, err
	}
	env.Busy, env.Watch, env.Hide, env.Persist = []string{o.ws.Shared()}, o.ws.Kept(), crew.Hide(cfg, r.home()), crew.Persist(cfg, r.home())
	plan, err := confine.For(cfg.Box, confine.Verification, crew.Registries(o.root, r.home()), nil)
	if err != nil {
		return nil, err
	}
	if err := o.ws.Ensure(); err != nil {
		return nil, err
	}
	commit, branch, err := env.Git.Head(ctx)
	if err != nil {
		return nil, fault.Git(err)
	}
	t := &tryout{checks: change.Checks{Plan: plan, Env: launch.CheckEnv(), Slow: time.Duration(cfg.Verification.TimeoutSlowSeconds) * time.Second}}
	if t.free, err = o.lock("relay check"); err != nil {
		return nil, err
	}
	if t.change, err = change.Begin(ctx, env, change.Options{RunID: history.NewRunID(time.Now()), Base: commit, Branch: branch}); err != nil {
		t.free()
		return nil, crew.BoxFault(err)
	}
	return t, nil
}

// run judges what is in the box by nothing, and runs the checks on it.
func (t *tryout) run(ctx context.Context, all []verify.Command, seed uint64) ([]verify.Result, error) {
	if _, err := t.change.Judge(ctx, judge.Policy{}); err != nil {
		return nil, crew.BoxFault(err)
	}
	t.checks.Hidden, t.checks.Seed = all, seed
	results, _ := t.change.VerifyHidden(ctx, t.checks)
	return results, ctx.Err()
}

func (t *tryout) close() {
	t.change.Discard()
	t.free()
}
