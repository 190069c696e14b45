package host

import (
	"context"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/health"
	"github.com/paxiom/relay/host/internal/task"
	"github.com/paxiom/relay/host/tick"
)

// DryRunResult is what a tick would do, as far as it is known before a model is asked.
type DryRunResult struct {
	Doc
	Preflight []health.Check `json:"preflight"`
	// Task is the operator's own; nil where a planner would be asked for one.
	Task    *task.Task     `json:"task,omitempty"`
	Ceiling *DryRunCeiling `json:"ceiling,omitempty"`
	// Planner is empty when none would be asked.
	Planner DryRunWorker  `json:"planner"`
	Builder DryRunWorker  `json:"builder"`
	Checks  []DryRunCheck `json:"checks"`
	// AtMost is what the tick can use at most; it most often uses less.
	AtMost   DryRunCost    `json:"at_most"`
	Problem  *health.Check `json:"problem,omitempty"` // why the task would not be built
	Next     string        `json:"next"`
	ExitCode int           `json:"exit_code"`
}

// DryRunCeiling is the most that a task may have.
type DryRunCeiling struct {
	AllowedGlobs    []string `json:"allowed_globs"`
	NewFiles        bool     `json:"allow_new_files"`
	Lockfiles       bool     `json:"allow_lockfile_changes"`
	MaxFilesTouched int      `json:"max_files_touched"`
	MaxLinesChanged int      `json:"max_lines_changed"`
}

// DryRunWorker is a plugin that would be asked; an empty Model is the plugin's own choice.
type DryRunWorker struct {
	Plugin string `json:"plugin,omitempty"`
	Model  string `json:"model,omitempty"`
}

// DryRunCheck is a check that the change would have to pass, with its parameters not filled in.
type DryRunCheck struct {
	ID   string   `json:"id"`
	Argv []string `json:"argv"` // program and arguments
}

// DryRunCost is a tick's worst case. Known is false where nothing limits what a call costs.
type DryRunCost struct {
	PlannerCalls int     `json:"planner_calls"` // most calls
	BuilderCalls int     `json:"builder_calls"` // most calls
	Checks       int     `json:"checks"`        // most runs of checks
	CostUSD      float64 `json:"cost_usd"`
	Known        bool    `json:"cost_known"` // false where nothing limits what a call costs
}

// DryRun says what Run would do with the same options. It asks no model, builds nothing and
// changes nothing.
func (r *Repo) DryRun(ctx context.Context, o RunOptions) (*DryRunResult, error) {
	t, err := r.tickOptions(&o)
	if err != nil {
		return nil, err
	}
	env, err := r.tickEnv(nil)
	if err != nil {
		return nil, err
	}
	t.TaskFile = within(env.Root, o.TaskFile)
	f, err := tick.Foresee(ctx, env, t)
	d := &DryRunResult{Doc: DocOf("relay.dry_run", 1), Preflight: preflightLines(f.Checks), Checks: []DryRunCheck{}, ExitCode: ExitDone, Next: "`relay run`, with the same flags and without --dry-run"}
	for _, line := range d.Preflight {
		if !line.OK && !line.Skip {
			d.Next, d.ExitCode = line.Fix, Explain(line.Code).ExitCode
			return d, nil
		}
	}
	if err == nil {
		err = f.Refused
	}
	if err != nil {
		d.Problem = health.Failed("task", diag.Internal(err))
		d.Next, d.ExitCode = d.Problem.Fix, Explain(d.Problem.Code).ExitCode
	}
	d.Task = f.Task
	d.Ceiling = &DryRunCeiling{f.Allowed, f.NewFiles, f.Lockfiles, f.MaxFiles, f.MaxLines}
	d.Planner, d.Builder = DryRunWorker{f.Planner, f.PlannerModel}, DryRunWorker{f.Builder, f.BuilderModel}
	for _, c := range f.Verify {
		d.Checks = append(d.Checks, DryRunCheck{c.ID, append([]string{c.Cmd}, c.Args...)})
	}
	d.AtMost = DryRunCost{f.Worst.OrchestratorCalls, f.Worst.BuilderCalls, f.Worst.VerifyRuns, f.Worst.CostUSD, true}
	for _, n := range f.Worst.Needs {
		d.AtMost.Known = d.AtMost.Known && !n.Unbound
	}
	return d, nil
}
