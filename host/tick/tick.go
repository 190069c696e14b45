package tick

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/attest"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/history"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/trust"
	"github.com/paxiom/relay/judge"
)

// Env is where ticks run: one repository on one machine. It is filled once and can
// serve many ticks, one after the other.
type Env struct {
	// Dir is any folder of the repository; Root its top, "" when there is none.
	Dir, Root string
	// Loaded is the configuration; LoadErr why there is none.
	Loaded  *config.Loaded
	LoadErr error
	Catalog *catalog.Catalog
	Trust   *trust.Store
	// StateDir is relay's state on this machine, Home the user's home.
	StateDir, Home string
	// Private are all of relay's own folders on this machine: nobody else writes them.
	Private []string
	Environ []string
	Version string
	// Ready says why the plugins that plan ("": nobody is asked) and build certainly can't
	// work, for who only looks: a tick asks those that it has started. It asks no network and
	// costs nothing. nil asks nobody.
	Ready func(ctx context.Context, planner, builder string) error
	// CutOffUndo ends in the history an undo that was cut off.
	CutOffUndo func(context.Context, history.Meta, change.Recovery) error
	Now        func() time.Time // nil means time.Now
	Observer   progress.Observer
}

// Options are one tick's.
type Options struct {
	Goal string
	// Task is a task's JSON that is judged with no orchestrator call; nil asks.
	Task []byte
	// TaskName names where Task came from, for texts; TaskFile is that file's path in the
	// repository, "" for one that lies elsewhere: it is no change of the work tree.
	TaskName, TaskFile string
	RecordDir          string
	// Key is the idempotency key: asked for again with it, a run that has ended is given
	// again and not made. Loop is the workflow's id whose step the tick is.
	Key, Loop string
	// Own: the key is that workflow's own. Such a tick is looked for on this machine only and
	// leaves no result in git.
	Own bool
	// Signers are whose results of other machines are believed.
	Signers attest.Signers
	// Branch is the one on which that workflow began; "" for the one that HEAD is on.
	Branch string
	// Session keeps provider plugins running from tick to tick; nil ends them with this
	// one.
	Session *pluginenv.Session
	// NextMilestone: where the milestone's budget is used up, the orchestrator may continue with
	// another one.
	NextMilestone bool
	// OneMilestone: a task of another milestone than the one under way is not built; its
	// milestone is the next tick's.
	OneMilestone bool
	// Beyond: the operator lets Task have more than the ceiling gives.
	Beyond bool
	// Attended: the operator can be asked about what the orchestrator wants beyond it.
	Attended bool
	// ChangedTests asks the operator whether a change may land that no longer runs tests of
	// the base, or passes with its own tests and fails with those of the base. nil asks nobody.
	ChangedTests func(context.Context, ChangedTests) bool
	// Policy asks the operator whether a change may land that a rule of the policy asks
	// about. nil: the tick ends with the question.
	Policy func(context.Context, []report.PolicyHit, []byte) bool
	// Command is what was typed for this tick, as it can be typed again; "" for relay run.
	Command string
	// Again: Task is the orchestrator's own, of a tick that a limit ended.
	Again bool
}

// ChangedTests are what a change does to tests.
type ChangedTests struct {
	Why     string
	Missing []string // tests that no longer run, each with what became of it; nil where it is not about them
	Files   []string // of tests
	Patch   []byte   // of the change
}

// operators says that the task is the operator's: it is carried out whatever became of
// the same task before.
func (o Options) operators() bool { return o.Task != nil && !o.Again }

// Outcome is how a tick ended.
type Outcome struct {
	Report  *report.Report
	Blocked *report.Blocked // set when the code is BLOCKED_*
	Patch   string          // file in the history; "" when there is none
	// Was is the milestone that this tick continued or left; "" when there was none, or
	// none whose goal was not reached yet.
	Was string
	// Unmade says that it was blocked before any call and counts nowhere as a tick.
	Unmade bool
	// Earlier is set where nothing was done, since an earlier run with this key had ended.
	Earlier *Earlier
	// Result is the commit that holds the result of a run with a key; "" where there is none.
	Result string
}

// The states of a tick, as journal, report and progress name them.
const (
	stateLock        = "LOCK"
	statePreflight   = "PREFLIGHT"
	stateOrchestrate = "ORCHESTRATE"
	stateBaseline    = "BASELINE"
	stateBuild       = "BUILD"
	stateJudge       = "JUDGE"
	stateVerify      = "VERIFY"
	stateApply       = "APPLY"
	stateReport      = "REPORT"
)

// errTickTime ends a tick that is over max_tick_seconds.
var errTickTime = errors.New("the tick's own time limit")

// Run makes one tick. Whatever happens there is an Outcome with a report; an error is
// an error that kept even that from being written.
func Run(ctx context.Context, env *Env, o Options) (*Outcome, error) {
	r := newRun(env, o)
	if out, err := r.again(ctx); out != nil || err != nil { // also while another run has the lock
		return out, err
	}
	ctx, cancel := r.limit(ctx)
	defer cancel()
	err := interrupted(ctx, r.lock(ctx))
	if err == nil {
		err = r.work(ctx)
	}
	if r.found != nil || r.taken != nil {
		return r.withdraw()
	}
	if f, ok := diag.As(err); ok && f.What == wasInterrupted {
		f.Fix = "`" + cmp.Or(o.Command, "relay run") + "` starts it again"
	}
	out, err := r.finish(err)
	out.Result = r.resultObject
	out.Unmade = r.rep.Verdict == judge.OutcomeBlocked && (r.book == nil || r.book.Unused())
	out.Report = report.Fit(r.rep) // as REPORT.json has it
	r.observe(progress.Event{Kind: progress.Ended, Code: r.rep.Code})
	return out, err
}

// limit bounds the tick by max_tick_seconds.
func (r *run) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if r.cfg == nil || r.cfg.Runner.MaxTickSeconds <= 0 {
		return context.WithCancel(ctx)
	}
	d := time.Duration(r.cfg.Runner.MaxTickSeconds) * time.Second
	r.observe(progress.Event{Kind: progress.Limit, Text: "tick", Until: r.now().Add(d)})
	return context.WithTimeoutCause(ctx, d, errTickTime)
}

// work is the tick between taking the lock and writing the report. Its error is the
// verdict: a *diag.Error with a code, or nil for success.
func (r *run) work(ctx context.Context) error {
	defer r.closePlugins(ctx)
	defer r.closeLog()
	if err := r.preflight(ctx); err != nil {
		return err
	}
	if r.found != nil || r.waits {
		return nil
	}
	if err := r.propose(ctx); err != nil {
		return err
	}
	for _, p := range r.opened { // their part is done
		r.o.Session.Finish(ctx, p)
	}
	if r.task.Control != nil {
		r.rep.Control = &report.Control{Action: r.task.Control.Action, Reason: r.task.Control.Reason}
		return r.noteIdle()
	}
	if r.nextBegins() {
		return nil
	}
	if done, err := r.refuseRepeat(); done || err != nil {
		return err
	}
	if done, err := r.underCeiling(); done || err != nil {
		return err
	}
	if err := r.plan(ctx, nil); err != nil {
		return err // a check that can't run makes the build a waste
	}
	if err := r.lookedAway(ctx); err != nil {
		return internal(err)
	}
	if err := r.build(ctx); err != nil {
		return r.afterFailedBuild(ctx, err)
	}
	for _, step := range []func(context.Context) error{r.judge, r.verify, r.holdToPolicy, r.land} {
		if err := step(ctx); err != nil || r.policyAsks {
			return err
		}
	}
	return r.noteIdle()
}

// nextBegins reports whether the task is the first of another milestone, where the tick is
// to stay in one.
func (r *run) nextBegins() bool {
	return r.o.OneMilestone && r.o.Task == nil && r.was != "" && r.was != r.task.MilestoneID
}

// enter begins a state and ends the one before. Once there is a change, the state is
// in its journal before anything of it is done.
func (r *run) enter(state string) error {
	r.leave("")
	r.state, r.entered = state, r.now()
	r.observe(progress.Event{Kind: progress.Entered})
	journal.Reached("tick." + state)
	if r.Change == nil {
		return nil
	}
	return internal(r.Change.Enter(state))
}

// leave ends the present state with one line about what came of it.
func (r *run) leave(text string) { r.left(text, false) }

// left is leave for a state that may be the one at which the work ended.
func (r *run) left(text string, failed bool) {
	if r.state == "" {
		return
	}
	took := r.now().Sub(r.entered)
	r.rep.States = append(r.rep.States, report.StateTime{State: r.state, MS: took.Milliseconds()})
	r.observe(progress.Event{Kind: progress.Finished, Elapsed: took, Text: text, Failed: failed})
	r.state = ""
}

func (r *run) observe(e progress.Event) {
	if r.env.Observer == nil {
		return
	}
	e.At, e.RunID, e.State, e.Usage = r.now(), r.rep.RunID, r.state, r.used
	r.env.Observer.Observe(e)
}

func (r *run) note(text string) {
	text = strings.ReplaceAll(text, "\n", "; ") // errors that were joined
	r.rep.Notes = append(r.rep.Notes, text)
	r.observe(progress.Event{Kind: progress.Notice, Text: text})
}

// wasInterrupted is what a signal does to a tick.
const wasInterrupted = "the tick was interrupted"

// interrupted turns the end of the context into the verdict, whatever error the
// interrupted work gave.
func interrupted(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	if f, ok := diag.As(err); ok && f.Code.Outcome() == judge.OutcomeBlocked && !errors.Is(err, ctx.Err()) {
		return err // it has a reason of its own
	}
	cause := context.Cause(ctx)
	if errors.Is(cause, errTickTime) {
		return &diag.Error{Code: judge.StopInterrupted, What: "the tick took longer than runner.max_tick_seconds",
			Why: "all its processes were ended", Fix: "`relay config show runner`, then raise the limit or ask for a smaller step", Err: cause}
	}
	return &diag.Error{Code: judge.StopInterrupted, What: wasInterrupted, Why: cause.Error(), Err: cause} // Run says what to type
}
