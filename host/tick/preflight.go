package tick

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/history"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/lock"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/pluginhost"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
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
		{"policy", r.checkPolicy},
		{"plugins", r.checkPlugins},
		{"box", r.checkBox},
	}
}

// Preflight looks at everything that a tick needs, in the order of appendix A1, and
// changes and spends nothing.
func Preflight(ctx context.Context, env *Env, o Options) []Check {
	checks, _ := newRun(env, o).lookOver(ctx)
	return checks
}

// lookOver looks at the rows, up to the first that fails.
func (r *run) lookOver(ctx context.Context) (checks []Check, failed bool) {
	for _, row := range r.rows() {
		c := Check{ID: row.id, Skipped: failed}
		if !failed {
			c.Found, c.Err = row.look(ctx)
			failed = c.Err != nil
		}
		checks = append(checks, c)
	}
	return checks, failed
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
	if done, err := r.endedMeanwhile(ctx); done {
		return err
	}
	switch {
	case r.o.Task == nil:
		r.takePlanned()
	default: // one that is not valid is no tick
		if err := r.takeTask(); err != nil {
			return err
		}
	}
	_, err := r.ws.CleanTmp(r.cfg.Runner.CrashCleanup.DeleteTmpGlob)
	if err != nil {
		return err
	}
	_, r.boxErr = r.checkBox(ctx) // said in its turn
	if r.findQuestion(); !r.waits && !r.unasked() {
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
	if r.waits {
		r.leave("waits for your answer")
		return nil
	}
	if r.o.Goal, err = r.book.Goal(r.o.Goal); err != nil {
		return err
	}
	if err := r.prepare(ctx); err != nil {
		return err
	}
	r.leave("ready")
	return nil
}

// findQuestion looks for a question that nobody has answered. Nothing is planned over it; a
// task of the operator's own is carried out, and the question waits on.
func (r *run) findQuestion() {
	st, err := ledger.Read(r.ws)
	if err != nil || st.Question == nil {
		return // what is wrong with it the preflight says in its turn
	}
	q := st.Question
	if r.o.operators() {
		r.note("the question of run " + q.RunID + " still waits for your answer: `relay answer \"…\"`")
		return
	}
	r.waits, r.rep.Question = true, &report.Question{Prompt: q.Prompt, Choices: q.Choices}
	r.note("the question of run " + q.RunID + " waits for your answer; nothing was planned and nothing was built")
}

func (r *run) checkConfig(context.Context) (string, error) {
	if r.env.LoadErr != nil {
		f := diag.Internal(r.env.LoadErr)
		f.Code = cmp.Or(f.Code, judge.BlockedMissingConfig)
		return "", f
	}
	if r.env.Loaded.File == "" {
		return "", diag.New(judge.BlockedMissingConfig, "this repository has no configuration for relay",
			"there is no relay.config.json, .yaml, .yml or .toml and no relais.config.json in "+r.env.Root, "`relay init`")
	}
	var err error
	if r.ws, err = workspace.Open(r.env.Root, r.cfg.WorkspaceDir); err == nil {
		r.ws.Claim(r.env.Private...)
	}
	if err == nil {
		err = r.checkScope()
	}
	return r.env.Loaded.File, err
}

func (r *run) checkTrust(context.Context) (string, error) {
	return "trusted", r.env.Trust.Check(r.env.Loaded, r.getenv)
}

func (r *run) checkGit(ctx context.Context) (string, error) {
	git, err := git.Open(ctx, r.env.Root)
	var commit, branch string
	if err == nil { // whether the commit is there git status will say
		commit, branch, err = change.Env{Git: git}.Head(ctx)
	}
	if err != nil {
		return "", diag.Git(err)
	}
	r.ws.UseGit(git)
	r.git = r.at().Filtering().Decide(git)
	if commit, branch, err = r.home(ctx, git, commit, branch); err != nil {
		return "", err
	}
	r.branch = branch
	r.rep.BaseCommit, r.rep.HeadCommit = commit, commit
	branch = cmp.Or(branch, "detached HEAD")
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
			return "", diag.New(judge.BlockedCrashRecovery, "the journal of run "+u.ID+" is damaged", u.Damaged, "`relay recover`")
		}
	}
	if len(open) > 0 {
		return "run " + open[0].ID + " was interrupted; the next tick settles it first", nil
	}
	return "nothing open", nil
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
	if r.unasked() {
		worst = worst.Unasked()
	}
	if r.held == nil {
		book, err := ledger.Look(r.ws, r.cfg.Budgets, r.env.StateDir)
		if err != nil {
			return "", err
		}
		book.Again = r.o.Command
		if n := len(book.State().Pending); n > 0 {
			return "the next tick settles " + format.Count(n, "call") + " of a crashed run", nil
		}
		return "covers a tick", book.Check(worst)
	}
	book, recovered, err := ledger.Open(r.ws, r.cfg.Budgets, r.env.StateDir)
	if err != nil {
		return "", err
	}
	r.book, book.Again = book, r.o.Command
	if recovered > 0 {
		r.note("settled as unknown: " + format.Count(recovered, "paid call") + " of a crashed run")
	}
	for _, alert := range book.Alerts() {
		r.observe(progress.Event{Kind: progress.Notice, Text: alert})
	}
	err = book.CheckFor(r.milestoneOf(), worst)
	if err != nil && r.o.NextMilestone {
		left, lerr := book.Leave(worst)
		if lerr != nil {
			return "", lerr
		}
		if left {
			r.note("the milestone's budget is used up; the orchestrator is asked for the next one")
			err = book.Check(worst)
		}
	}
	return "covers a tick", err
}

// milestoneOf is the milestone of a task that is at hand; "" when there is none, or none
// that can be read.
func (r *run) milestoneOf() string {
	var t struct {
		MilestoneID string `json:"milestone_id"`
	}
	_ = json.Unmarshal(r.o.Task, &t) // a bad task has a fault of its own
	return t.MilestoneID
}

// checkPlugins reports whether the plugins of a tick can work, as far as that can be known
// without paying for it: who plans, when somebody is to be asked, and who builds.
func (r *run) checkPlugins(ctx context.Context) (string, error) {
	planner, builder := r.cfg.Orchestrator.Provider, r.cfg.Builder.DefaultMode
	if r.unasked() {
		planner = ""
	}
	if r.o.Task != nil {
		if own := r.builderOf(r.o.Task); own != "" {
			builder = own
		}
		if r.env.Loaded.Origin("builder.default_mode").Layer == config.LayerFlag { // he may think that it was taken
			if _, err := r.env.Catalog.Find(r.cfg.Builder.DefaultMode, catalog.Builder); err != nil {
				return "", err
			}
		}
	}
	if planner != "" {
		if _, err := r.env.Catalog.Find(planner, catalog.Provider); err != nil {
			return "", err
		}
	}
	if _, err := r.env.Catalog.Find(builder, catalog.Builder); err != nil {
		return "", err
	}
	if err := r.canRun(ctx, r.cfg.Verification.Required); err != nil {
		return "", err
	}
	if err := r.canWork(ctx, planner, builder); err != nil {
		return "", err
	}
	if planner == "" {
		return builder + " builds", nil
	}
	return planner + " plans, " + builder + " builds", nil
}

// canWork asks the plugins. A tick asks the provider that it has started; its builder it asks
// when that is in its box. Who only looks has nothing started.
func (r *run) canWork(ctx context.Context, planner, builder string) error {
	switch {
	case r.waits:
		return nil
	case r.held == nil && r.env.Ready != nil:
		return r.env.Ready(ctx, planner, builder)
	case r.held == nil || planner == "":
		return nil
	}
	if r.brains.Now().Name != planner {
		return nil // another one is asked first, which must not hide why
	}
	p, err := r.openProvider(ctx, planner)
	if err != nil {
		return err
	}
	return healthy(ctx, p)
}

// healthy says why a plugin certainly can't work: a program that is missing, no key, no
// login, or that it was ended for not answering. Anything else is said when it is asked for
// its work.
func healthy(ctx context.Context, p *pluginenv.Plugin) error {
	open, err := p.Lazy.Get(ctx)
	if err == nil {
		if _, f := open.Health(ctx, false); f != nil {
			err = f
		}
	}
	if f, ok := errors.AsType[*pluginhost.Failure](err); ok && (pluginhost.Decide(f).Action == pluginhost.Block || f.Cause == pluginhost.Protocol) {
		return f.Diagnostic()
	}
	return nil
}

// builderOf is the builder that a task names; "" when none can be read.
func (r *run) builderOf(raw []byte) string {
	var t struct {
		Builder struct {
			Mode string `json:"mode"`
		} `json:"builder"`
	}
	_ = json.Unmarshal(raw, &t) // a bad task has a fault of its own
	if _, err := r.env.Catalog.Find(t.Builder.Mode, catalog.Builder); err != nil {
		return ""
	}
	return t.Builder.Mode
}

func (r *run) checkBox(ctx context.Context) (string, error) {
	means, err := pluginenv.Means(ctx, r.cfg, r.env.StateDir, r.env.Root)
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
