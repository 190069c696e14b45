package checkcmd

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/checks"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/confine"
	"github.com/paxiom/relay/host/internal/history"
	"github.com/paxiom/relay/host/internal/launch"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
	"github.com/paxiom/relay/verify"
)

// Line is one check of the configuration.
type Line struct {
	ID        string   `json:"id"`
	Hidden    bool     `json:"hidden"`   // builders can't read it
	Required  bool     `json:"required"` // of every change
	Command   []string `json:"command"`
	Folder    string   `json:"folder,omitempty"`     // of a hidden one
	Class     string   `json:"class,omitempty"`      // what kind of check it is
	OnRequest bool     `json:"on_request,omitempty"` // only for tasks that ask for it
	Draft     bool     `json:"draft,omitempty"`      // it does not count yet
}

// ListResult is the document of relay check list.
type ListResult struct {
	host.Doc
	Checks []Line `json:"checks"`
}

// List are the checks of the repository, hidden ones last.
func List(ctx context.Context, r *host.Repo) (*ListResult, error) {
	o, err := r.Open()
	if err != nil {
		return nil, err
	}
	v := &o.Loaded.Config.Verification
	res := &ListResult{Doc: host.DocOf("relay.check.list", 1), Checks: []Line{}}
	for _, t := range v.Templates {
		res.Checks = append(res.Checks, Line{ID: t.ID, Command: append([]string{t.Cmd}, t.Args...), Required: slices.Contains(v.Required, t.ID)})
	}
	hidden, err := hidden(ctx, r, o, nil)
	if err != nil {
		return nil, err
	}
	for _, c := range hidden {
		h := v.Hidden[slices.IndexFunc(v.Hidden, func(h config.Hidden) bool { return h.ID == c.ID })]
		res.Checks = append(res.Checks, Line{ID: c.ID, Hidden: true, Command: c.Argv, Folder: c.Folder, Class: c.Class, OnRequest: h.OnRequest, Required: !h.OnRequest})
	}
	for _, dir := range v.CheckDirs {
		if _, err := os.Stat(filepath.Join(dir, config.CheckFile)); err != nil {
			res.Checks = append(res.Checks, Line{ID: filepath.Base(dir), Hidden: true, Folder: dir, Draft: true, Command: []string{}})
		}
	}
	return res, nil
}

// hidden are the hidden checks for this repository of these names; of no names, all.
func hidden(ctx context.Context, r *host.Repo, o *host.Opened, ids []string) ([]verify.Command, error) {
	v := &o.Loaded.Config.Verification
	asked := ids
	if len(ids) == 0 {
		for _, h := range v.Hidden {
			asked = append(asked, h.ID)
		}
	}
	git, err := git.Open(ctx, o.Root)
	if err != nil {
		return nil, diag.Git(err)
	}
	all, _ := v.HiddenChecks(git, r.Home(), asked)
	return slices.DeleteFunc(all, func(c verify.Command) bool { return !slices.Contains(asked, c.ID) }), nil
}

// RunOptions are the options of one run of hidden checks by hand.
type RunOptions struct {
	IDs  []string // none for all
	Seed uint64   // 0 for another one
}

// RunResult is the document of relay check run.
type RunResult struct {
	host.Doc
	Seed    uint64 `json:"seed"` // repeats this run's random choices
	Results []End  `json:"results"`
}

// End is how one check ended.
type End struct {
	ID      string `json:"id"`
	OK      bool   `json:"ok"`
	Outcome string `json:"outcome"`
	Output  string `json:"output"` // end of what it printed
}

// OK reports whether all of them passed.
func (c *RunResult) OK() bool {
	return !slices.ContainsFunc(c.Results, func(e End) bool { return !e.OK })
}

// RunHidden runs hidden checks on the last commit.
func RunHidden(ctx context.Context, r *host.Repo, q RunOptions) (*RunResult, error) {
	o, err := r.Open()
	if err != nil {
		return nil, err
	}
	if err := r.TrustStore().Check(o.Loaded, r.Getenv); err != nil {
		return nil, err
	}
	all, err := hidden(ctx, r, o, q.IDs)
	if err != nil {
		return nil, err
	}
	for _, id := range q.IDs {
		if !slices.ContainsFunc(all, func(c verify.Command) bool { return c.ID == id }) {
			return nil, diag.New("", fmt.Sprintf("there is no hidden check %q", host.Safe(id)), "", "`relay check list`")
		}
	}
	if len(all) == 0 {
		return nil, diag.New("", "this repository has no hidden check", "", "`relay check new NAME --hidden`")
	}
	if q.Seed == 0 {
		q.Seed = 1 + rand.Uint64N(1<<53-1)
	}
	t, err := TryOut(ctx, r, o)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	res := &RunResult{Doc: host.DocOf("relay.check.run", 1), Seed: q.Seed}
	ends, err := t.run(ctx, all, q.Seed)
	for _, e := range ends {
		res.Results = append(res.Results, End{ID: e.Command.ID, OK: e.OK(), Outcome: e.Outcome(), Output: string(e.Output)})
	}
	return res, err
}

// Tryout is a box in which checks are tried on the last commit, and on what is made of it.
type Tryout struct {
	Change  *change.Change
	Checker *checks.Checker
	Checks  checks.Checks
	free    func() error
}

// TryOut makes one, under the lock of the workspace until it is closed.
func TryOut(ctx context.Context, r *host.Repo, o *host.Opened) (*Tryout, error) {
	cfg := o.Loaded.Config
	env, err := r.ChangeEnv(ctx, o)
	if err != nil {
		return nil, err
	}
	if env.Means, err = pluginenv.Means(ctx, cfg, r.StateDir(), o.Root); err != nil {
		return nil, err
	}
	env.Busy, env.Watch, env.Hide, env.Persist = []string{o.WS.Shared()}, o.WS.Kept(), pluginenv.Hide(cfg, r.Home()), pluginenv.Persist(cfg, r.Home())
	plan, err := confine.For(cfg.Box, confine.Verification, pluginenv.Registries(o.Root, r.Home()), nil)
	if err != nil {
		return nil, err
	}
	if err := o.WS.Ensure(); err != nil {
		return nil, err
	}
	commit, branch, err := env.Git.Head(ctx)
	if err != nil {
		return nil, diag.Git(err)
	}
	t := &Tryout{Checks: checks.Checks{Plan: plan, Env: launch.CheckEnv(), Slow: time.Duration(cfg.Verification.TimeoutSlowSeconds) * time.Second}}
	if t.free, err = o.Lock("relay check"); err != nil {
		return nil, err
	}
	if t.Change, err = change.Begin(ctx, env, change.Options{RunID: history.NewRunID(time.Now()), Base: commit, Branch: branch}); err != nil {
		t.free()
		return nil, pluginenv.BoxFault(err)
	}
	if t.Checker, err = checks.New(t.Change, checks.Options{}); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// run judges what is in the box by nothing, and runs the checks on it.
func (t *Tryout) run(ctx context.Context, all []verify.Command, seed uint64) ([]verify.Result, error) {
	if _, err := t.Change.Judge(ctx, judge.Policy{}); err != nil {
		return nil, pluginenv.BoxFault(err)
	}
	t.Checks.Hidden, t.Checks.Seed = all, seed
	results, _ := t.Checker.VerifyHidden(ctx, t.Checks)
	return results, ctx.Err()
}

// Close throws the box away.
func (t *Tryout) Close() {
	t.Change.Discard()
	t.free()
}
