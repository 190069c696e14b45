package job

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// The signals and the update of these workflows.
const (
	QueueSignal  = "queue" // to a repository: a run waits
	endedSignal  = "ended" // to a repository: a run has ended
	turnSignal   = "turn"  // to a run: it may begin
	pauseSignal  = "pause" // to a pipeline: 1 for a task that waits for an answer, -1 for one that has it
	AnswerUpdate = "answer"
)

const (
	// idle is how long a repository's workflow waits for another run before it ends.
	idle = 5 * time.Second
	// look is how often it looks whether the run that has the turn is still there: one that was
	// terminated says nothing.
	look = 5 * time.Minute
)

// Repository lets the runs of one repository and branch begin one after the other: what lands
// is built on what landed before. waiting are their ids.
func Repository(ctx workflow.Context, waiting []string) error {
	queue, ended := workflow.GetSignalChannel(ctx, QueueSignal), workflow.GetSignalChannel(ctx, endedSignal)
	for {
		var id string
		for queue.ReceiveAsync(&id) {
			waiting = append(waiting, id)
		}
		if len(waiting) == 0 {
			if ok, _ := queue.ReceiveWithTimeout(ctx, idle, &id); !ok && !queue.ReceiveAsync(&id) {
				return ctx.Err()
			}
			waiting = append(waiting, id)
		}
		id, waiting = waiting[0], waiting[1:]
		for ended.ReceiveAsync(nil) { // of runs that were stopped before their turn
		}
		for is := ""; is != id; {
			if workflow.SignalExternalWorkflow(ctx, id, "", turnSignal, nil).Get(ctx, nil) != nil {
				break // it has ended: stopped before its turn, terminated, or asked for twice
			}
			for ok := true; ok && is != id; {
				ok, _ = ended.ReceiveWithTimeout(ctx, look, &is)
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() && queue.Len() == 0 {
			return workflow.NewContinueAsNewError(ctx, RepositoryType, waiting)
		}
	}
}

// Run waits for its turn and makes one run. A worker that is lost is replaced: the run is
// asked for again with its key, so what was made is found and not bought again. Where relay
// asks the operator, the run waits, keeps its turn, and continues on the worker that has its state.
// The tasks of a pipeline are runs whose turn comes with the pipeline's. One whose history was long has the turn from before.
func Run(ctx workflow.Context, j Job, before *Before) (res Result, err error) {
	r := &run{Job: j}
	err = workflow.SetUpdateHandlerWithOptions(ctx, AnswerUpdate, func(_ workflow.Context, a Answer) error {
		if err := r.fits(a); err != nil {
			return err // two can pass the look before the first is taken
		}
		r.answer = &a
		return nil
	}, workflow.UpdateHandlerOptions{Validator: r.fits})
	if err != nil {
		return res, err
	}
	if j.Kind == KindTask {
		return r.step(ctx, Step{Job: j}, "", j.Queue)
	}
	defer func() {
		if workflow.IsContinueAsNewError(err) {
			return
		}
		end, _ := workflow.NewDisconnectedContext(ctx) // also of a run that was stopped
		_ = workflow.SignalExternalWorkflow(end, j.RepositoryID(), "", endedSignal, j.ID).Get(end, nil)
	}()
	turn := workflow.GetSignalChannel(ctx, turnSignal)
	if err := workflow.Await(ctx, func() bool { return before != nil || turn.Len() > 0 }); err != nil {
		return res, err
	}
	if j.Kind == KindPipeline && workflow.GetVersion(ctx, "tasks", workflow.DefaultVersion, 1) == 1 {
		return r.pipeline(ctx, before)
	}
	return r.step(ctx, Step{Job: j}, "", j.Queue)
}

// run is one that is under way.
type run struct {
	Job
	ask    *Ask
	answer *Answer
}

func (r *run) fits(a Answer) error {
	if r.answer != nil {
		return errAnswered
	}
	return r.ask.takes(a)
}

// step makes a step, and what follows it once the operator has answered. It is offered to a worker of the queue first.
func (r *run) step(ctx workflow.Context, step Step, first, queue string) (res Result, err error) {
	limit := 12 * time.Hour
	if r.Kind != KindRun {
		limit = 7 * 24 * time.Hour
	}
	for {
		if err := show(ctx, Memo{Spec: r.Spec, State: Running}); err != nil {
			return res, err
		}
		o := workflow.ActivityOptions{TaskQueue: queue, StartToCloseTimeout: limit, HeartbeatTimeout: 5 * time.Second, WaitForCancellation: true,
			RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute, MaximumAttempts: 8}}
		last := res
		if res, err = tick(ctx, o, step, first); err != nil {
			return res, err
		}
		res.Spend.Add(last.Spend)
		if r.ask, r.answer = res.Ask, nil; r.ask == nil {
			return res, nil
		}
		if err := show(ctx, Memo{Spec: r.Spec, State: Waiting, Ask: r.ask, Report: res.Report}); err != nil {
			return res, err
		}
		pause(ctx, 1)
		if err := workflow.Await(ctx, func() bool { return r.answer != nil }); err != nil {
			return res, err
		}
		pause(ctx, -1)
		step, queue = Step{Job: r.Job, Do: step.Do, Task: step.Task, N: step.N + 1, Of: r.ask.Of, Ticks: res.Ticks, Answer: *r.answer}, res.Worker
	}
}

// pause tells the pipeline of a task that the task waits, or continues. One that has ended ends its tasks, too.
func pause(ctx workflow.Context, n int) {
	if up := workflow.GetInfo(ctx).ParentWorkflowExecution; up != nil && workflow.GetVersion(ctx, "pause", workflow.DefaultVersion, 1) == 1 {
		_ = workflow.SignalExternalWorkflow(ctx, up.ID, up.RunID, pauseSignal, n).Get(ctx, nil)
	}
}

// answers is how long a worker that has the repository may take to begin.
const answers = time.Second

// tick makes a step: first on a worker that has the repository, or on that of the queue that is named, if one answers and has a
// slot, and else on any. What fails there is tried on any, too: a full disk is full for the next attempt.
func tick(ctx workflow.Context, o workflow.ActivityOptions, step Step, queue string) (res Result, err error) {
	if step.N == 0 && step.Mirror != "" && workflow.GetVersion(ctx, "mirror", workflow.DefaultVersion, 1) == 1 {
		first := o
		step.Version = workflow.GetInfo(ctx).GetCurrentBuildID()
		first.TaskQueue, first.ScheduleToStartTimeout, first.RetryPolicy = cmp.Or(queue, Mirrors(step.Queue, step.Mirror)), answers, &temporal.RetryPolicy{MaximumAttempts: 1}
		err = workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, first), TickType, step).Get(ctx, &res)
		late, app := (*temporal.TimeoutError)(nil), (*temporal.ApplicationError)(nil)
		switch {
		case err == nil && !res.Busy:
			return res, nil
		case err == nil:
			step.Cold = cmp.Or(res.Mirror, Busy)
		case errors.As(err, &late) && late.TimeoutType() == enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START:
			step.Cold = None
		case errors.As(err, &late), errors.As(err, &app) && !app.NonRetryable():
			step.Again = true
			why := err.Error()
			if app != nil {
				why = app.Message()
			}
			if err := show(ctx, Memo{Spec: step.Spec, State: Running, Failed: why}); err != nil {
				return res, err
			}
		default:
			return res, err
		}
	}
	res = Result{}
	err = workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, o), TickType, step).Get(ctx, &res)
	return res, err
}

func show(ctx workflow.Context, m Memo) error {
	return workflow.UpsertMemo(ctx, map[string]any{MemoKey: m})
}

var errAnswered = errors.New("it has been answered")

// takes says why an answer is refused. Its texts have nothing of what the run is about.
func (a *Ask) takes(by Answer) error {
	switch {
	case a == nil:
		return errors.New("it asks nothing now")
	case by.Question != a.Question:
		return errors.New("another question waits than the one that was answered")
	case by.Choice < 0 || by.Choice > a.Choices || by.Choice == 0 && a.Only:
		return fmt.Errorf("there is no such choice: it has 1 to %d", a.Choices)
	case (by.Choice == 0) == (by.Text == ""):
		return errors.New("it is answered with a choice or with words")
	}
	return nil
}
