package job

import (
	"errors"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// pipeline has the tasks made that are ready, each by any worker as a workflow of its own, and joins their results one
// after the other, until none is left. Which tasks those are, relay says after each.
func (r *run) pipeline(ctx workflow.Context) (Result, error) {
	ends, under := workflow.NewSelector(ctx), 0
	begun := map[string]bool{}
	spent, missing := Spend{}, false
	var broken error // no more of them begin, and what is under way comes to its end
	for {
		var seen Result
		if broken == nil {
			if seen, broken = r.step(ctx, Step{Job: r.Job, Do: Look}, "", r.Queue); broken == nil {
				for _, t := range seen.Tasks {
					if !begun[t.ID] && under < seen.Most {
						begun[t.ID], under = true, under+1
						ends.AddFuture(task(ctx, t), func(f workflow.Future) {
							under--
							made := Result{}
							if err := f.Get(ctx, &made); err != nil || made.Commit == "" {
								missing = true
							} else if broken == nil {
								made, broken = r.join(ctx, t, made.Worker)
								spent.Add(made.Spend)
							}
						})
					}
				}
			}
		}
		if under == 0 {
			seen.Spend, seen.Tasks, seen.Most = spent, nil, 0
			if missing {
				seen.Code, seen.ExitCode = "blocked", 2
			}
			return seen, broken
		}
		if ctx.Err() == nil {
			if err := show(ctx, Memo{Spec: r.Spec, State: Running, Tasks: under}); err != nil {
				return seen, err
			}
		}
		ends.Select(ctx)
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
