package host

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/presence"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/loop"
	"github.com/paxiom/relay/host/tick"
)

// Run makes one tick. STOP and BLOCKED are results, not errors. When ctx ends by
// [Interrupt] the run is ended in order and the result's exit code is 130 or 143.
func (r *Repo) Run(ctx context.Context, o RunOptions) (*RunResult, error) {
	t, err := r.tickOptions(&o)
	if err != nil {
		return nil, err
	}
	if o.ChangedTests != nil {
		t.ChangedTests = func(ctx context.Context, c tick.ChangedTests) bool {
			files := slices.DeleteFunc(SplitDiff(string(c.Patch)), func(f FileDiff) bool { return !slices.Contains(c.Files, f.Path) })
			return o.ChangedTests(ctx, ChangedTests{c.Why, c.Missing, files})
		}
	}
	if o.Policy != nil {
		t.Policy = func(ctx context.Context, asks []PolicyHit, patch []byte) bool {
			return o.Policy(ctx, asks, SplitDiff(string(patch)))
		}
	}
	env, err := r.tickEnvOfRun(o.Observer)
	if err != nil {
		return nil, err
	}
	t.TaskFile = within(env.Root, o.TaskFile)
	if env.LoadErr == nil {
		if ws, err := workspace.Open(env.Root, env.Loaded.Config.WorkspaceDir); err == nil {
			var done func()
			ctx, _, done = Stoppable(ctx, ws)
			defer done()
			present := presence.Record(ws, "relay run", env.Observer)
			defer present.End()
			env.Observer = present
			r.NoteNeeds(true)
			defer r.NoteNeeds(false)
		}
	}
	k := &keyed{}
	if t.Key = o.Key; o.Key != "" {
		if k, err = r.newKeyed(ctx, env.Root, o.Key, o.Signers, o.Push); err != nil {
			return nil, err
		}
	}
	out, pushed, err := k.run(ctx, env, t)
	if out == nil {
		return nil, err
	}
	res := &RunResult{Doc: DocOf("relay.run", 1), Report: out.Report, Blocked: out.Blocked, Patch: out.Patch, Earlier: out.Earlier, Result: out.Result, Pushed: pushed,
		ExitCode: exitOf(out.Report.Code, out.Report.Question != nil)}
	var sig Interrupted
	if errors.As(context.Cause(ctx), &sig) {
		res.ExitCode = sig.ExitCode()
	}
	// That a push did not go through changes no verdict, but the exit code of a success.
	if pushed != nil && pushed.What != "" && (res.ExitCode == ExitDone || res.ExitCode == ExitWaiting) {
		res.ExitCode = ExitStopped
	}
	return res, err
}

// tickOptions are a tick's, with the task read from its file.
func (r *Repo) tickOptions(o *RunOptions) (t tick.Options, err error) {
	if o.TaskFile != "" && o.Task == nil {
		if o.Task, err = readTask(o.TaskFile); err != nil {
			return t, err
		}
	}
	return tick.Options{Goal: o.Goal, Task: o.Task, TaskName: o.TaskFile, RecordDir: o.RecordDir, Beyond: o.Beyond, Attended: true, Command: o.command() + loop.Flags(r.Options.Set)}, nil
}

// command is the run as it is typed, without the settings.
func (o RunOptions) command() string {
	c := "relay run"
	for _, f := range []struct{ flag, value string }{{"goal", o.Goal}, {"task", o.TaskFile}, {"key", o.Key}, {"signers", o.Signers}, {"push", o.Push}, {"record", o.RecordDir}} {
		if f.value != "" {
			c += " --" + f.flag + " " + diag.Word(f.value)
		}
	}
	if o.Beyond {
		c += " --beyond-ceiling"
	}
	return c
}

// within is a file's path relative to a folder; "" when it lies elsewhere.
func within(root, file string) string {
	abs, err := filepath.Abs(file)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	rel, rerr := filepath.Rel(root, abs)
	if file == "" || err != nil || rerr != nil || !filepath.IsLocal(rel) {
		return ""
	}
	return filepath.ToSlash(rel)
}

// readTask reads the file that somebody named, as far as the rule about a task's length has
// to see it. A pipe is not waited for.
func readTask(path string) ([]byte, error) {
	what, fix := "the task "+path+" can't be read", "`ls -l "+diag.Word(path)+"`"
	fi, err := os.Stat(path)
	if err != nil {
		return nil, diag.Wrap(err, "", what, fix)
	}
	if !fi.Mode().IsRegular() {
		return nil, diag.Wrap(workspace.ErrNotRegular, "", what, fix+"; `relay run --task -` takes a task from a pipe")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, diag.Wrap(err, "", what, fix)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, MaxTaskFile))
	if err != nil {
		return nil, diag.Wrap(err, "", what, fix)
	}
	return raw, nil
}

// MaxTaskFile is one byte more than a task may have, so that a longer file is refused
// by the same rule as a long answer.
const MaxTaskFile = 2<<20 + 1

// RunOptions are one call of relay run.
type RunOptions struct {
	Goal      string // the operator's words; "" takes none
	TaskFile  string // judge this task with no orchestrator call
	Task      []byte // the task itself; TaskFile then only names where it came from
	RecordDir string // write every provider call there, as a script for replay
	Beyond    bool   // the task may have more than the ceiling gives
	Observer  Observer
	// ChangedTests is asked whether a change may land that no longer runs tests of the base,
	// or fails with them. nil: it may not.
	ChangedTests func(context.Context, ChangedTests) bool
	// Key is the run's idempotency key: where a run with it has ended, its result is given
	// again. Signers is a file of allowed signers whose results from elsewhere count, besides
	// those of this machine; Push a remote that is asked for the result before, and gets it and
	// what landed after.
	Key, Signers, Push string
	// Policy is asked whether a change may land that rules of the policy ask about; nil: the
	// run ends with the question.
	Policy func(context.Context, []PolicyHit, []FileDiff) bool
}

// ChangedTests are what a change does to tests where those of the base no longer run, or
// no longer pass.
type ChangedTests struct {
	Why     string
	Missing []string // those that no longer run, each with what became of it
	Files   []FileDiff
}

// RunResult is how a tick ended. Report is set whenever the run got an id.
type RunResult struct {
	Doc
	Report  *Report  `json:"report"`
	Blocked *Blocked `json:"blocked,omitempty"`
	Patch   string   `json:"patch,omitempty"` // file with what was judged
	// Earlier is set where nothing was done, since a run with this key had ended before.
	Earlier  *EarlierRun `json:"earlier,omitempty"`
	Result   string      `json:"result,omitempty"` // the commit that holds the result of a run with a key
	Pushed   *RunPushed  `json:"pushed,omitempty"`
	ExitCode int         `json:"exit_code"`
}

// EarlierRun is the run that had ended with the same key.
type EarlierRun = tick.Earlier
