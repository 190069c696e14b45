package tick

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/crew"
	"github.com/paxiom/relay/host/internal/history"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/lock"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
)

// Check is one row of the preflight.
type Check struct {
	ID      string
	Err     error // nil: passed
	Skipped bool  // not looked at, since an earlier row failed
	Found   string
}

// row is one row of appendix A1, with those that relay adds.
type row struct {
	id string
	// look says what it found, or why a tick can't start.
	look func(context.Context) (string, error)
}

// rowsBeforeLock is how many rows are looked at before the lock is taken.
const rowsBeforeLock = 3

// rows are in the order in which the first failing one decides.
func (r *run) rows() []row {
	return []row{
		{"config", r.checkConfig},
		{"trust", r.checkTrust},
		{"git", r.checkGit},
		{"lock", r.checkLock},
		{"journal", r.checkJournal},
		{"worktree", r.checkWorktree},
		{"history", r.checkHistory},
		{"state", r.checkState},
		{"budget", r.checkBudget},
		{"plugins", r.checkPlugins},
		{"box", r.checkBox},
	}
}

// Preflight looks at everything that a tick needs, in the order of appendix A1, and
// changes and spends nothing.
func Preflight(ctx context.Context, env *Env) []Check {
	r := newRun(env, Options{})
	var checks []Check
	failed := false
	for _, row := range r.rows() {
		c := Check{ID: row.id, Skipped: failed}
		if !failed {
			c.Found, c.Err = row.look(ctx)
			failed = c.Err != nil
		}
		checks = append(checks, c)
	}
	return checks
}

// preflight is the state of the same name. The lock is held; what a crash left is
// settled first, since a half-written tree would look like the user's own changes.
func (r *run) preflight(ctx context.Context) error {
	if err := r.enter(statePreflight); err != nil {
		return err
	}
	if err := r.settleCrash(ctx); err != nil {
		return interrupted(ctx, err)
	}
	r.lookAhead(ctx)
	if _, err := r.ws.CleanTmp(r.cfg.Runner.CrashCleanup.DeleteTmpGlob); err != nil {
		return err
	}
	_, r.boxErr = r.checkBox(ctx) // said in its turn
	if r.o.Task == nil {
		r.warmProvider(ctx)
	}
	for _, row := range r.rows() {
		switch row.id {
		case "config", "trust", "git", "lock", "journal": // were looked at
			continue
		case "box":
			if r.boxErr != nil {
				return interrupted(ctx, r.boxErr)
			}
			continue
		}
		if _, err := row.look(ctx); err != nil {
			return interrupted(ctx, err)
		}
	}
	if err := r.prepare(ctx); err != nil {
		return err
	}
	r.leave("ready")
	return nil
}

func (r *run) checkConfig(context.Context) (string, error) {
	if r.env.LoadErr != nil {
		f := fault.Internal(r.env.LoadErr)
		if f.Code == "" {
			f.Code = judge.BlockedMissingConfig
		}
		return "", f
	}
	if r.env.Loaded.File == "" {
		return "", fault.New(judge.BlockedMissingConfig, "this repository has no configuration for relay",
			"there is no relay.config.json, .yaml, .yml or .toml and no relais.config.json in "+r.env.Root, "`relay init`")
	}
	var err error
	if r.ws, err = workspace.Open(r.env.Root, r.cfg.WorkspaceDir); err == nil {
		r.ws.Claim(r.env.Private...)
	}
	return r.env.Loaded.File, err
}

func (r *run) checkTrust(context.Context) (string, error) {
	return "trusted", r.env.Trust.Check(r.env.Loaded, r.getenv)
}

func (r *run) checkGit(ctx context.Context) (string, error) {
	git, err := r.env.Git, error(nil)
	if git == nil {
		git, err = judge.OpenGit(ctx, r.env.Root)
	}
	var commit, branch string
	if err == nil { // whether the commit is there git status will say
		commit, branch, err = git.HeadNow(ctx)
	}
	if err != nil {
		return "", fault.Git(err)
	}
	r.git, r.env.Git, r.branch = git, git, branch
	r.rep.BaseCommit, r.rep.HeadCommit = commit, commit
	if branch == "" {
		branch = "detached HEAD"
	}
	return fmt.Sprintf("%s at %.12s", branch, commit), nil
}

func (r *run) checkLock(context.Context) (string, error) {
	state, info, err := lock.Inspect(r.ws.Lock())
	if err != nil {
		return "", err
	}
	if state == lock.Held {
		return "", lock.HeldBy(r.ws.Lock(), info)
	}
	return string(state), nil
}

func (r *run) checkJournal(context.Context) (string, error) {
	open, err := journal.Open(r.ws.Journal()).Unfinished()
	if err != nil {
		return "", err
	}
	for _, u := range open {
		if u.Damaged != "" {
			return "", fault.New(judge.BlockedCrashRecovery, "the journal of run "+u.ID+" is damaged", u.Damaged, "`relay recover`")
		}
	}
	if len(open) > 0 {
		return "run " + open[0].ID + " was interrupted; the next tick settles it first", nil
	}
	return "nothing open", nil
}

// lookAhead begins with the one slow look, git's at the work tree, while others go on.
func (r *run) lookAhead(ctx context.Context) {
	r.ahead = sync.OnceValues(func() ([]judge.StatusEntry, error) { return r.git.Status(ctx) })
	go r.ahead()
}

func (r *run) checkWorktree(ctx context.Context) (string, error) {
	look := r.ahead
	if look == nil {
		look = func() ([]judge.StatusEntry, error) { return r.git.Status(ctx) }
	}
	status, err := look()
	if err != nil {
		return "", fault.Git(err)
	}
	r.status = status
	owned := r.owned()
	var dirty []string
	for _, e := range status {
		if e.Index == '?' && judge.Match(owned, strings.TrimSuffix(e.Path, "/")) {
			continue // relay's own, and untracked: never part of a change
		}
		dirty = append(dirty, e.Path)
	}
	if len(dirty) == 0 {
		return "clean", nil
	}
	return "", fault.Dirty(dirty)
}

func (r *run) checkHistory(context.Context) (string, error) {
	if !r.cfg.History.Enabled {
		return "off", nil
	}
	return "within its cap", history.Open(r.ws.History()).CheckCap(r.cfg.History.MaxMB)
}

func (r *run) checkState(context.Context) (string, error) {
	if !r.cfg.Runner.CrashCleanup.ValidateRunnerJSONFiles {
		return "not checked", nil
	}
	return "valid", r.ws.Validate()
}

// checkBudget opens the ledger. Without the lock, for status, it only looks: calls
// that a crash left pending are then not settled here.
func (r *run) checkBudget(context.Context) (string, error) {
	worst := ledger.WorstCase(r.cfg, 0)
	if r.o.Task != nil {
		worst = worst.Unasked()
	}
	if r.held == nil {
		book, err := ledger.Look(r.ws, r.cfg.Budgets, r.env.StateDir)
		if err != nil {
			return "", err
		}
		if n := len(book.State().Pending); n > 0 {
			return fmt.Sprintf("%d calls of a crashed run are settled by the next tick", n), nil
		}
		return "covers a tick", book.Check(worst)
	}
	book, recovered, err := ledger.Open(r.ws, r.cfg.Budgets, r.env.StateDir)
	if err != nil {
		return "", err
	}
	r.book = book
	if recovered > 0 {
		r.note(fmt.Sprintf("%d paid calls of a crashed run were settled as unknown", recovered))
	}
	for _, alert := range book.Alerts() {
		r.observe(progress.Event{Kind: progress.Notice, Text: alert})
	}
	return "covers a tick", book.Check(worst)
}

func (r *run) checkPlugins(context.Context) (string, error) {
	if r.o.Task == nil {
		if _, err := r.env.Catalog.Find(r.cfg.Orchestrator.Provider, catalog.Provider); err != nil {
			return "", err
		}
	}
	if _, err := r.env.Catalog.Find(r.cfg.Builder.DefaultMode, catalog.Builder); err != nil {
		return "", err
	}
	return r.cfg.Orchestrator.Provider + " plans, " + r.cfg.Builder.DefaultMode + " builds", nil
}

func (r *run) checkBox(ctx context.Context) (string, error) {
	means, err := crew.Means(ctx, r.cfg, r.env.StateDir, r.env.Root)
	if err != nil {
		return "", err
	}
	r.means = means
	return means, nil
}

func (r *run) getenv(name string) string {
	value := ""
	for _, kv := range r.env.Environ {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v
		}
	}
	return value
}
