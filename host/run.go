package host

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/pulse"
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
	env, err := r.tickEnv(o.Observer)
	if err != nil {
		return nil, err
	}
	t.TaskFile = within(env.Root, o.TaskFile)
	if env.LoadErr == nil {
		if ws, err := workspace.Open(env.Root, env.Loaded.Config.WorkspaceDir); err == nil {
			var done func()
			ctx, _, done = stoppable(ctx, ws)
			defer done()
			pulse := pulse.Record(ws, "relay run", env.Observer)
			defer pulse.End()
			env.Observer = pulse
			r.noteNeeds(true)
			defer r.noteNeeds(false)
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
	res := &RunResult{Doc: Doc{"relay.run", 1}, Report: out.Report, Blocked: out.Blocked, Patch: out.Patch, Earlier: out.Earlier, Result: out.Result, Pushed: pushed,
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
	return tick.Options{Goal: o.Goal, Task: o.Task, TaskName: o.TaskFile, RecordDir: o.RecordDir, Beyond: o.Beyond, Attended: true, Command: o.command() + loop.Flags(r.opts.Set)}, nil
}

// command is the run as it is typed, without the settings.
func (o RunOptions) command() string {
	c := "relay run"
	for _, f := range []struct{ flag, value string }{{"goal", o.Goal}, {"task", o.TaskFile}, {"key", o.Key}, {"signers", o.Signers}, {"push", o.Push}, {"record", o.RecordDir}} {
		if f.value != "" {
			c += " --" + f.flag + " " + fault.Word(f.value)
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
	what, fix := "the task "+path+" can't be read", "`ls -l "+fault.Word(path)+"`"
	fi, err := os.Stat(path)
	if err != nil {
		return nil, fault.Wrap(err, "", what, fix)
	}
	if !fi.Mode().IsRegular() {
		return nil, fault.Wrap(workspace.ErrNotRegular, "", what, fix+"; `relay run --task -` takes a task from a pipe")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fault.Wrap(err, "", what, fix)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, MaxTaskFile))
	if err != nil {
		return nil, fault.Wrap(err, "", what, fix)
	}
	return raw, nil
}

// MaxTaskFile is one byte more than a task may have, so that a longer file is refused
// by the same rule as a long answer.
const MaxTaskFile = 2<<20 + 1
