package job

import (
	"errors"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// Before is what a pipeline whose history had grown long goes on with in a new one.
type Before struct {
	Spend   Spend    `json:"spend,omitzero"`
	Missing []string `json:"missing,omitempty"` // tasks that have left no result
}

// long is how many events a pipeline's history has when no more of its tasks are begun in it. The engine ends one of 51,200.
const long = 20000

// pipeline has the tasks made that are ready, each by any worker as a workflow of its own, and joins their results one
// after the other, until none is left. Which tasks those are, relay says after each. One that waits for an answer makes room for another.
func (r *run) pipeline(ctx workflow.Context, before *Before) (Result, error) {
	now := &Before{}
	if before != nil {
		now = before
	}
	ends, under, paused, look := workflow.NewSelector(ctx), 0, 0, false
	begun := map[string]bool{}
	for _, id := range now.Missing {
		begun[id] = true
	}
	var broken error // no more of them begin, and what is under way comes to its end
	ends.AddReceive(workflow.GetSignalChannel(ctx, pauseSignal), func(c workflow.ReceiveChannel, _ bool) {
		n := 0
		c.Receive(ctx, &n)
		paused, look = paused+n, n > 0
	})
	for {
		var seen Result
		full := workflow.GetInfo(ctx).GetCurrentHistoryLength() > long
		if full && under == 0 && broken == nil {
			return seen, workflow.NewContinueAsNewError(ctx, RunType, r.Job, now)
		}
		if broken == nil && !full {
			if seen, broken = r.step(ctx, Step{Job: r.Job, Do: Look}, "", r.Queue); broken == nil {
				for _, t := range seen.Tasks {
					if !begun[t.ID] && under-paused < seen.Most {
						begun[t.ID], under = true, under+1
						ends.AddFuture(task(ctx, t), func(f workflow.Future) {
							under, look = under-1, true
							made := Result{}
							if err := f.Get(ctx, &made); err != nil || made.Commit == "" {
								now.Missing = append(now.Missing, t.ID)
							} else if broken == nil {
								made, broken = r.join(ctx, t, made.Worker)
								now.Spend.Add(made.Spend)
							}
						})
					}
				}
			}
		}
		if under == 0 {
			seen.Spend, seen.Tasks, seen.Most = now.Spend, nil, 0
			if len(now.Missing) > 0 {
				seen.Code, seen.ExitCode = "blocked", 2
			}
			return seen, broken
		}
		if ctx.Err() == nil {
			if err := show(ctx, Memo{Spec: r.Spec, State: Running, Tasks: under}); err != nil {
				return seen, err
			}
		}
		for look = false; !look; {
			ends.Select(ctx)
		}
	}
}

// task begins a task's workflow. When the pipeline is stopped, so is the task, and its end is waited for.
func task(ctx workflow.Context, t Job) workflow.Future {
	return workflow.ExecuteChildWorkflow(workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{WorkflowID: t.ID, TaskQueue: Workflows, WaitForCancellation: true,
		ParentClosePolicy: enumspb.PARENT_CLOSE_POLICY_REQUEST_CANCEL, WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		Memo: map[string]any{MemoKey: Memo{Spec: t.Spec, State: Running}}}), RunType, t)
}

// join has a task's result join the branch: on the worker that made it, if that has a slot, or on any. One that doesn't believe the
// signature of the worker that made it leaves the result to that.
func (r *run) join(ctx workflow.Context, t Job, worker string) (Result, error) {
	step := Step{Job: r.Job, Do: Join, Task: t.Spec}
	res, err := r.step(ctx, step, worker, r.Queue)
	if app := (*temporal.ApplicationError)(nil); errors.As(err, &app) && app.NonRetryable() {
		step.Wait = true
		return r.step(ctx, step, worker, worker)
	}
	return res, err
}
