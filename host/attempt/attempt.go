package attempt

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/checks"
	"github.com/paxiom/relay/host/internal/attest"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/confine"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/host/internal/launch"
	"github.com/paxiom/relay/host/internal/modelcall"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/pluginhost"
	"github.com/paxiom/relay/host/internal/policy"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/newtests"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
	"github.com/paxiom/relay/sdk/pluginpb"
	"github.com/paxiom/relay/verify"
)

// Attempt is one attempt at a change. Its functions stand in the order in which they are
// called.
type Attempt struct {
	At Env
	// Workflow is the name that policies and attestations know: tick, cycle or task. RunID
	// and TaskID are what they know the attempt by.
	Workflow, RunID, TaskID string
	// Law is the ceiling, and what the task asks for.
	Law func() (judge.Ceiling, judge.Request)
	// Approvals are what the operator said yes to.
	Approvals func() []attest.Approval
	// Note is told what a person should know.
	Note func(text string)

	// Programs is as of [checks.Options].
	Programs string

	Change  *change.Change    // nil until its box is made, and after Discard and Leave
	Checker *checks.Checker   // of the change
	Builder *pluginenv.Plugin // that was let into the box last
	Plan    *confine.Plan     // what the checks may use besides files
}

// Begin makes the box, from a commit.
func (a *Attempt) Begin(ctx context.Context, o change.Options) error {
	env, err := a.boxes(ctx)
	if err == nil {
		a.Change, err = change.Begin(ctx, env, o)
	}
	return pluginenv.BoxFault(a.checked(err, false))
}

// checked prepares the checks, before anything is built in the box, or continues with those of
// an earlier process.
func (a *Attempt) checked(err error, resumed bool) error {
	if err != nil || a.Change == nil {
		return err
	}
	journal.Reached("attempt.box")
	a.Checker, err = checks.New(a.Change, checks.Options{Programs: a.Programs, Resumed: resumed, Caches: checks.Cached(pluginenv.Caches(a.At.Config, a.At.Git, a.At.StateDir, a.At.Home).Open)})
	if err != nil {
		err = errors.Join(err, a.Discard())
	}
	return err
}

// Resume continues in the box that an earlier process has left: see [change.Resume]. One that was
// cut off before it was ready for a builder is thrown away.
func (a *Attempt) Resume(ctx context.Context, o change.Options) (r *change.Recovery, err error) {
	env, err := a.boxes(ctx)
	if err == nil {
		a.Change, r, err = change.Resume(ctx, env, o)
	}
	if err == nil && a.Programs != "" {
		if _, err := os.Lstat(a.Programs); errors.Is(err, fs.ErrNotExist) {
			return r, pluginenv.BoxFault(a.Discard())
		}
	}
	return r, pluginenv.BoxFault(a.checked(err, true))
}

// boxes settles first what the checks may use: without that a build would be a waste.
func (a *Attempt) boxes(ctx context.Context) (env change.Env, err error) {
	if a.Plan, err = confine.For(a.At.Config.Box, confine.Verification, pluginenv.Registries(a.At.Root, a.At.Home), a.At.Refused); err != nil {
		return env, err
	}
	return a.At.Boxes(ctx)
}

// Open lets the builder of a name into the box, which is made when there is none. The
// builder is started when it is asked; Close ends it, also after an error.
func (a *Attempt) Open(ctx context.Context, plugins pluginenv.Env, name string, o change.Options) error {
	p, spec, err := plugins.Find(name, catalog.Builder)
	if err != nil {
		return err
	}
	a.Close(ctx) // the plugin of the try before
	a.Builder = p
	if o.Binds = p.Binds(plugins, spec); a.Change == nil {
		err = a.Begin(ctx, o)
	} else {
		err = pluginenv.BoxFault(a.Change.Bind(o))
	}
	if err != nil {
		return err
	}
	spec.Start = pluginenv.InBox(a.Change.Box(), p.Plan)
	p.Lazy = pluginhost.NewLazy(spec)
	return nil
}

// Build has the open builder work, and ends it: the box is quiet afterwards. Where answers
// are kept, what it has finished is on disk before its result is. A failure that is its own
// or its vendor's comes apart, and so does the end of its time, as of [modelcall.Caller.Build].
func (a *Attempt) Build(ctx context.Context, d *modelcall.Caller, c pluginenv.Choice, w modelcall.Work) (done *pluginpb.BuildDone, f *pluginhost.Failure, late bool, err error) {
	w.Request.Workspace, w.Request.MaxCostMicrousd = a.Change.Box().Dir(), int64(w.MaxUSD*1e6)
	w.Request.IdleTimeout = durationpb.New(time.Duration(a.At.Config.Builder.IdleTimeoutSeconds) * time.Second)
	if d.Answers.Dir != "" {
		w.Finished = func() error {
			a.Close(context.WithoutCancel(ctx))
			return pluginenv.BoxFault(a.Change.Sync())
		}
	}
	done, f, late, err = d.Build(ctx, a.Builder, c, w)
	a.Close(ctx)
	if over := a.Builder.Plan.Exceeded("the builder " + a.Builder.Entry.Name); over != nil && ctx.Err() == nil {
		return nil, nil, false, over // whatever it said, and whatever came of its end
	}
	return done, f, late, err
}

// Close ends the builder.
func (a *Attempt) Close(ctx context.Context) {
	if a.Builder != nil {
		a.Builder.Close(ctx)
	}
}

// Judge reads what is in the box and holds it to the law. No process may be in it.
func (a *Attempt) Judge(ctx context.Context) (judge.Verdict, error) {
	// What is asked for beyond the ceiling is settled before a build; here it is cut off.
	law, _ := judge.NewPolicy(a.Law())
	v, err := a.Change.Judge(ctx, law)
	return v, pluginenv.BoxFault(err)
}

// Checks are commands with what they may use and are held to. Once the change was judged
// they know which tests may be gone.
func (a *Attempt) Checks(commands ...verify.Command) checks.Checks {
	v := &a.At.Config.Verification
	_, request := a.Law()
	return checks.Checks{Commands: commands, Plan: a.Plan, Env: launch.CheckEnv(), Settings: v.Setting, Tests: pluginenv.TestFiles(v), Removed: pluginenv.Removable(v, a.Change.Kept(), request.Allowed), PutBack: newtests.PutBack,
		Fast: time.Duration(v.TimeoutFastSeconds) * time.Second, Slow: time.Duration(v.TimeoutSlowSeconds) * time.Second}
}

// TellHidden says how many of the hidden checks passed that were run last, and in v what of
// that may be told. What they printed is the operator's alone.
func (a *Attempt) TellHidden(v *report.Verification) pluginenv.HiddenResults {
	all, seed := a.Checker.Hidden()
	told := pluginenv.KeepHidden(a.At.StateDir, a.RunID, all, seed)
	if v.Hidden = told.Said; told.Said != "" {
		v.Seed = seed
	}
	if told.Note != "" {
		a.Note(told.Note)
	}
	return told
}

// NewTests says what the tests are worth that the change brings; nil when that can't be
// found out. Ran is what the checks said already.
func (a *Attempt) NewTests(ctx context.Context, k checks.Checks, ran []verify.Result) (*report.NewTests, error) {
	v := &a.At.Config.Verification
	look := newtests.Look{Change: a.Change, Checker: a.Checker, Checks: k, Base: a.Change.Base(), Tests: v.TestGlobs, Ran: ran, Limit: time.Duration(v.MutationSeconds) * time.Second}
	found, err := look.At(ctx)
	if err != nil && ctx.Err() == nil {
		a.Note("the new tests were not looked at: " + err.Error())
		return nil, nil
	}
	return found, err
}

// Decide computes the rules of the policy as code for what was judged and verified.
func (a *Attempt) Decide(rules *policy.Set, checks report.Verification, hidden, models []string) *report.Policy {
	_, request := a.Law()
	in := policy.InputOf(a.Change.Kept(), request, a.TaskID, checks, hidden)
	in.Run.Workflow, in.Run.Models = a.Workflow, models
	for _, y := range a.Approvals() {
		in.Approvals = append(in.Approvals, policy.Approval{Name: y.Kind, Key: y.KeyOrNone()})
	}
	return rules.Decide(in)
}

// Attest says of commits that have landed what is known of them, for those who have the
// repository alone; f is what only the workflow knows.
func (a *Attempt) Attest(ctx context.Context, f attest.Facts) {
	ceiling, request := a.Law()
	f.Workflow, f.Run, f.TaskID, f.Code = a.Workflow, cmp.Or(f.Run, a.RunID), a.TaskID, judge.Success
	f.Ceiling, f.Request, f.Approvals = &ceiling, &request, a.Approvals()
	if problem := attest.Attach(ctx, a.At.Attester(), f); problem != "" {
		a.Note(problem)
	}
}

// Reject keeps what was built under a ref, where the operator can get at it: "" when that
// failed.
func (a *Attempt) Reject(ctx context.Context, m change.Message) (ref string, notes []string) {
	kept, err := a.Change.Reject(context.WithoutCancel(ctx), m)
	if err != nil {
		a.Note("what was built could not be kept as a commit: " + err.Error())
		return "", nil
	}
	return kept.Ref, kept.Notes
}

// Discard throws the box away. The checkout is as it was, or as the landing left it.
func (a *Attempt) Discard() error {
	if a.Change == nil {
		return nil
	}
	c := a.Change
	a.Change = nil
	return c.Discard()
}

// Leave leaves the box to the next process.
func (a *Attempt) Leave() error {
	if a.Change == nil {
		return nil
	}
	c := a.Change
	a.Change = nil
	return c.Leave()
}

// ChangedSince gives a file that kept, a commit on base, changes and that differs between base and
// tip as well; "" where there is none. A yes to kept is none to what git makes of both.
func ChangedSince(ctx context.Context, git *git.Repo, base, kept, tip string) (string, error) {
	names := func(to string) ([]string, error) {
		out, err := git.Run(ctx, nil, "diff", "--name-only", "--no-renames", "-z", base, to)
		return strings.FieldsFunc(string(out), func(c rune) bool { return c == 0 }), err
	}
	later, err := names(tip)
	if err != nil || len(later) == 0 {
		return "", err
	}
	own, err := names(kept)
	for _, name := range own {
		if slices.Contains(later, name) {
			return name, err
		}
	}
	return "", err
}
