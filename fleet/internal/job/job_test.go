package job

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
)

// One run of a repository has the turn at a time, whichever ended before its own, and one that is not there is passed over.
func TestOneTurnAtATime(t *testing.T) {
	var s testsuite.WorkflowTestSuite
	env := s.NewTestWorkflowEnvironment()
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute}) // a busy machine is none
	var turns []string
	env.OnSignalExternalWorkflow(mock.Anything, mock.Anything, mock.Anything, turnSignal, mock.Anything).Return(func(_, id, _, _ string, _ any) error {
		if turns = append(turns, id); id == "gone" {
			return errors.New("it has ended")
		}
		return nil
	})
	for _, id := range []string{"a", "gone", "b", "c"} {
		env.RegisterDelayedCallback(func() { env.SignalWorkflow(QueueSignal, id) }, time.Millisecond)
	}
	seen := func(want string) func() {
		return func() {
			if got := strings.Join(turns, " "); got != want {
				t.Errorf("turns: %s, want %s", got, want)
			}
		}
	}
	env.RegisterDelayedCallback(func() { env.SignalWorkflow(endedSignal, "c") }, time.Second) // stopped before its turn
	env.RegisterDelayedCallback(seen("a"), 2*time.Second)
	env.RegisterDelayedCallback(func() { env.SignalWorkflow(endedSignal, "a") }, 3*time.Second)
	env.RegisterDelayedCallback(seen("a gone b"), 4*time.Second)
	env.RegisterDelayedCallback(seen("a gone b b"), 4*time.Second+look) // it may have been terminated
	env.RegisterDelayedCallback(func() { env.SignalWorkflow(endedSignal, "b") }, 5*time.Second+look)
	env.RegisterDelayedCallback(func() { env.SignalWorkflow(endedSignal, "c") }, 6*time.Second+look)
	env.ExecuteWorkflow(Repository, []string(nil))
	if err := env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	seen("a gone b b c")()
}

// newRun is a run whose turn comes at once.
func newRun(t *testing.T, tick func(Step) (Result, error)) *testsuite.TestWorkflowEnvironment {
	t.Helper()
	var s testsuite.WorkflowTestSuite
	env := s.NewTestWorkflowEnvironment()
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute}) // a busy machine is none
	env.RegisterActivityWithOptions(func(_ context.Context, st Step) (Result, error) { return tick(st) }, activity.RegisterOptions{Name: TickType})
	env.OnSignalExternalWorkflow(mock.Anything, mock.Anything, mock.Anything, endedSignal, mock.Anything).Return(nil).Once()
	env.OnUpsertMemo(mock.Anything).Return(nil).Maybe()
	env.RegisterDelayedCallback(func() { env.SignalWorkflow(turnSignal, nil) }, time.Millisecond)
	t.Cleanup(func() { env.AssertExpectations(t) })
	return env
}

// A run that is stopped before its turn has made nothing, and says that it has ended.
func TestStoppedInTheQueue(t *testing.T) {
	env := newRun(t, func(Step) (Result, error) { t.Error("it is made"); return Result{}, nil })
	env.RegisterDelayedCallback(env.CancelWorkflow, 0)
	env.ExecuteWorkflow(Run, Job{Queue: Pool}, nil)
	if err := env.GetWorkflowError(); !temporal.IsCanceledError(err) {
		t.Error(err)
	}
}

// What asks waits for the one answer that fits, and continues it on the worker that asked.
func TestAnswers(t *testing.T) {
	var steps []Step
	env := newRun(t, func(st Step) (Result, error) {
		if steps = append(steps, st); len(steps) == 1 {
			return Result{ExitCode: 1, Ticks: 3, Worker: "mine", Spend: Spend{Calls: 1, MicroUSD: 5}, Ask: &Ask{Question: "q1", Of: "run", Choices: 2}}, nil
		}
		return Result{Code: "SUCCESS", Spend: Spend{Calls: 2, MicroUSD: 7}}, nil
	})
	said := map[string]string{}
	say := func(name string, after time.Duration, a Answer) {
		env.RegisterDelayedCallback(func() {
			env.UpdateWorkflow(AnswerUpdate, name, &testsuite.TestUpdateCallback{OnReject: func(err error) { said[name] = err.Error() }, OnAccept: func() { said[name] = "taken" },
				OnComplete: func(any, error) {}}, a)
		}, after)
	}
	say("early", 0, Answer{Question: "q1", Choice: 1})
	say("another", time.Second, Answer{Question: "q0", Choice: 1})
	say("beyond", 2*time.Second, Answer{Question: "q1", Choice: 3})
	say("both", 3*time.Second, Answer{Question: "q1", Choice: 1, Text: "x"})
	say("fits", 4*time.Second, Answer{Question: "q1", Choice: 2})
	say("twice", 4*time.Second, Answer{Question: "q1", Choice: 1})
	env.ExecuteWorkflow(Run, Job{ID: "i", Queue: Pool}, nil)
	var res Result
	if err := env.GetWorkflowResult(&res); err != nil || res.Code != "SUCCESS" || res.Spend != (Spend{Calls: 3, MicroUSD: 12}) {
		t.Error(res, err)
	}
	want := Step{Job: Job{ID: "i", Queue: Pool}, N: 1, Of: "run", Ticks: 3, Answer: Answer{Question: "q1", Choice: 2}}
	if len(steps) != 2 || steps[1] != want {
		t.Errorf("%+v", steps)
	}
	for name, part := range map[string]string{"early": "asks nothing", "another": "another question", "beyond": "1 to 2", "both": "or with words", "fits": "taken", "twice": "answered"} {
		if !strings.Contains(said[name], part) {
			t.Errorf("%s: %q", name, said[name])
		}
	}
}

// A gate takes none but its choices.
func TestGates(t *testing.T) {
	a := &Ask{Question: "q", Choices: 2, Only: true}
	if a.takes(Answer{Question: "q", Text: "x"}) == nil || a.takes(Answer{Question: "q", Choice: 2}) != nil {
		t.Error("it takes words, or not its choices")
	}
}

// A worker that is lost is replaced, and what relay refuses is not asked for again.
func TestWhatIsAskedForAgain(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		calls int
	}{
		"a lost worker":      {temporal.NewHeartbeatTimeoutError(), 2},
		"a failure":          {temporal.NewApplicationError("blob x", "FAILED"), 2},
		"what relay refuses": {temporal.NewNonRetryableApplicationError("blob x", "REFUSED", nil), 1},
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			env := newRun(t, func(Step) (Result, error) {
				if calls++; calls == 1 {
					return Result{}, c.err
				}
				return Result{Code: "SUCCESS"}, nil
			})
			env.ExecuteWorkflow(Run, Job{Queue: Pool}, nil)
			if calls != c.calls || (env.GetWorkflowError() == nil) != (c.calls == 2) {
				t.Error(calls, env.GetWorkflowError())
			}
		})
	}
}

// Neither goal nor address, key or task is in what the history has of a run, and a payload
// that is too large is an error here.
func TestPayloads(t *testing.T) {
	s := Spec{Kind: "run", Remote: "https://canary-user:canary-pass@canary.example", Ref: "canary-ref", Key: "canary-key", Goal: "canary-goal", Task: []byte("canary-task")}
	p, err := Converter().ToPayloads(New(s, strings.Repeat("0", 64), Pool))
	if err != nil || strings.Contains(p.String(), "canary") {
		t.Error(p, err)
	}
	if _, err := Converter().ToPayloads(strings.Repeat("x", MaxPayload)); err == nil || !strings.Contains(err.Error(), "belong into blobs") {
		t.Error(err)
	}
	if _, err := Converter().ToPayload(strings.Repeat("x", MaxPayload)); err == nil {
		t.Error("it is sent")
	}
}
