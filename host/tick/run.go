package tick

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/paxiom/relay/host/attempt"
	"github.com/paxiom/relay/host/checks"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/attest"
	"github.com/paxiom/relay/host/internal/beneath"
	"github.com/paxiom/relay/host/internal/checkcache"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/history"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/lock"
	"github.com/paxiom/relay/host/internal/modelcall"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/pluginhost"
	"github.com/paxiom/relay/host/internal/policy"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/task"
	"github.com/paxiom/relay/host/internal/trust"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
	"github.com/paxiom/relay/verify"
)

// run is one tick under way.
type run struct {
	attempt.Attempt
	env *Env
	o   Options
	cfg *config.Config // nil while there is none
	ws  *workspace.Workspace
	rep *report.Report

	state   string
	entered time.Time
	used    progress.Usage

	held     *lock.Lock
	hist     *history.Run
	book     *ledger.Ledger
	git      *git.Repo
	branch   string
	status   []git.StatusEntry
	task     *task.Task
	taskJSON []byte
	commands []verify.Command
	brains   *pluginenv.Lineup            // who proposes the task; nil until somebody is asked
	provider *pluginenv.Plugin            // the one that is asked now
	opened   map[string]*pluginenv.Plugin // providers by name, the present one among them
	caller   *modelcall.Caller            // see calls
	means    string                       // of the boxes
	boxErr   error                        // why there is none
	verdict  judge.Verdict
	base     []verify.Base // how the checks did on the base; nil without verification.baseline
	baseTree string
	known    *checkcache.Store
	results  []verify.Result
	checkLog io.WriteCloser
	checked  *checks.Checks // what of the checks was run
	built    bool           // a builder was let into the box
	badBuild string         // why the builder's result is not valid; "" when it is
	patch    string
	masked   bool           // the orchestrator's answer held a value of a credential, which was left out
	widened  trust.Widening // what the operator has added to the ceiling for good
	policies *policy.Set    // the policy as code
	policyAt time.Time      // of the operator's yes to what it asks
	// policyAsks: it asks, and nobody is there to answer. letLand is what an earlier run has
	// built and the operator lets land; nil: it is built.
	policyAsks bool
	letLand    *trust.Wish
	// approved: the operator has read what the task asks for beyond the ceiling, and allowed it.
	approved *attest.Approval
	mark     string   // see fingerprint
	repeat   bool     // the task ended in a STOP before and was not built again
	waits    bool     // an earlier run's question waits for an answer, so nothing is planned
	was      string   // see Outcome.Was
	found    *Outcome // of an earlier run with the same key
	taken    error    // why the key can't be used
	asked    string   // see Options.request
	// resultObject is the commit that holds the run's result.
	resultObject string
}

func newRun(env *Env, o Options) *run {
	r := &run{env: env, o: o, asked: o.request()} // before the goal of an earlier run is taken over
	now := r.now()
	r.rep = &report.Report{SchemaVersion: 1, RunID: history.NewRunID(now), StartedAt: now.UTC(),
		Scope:        report.Scope{OK: true, Violations: []string{}, TouchedPaths: []string{}},
		Verification: report.Verification{ExecMode: "argv_no_shell", Runs: []report.VerifyRun{}},
		Budgets:      report.Budgets{Warnings: []string{}}}
	r.Attempt = attempt.Attempt{Workflow: "tick", RunID: r.rep.RunID, Law: r.law, Approvals: r.approvals, Note: r.note}
	if env.Loaded != nil {
		r.cfg = env.Loaded.Config
	}
	return r
}

func (r *run) now() time.Time {
	if r.env.Now != nil {
		return r.env.Now()
	}
	return time.Now()
}

// command is what the lock says that its holder is.
func (r *run) command() string {
	if r.o.Loop != "" {
		return "relay loop"
	}
	return "relay run"
}

// lock is the first state: a configuration that can be used and is trusted, and the
// workspace's lock. Only its holder writes the workspace.
func (r *run) lock(ctx context.Context) error {
	if err := r.enter(stateLock); err != nil {
		return err
	}
	for _, row := range r.rows()[:rowsBeforeLock] {
		if _, err := row.look(ctx); err != nil {
			return err
		}
	}
	if err := r.ws.Ensure(); err != nil {
		return err
	}
	held, reclaimed, err := lock.Acquire(r.ws.Lock(), r.command())
	if err != nil {
		return err
	}
	r.held = held
	if reclaimed != nil {
		r.note("the lock of `" + reclaimed.Command + "`, whose process is gone, was taken over")
	}
	if err := held.SetRun(r.rep.RunID); err != nil {
		return err
	}
	err = r.beginHistory()
	r.publish()
	return err
}

// beginHistory makes the run's folder, where plugins' standard error goes too.
func (r *run) beginHistory() error {
	var err error
	r.hist, err = history.Open(r.ws.History()).Begin(history.Meta{RunID: r.rep.RunID, Workflow: history.Tick,
		StartedAt: r.rep.StartedAt, Version: r.env.Version, Key: r.o.Key, Request: r.asked, Prefers: r.cfg.Builder.DefaultMode, Loop: r.o.Loop})
	return err
}

// at is where this tick is made.
func (r *run) at() attempt.Env {
	return attempt.Env{Git: r.git, Root: r.env.Root, Journal: r.ws.Journal(), Config: r.cfg, WS: r.ws, Catalog: r.env.Catalog, StateDir: r.env.StateDir, Home: r.env.Home,
		Environ: r.env.Environ, Version: r.env.Version, Now: r.now, Means: r.means, Refused: r.refused}
}

// closePlugins ends what was opened; what they left running is reported.
func (r *run) closePlugins(ctx context.Context) {
	r.Close(ctx)
	for _, p := range r.opened {
		r.o.Session.Done(ctx, p)
	}
}

// file reads a small file of relay's state; "" when there is none.
func (r *run) file(path string) string {
	b, err := workspace.ReadFile(path, 1<<20)
	if err != nil {
		return ""
	}
	return string(b)
}

// brought reads a file that the repository brings.
func (r *run) brought(rel string, max int64) ([]byte, error) {
	if rel == "" {
		return nil, fs.ErrNotExist
	}
	return beneath.ReadFile(r.env.Root, rel, max)
}

// facts is what FACTS.md says; one that can't be read is worth a note.
func (r *run) facts() string {
	b, err := r.brought(r.ws.Rel()+"/FACTS.md", 1<<20)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.note("FACTS.md was not read: " + err.Error())
	}
	return string(b)
}

// failed makes a plugin's failure the verdict, or lets the caller's interruption win.
func failed(ctx context.Context, f *pluginhost.Failure) error {
	if f == nil {
		return nil
	}
	return interrupted(ctx, f.Diagnostic())
}

func internal(err error) error {
	if err == nil {
		return nil
	}
	return diag.Internal(err)
}

// remove takes away a file that no longer holds.
func remove(path string) {
	if fi, err := os.Lstat(path); err == nil && fi.Mode().IsRegular() {
		os.Remove(path)
	}
}
