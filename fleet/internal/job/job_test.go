package job

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"
)

// The runs of one repository are made one after the other, however many are asked for.
func TestRunsOfARepositoryAreSerial(t *testing.T) {
	var s testsuite.WorkflowTestSuite
	env := s.NewTestWorkflowEnvironment()
	env.RegisterWorkflowWithOptions(Run, workflow.RegisterOptions{Name: RunType})
	var mu sync.Mutex
	now, most, made := 0, 0, 0
	env.RegisterActivityWithOptions(func(context.Context, Job) (Result, error) {
		mu.Lock()
		now, made = now+1, made+1
		most = max(most, now)
		mu.Unlock()
		time.Sleep(10 * time.Millisecond)
		mu.Lock()
		now--
		mu.Unlock()
		return Result{Code: "SUCCESS"}, nil
	}, activity.RegisterOptions{Name: TickType})
	for i, key := range []string{"a", "b", "c"} {
		env.RegisterDelayedCallback(func() {
			env.SignalWorkflow(signal, New(Spec{Remote: "r", Ref: "main", Key: key}, strings.Repeat("0", 64), Pool))
		}, time.Duration(i)*time.Millisecond)
	}
	env.ExecuteWorkflow(Repository)
	if err := env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	if made != 3 || most != 1 {
		t.Errorf("%d runs, %d at a time", made, most)
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
			var s testsuite.WorkflowTestSuite
			env := s.NewTestWorkflowEnvironment()
			calls := 0
			env.RegisterActivityWithOptions(func(context.Context, Job) (Result, error) { return Result{}, nil }, activity.RegisterOptions{Name: TickType})
			env.OnActivity(TickType, mock.Anything, mock.Anything).Return(func(context.Context, Job) (Result, error) {
				if calls++; calls == 1 {
					return Result{}, c.err
				}
				return Result{Code: "SUCCESS"}, nil
			})
			env.ExecuteWorkflow(Run, Job{Queue: Pool})
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
