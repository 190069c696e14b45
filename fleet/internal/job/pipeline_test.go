package job

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// made is a pipeline of tasks that wait for each other, and what its steps did.
type made struct {
	*testsuite.TestWorkflowEnvironment
	waits map[string][]string // tasks, and for what they wait
	most  int
	build func(task string, st Step) (Result, error)
	joins func(task string, st Step) (Result, error)

	done, log []string // tasks that have joined; what was done
	ends      int      // how often the branch was told that it has ended
}

func newPipeline(t *testing.T, waits map[string][]string) *made {
	t.Helper()
	var s testsuite.WorkflowTestSuite
	m := &made{TestWorkflowEnvironment: s.NewTestWorkflowEnvironment(), waits: waits, most: 2}
	m.build = func(string, Step) (Result, error) {
		return Result{Code: "SUCCESS", Commit: "result", Worker: "maker", Spend: Spend{Calls: 10}}, nil
	}
	m.joins = func(string, Step) (Result, error) { return Result{Code: "done", Spend: Spend{Calls: 1}}, nil }
	m.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute}) // a busy machine is none
	m.RegisterWorkflowWithOptions(Run, workflow.RegisterOptions{Name: RunType})
	m.RegisterActivityWithOptions(m.tick, activity.RegisterOptions{Name: TickType})
	m.OnSignalExternalWorkflow(mock.Anything, mock.Anything, mock.Anything, endedSignal, mock.Anything).Return(func(string, string, string, string, any) error { m.ends++; return nil }).Maybe()
	m.OnSignalExternalWorkflow(mock.Anything, mock.Anything, mock.Anything, pauseSignal, mock.Anything).Return(func(_, _, _, _ string, n any) error { m.SignalWorkflow(pauseSignal, n); return nil }).Maybe()
	m.OnUpsertMemo(mock.Anything).Return(nil).Maybe()
	m.RegisterDelayedCallback(func() { m.SignalWorkflow(turnSignal, nil) }, time.Millisecond)
	t.Cleanup(func() {
		if goesOn := workflow.IsContinueAsNewError(m.GetWorkflowError()); m.ends != 1 && !goesOn || m.ends != 0 && goesOn {
			t.Errorf("it gave back its turn %d times", m.ends)
		}
	})
	return m
}

func (m *made) tick(ctx context.Context, st Step) (Result, error) {
	switch {
	case st.Kind == KindTask:
		m.log = append(m.log, "make "+st.Spec)
		return m.build(st.Spec, st)
	case st.Do == Join:
		m.log = append(m.log, "join "+st.Task+" "+activity.GetInfo(ctx).TaskQueue)
		res, err := m.joins(st.Task, st)
		if err == nil && !res.Busy && res.Ask == nil {
			m.done = append(m.done, st.Task)
		}
		return res, err
	}
	res := Result{Code: "done", Most: m.most}
	for _, id := range []string{"a", "b", "c", "d"} {
		on, there := m.waits[id]
		if there && !slices.Contains(m.done, id) && !slices.ContainsFunc(on, func(o string) bool { return !slices.Contains(m.done, o) }) {
			res.Tasks = append(res.Tasks, Job{Spec: id, ID: "task-" + id, Kind: KindTask, Queue: Pool})
		}
	}
	return res, nil
}

func (m *made) run(t *testing.T) (Result, error) {
	t.Helper()
	m.ExecuteWorkflow(Run, Job{ID: "i", Kind: KindPipeline, Queue: Pool}, nil)
	if err := m.GetWorkflowError(); err != nil {
		return Result{}, err
	}
	var res Result
	err := m.GetWorkflowResult(&res)
	return res, err
}

var diamond = map[string][]string{"a": nil, "b": {"a"}, "c": {"a"}, "d": {"b", "c"}}

// Each task is made once and joins once, after those that it waits for, and what the tasks have cost is theirs.
func TestPipelineOfTasks(t *testing.T) {
	m := newPipeline(t, diamond)
	res, err := m.run(t)
	if err != nil || res.Code != "done" || res.ExitCode != 0 || res.Spend.Calls != 4 || len(res.Tasks) != 0 {
		t.Error(res, err)
	}
	if got := strings.Join(m.done, " "); got != "a b c d" && got != "a c b d" {
		t.Error(got, m.log)
	}
	slices.Sort(m.log)
	if strings.Join(m.log, ", ") != "join a relay, join b relay, join c relay, join d relay, make a, make b, make c, make d" {
		t.Error(m.log)
	}
}

// A task without a result holds up those that wait for it, and no others; it is not begun again.
func TestTaskWithoutResult(t *testing.T) {
	m := newPipeline(t, diamond)
	m.build = func(id string, _ Step) (Result, error) {
		if id == "b" {
			return Result{}, temporal.NewNonRetryableApplicationError("blob x", "REFUSED", nil)
		}
		return Result{Commit: "result"}, nil
	}
	res, err := m.run(t)
	if err != nil || res.Code != "blocked" || res.ExitCode != 2 || strings.Join(m.done, " ") != "a c" {
		t.Error(res, err, m.done)
	}
}

// A result joins on any worker where the one that made it has no slot, and on that one in the end where others don't believe it.
func TestWhereItJoins(t *testing.T) {
	m := newPipeline(t, map[string][]string{"a": nil})
	m.joins = func(_ string, st Step) (Result, error) {
		switch len(m.log) {
		case 2:
			return Result{Busy: true}, nil
		case 3:
			return Result{}, temporal.NewNonRetryableApplicationError("blob x", "REFUSED", nil)
		}
		if !st.Wait {
			t.Error("it does not wait for a slot")
		}
		return Result{Code: "done"}, nil
	}
	j := Job{ID: "i", Kind: KindPipeline, Queue: Pool, Mirror: "m"}
	m.ExecuteWorkflow(Run, j, nil)
	if err := m.GetWorkflowError(); err != nil || strings.Join(m.log, ", ") != "make a, join a maker, join a relay, join a maker" {
		t.Error(err, m.log)
	}
}

// What fails while a result joins begins no more tasks and is the pipeline's end, once the tasks under way have ended.
func TestJoinFails(t *testing.T) {
	m := newPipeline(t, map[string][]string{"a": nil, "b": nil, "c": nil})
	m.joins = func(string, Step) (Result, error) {
		return Result{}, temporal.NewNonRetryableApplicationError("blob x", "REFUSED", nil)
	}
	if _, err := m.run(t); err == nil || !strings.Contains(err.Error(), "blob x") {
		t.Error(err)
	}
	if slices.Contains(m.log, "make c") || !slices.Contains(m.log, "make b") {
		t.Error(m.log)
	}
}

// A pipeline that is stopped stops its tasks, and ends after them.
func TestPipelineStopped(t *testing.T) {
	m := newPipeline(t, map[string][]string{"a": nil})
	m.build = func(string, Step) (Result, error) { return Result{Ask: &Ask{Question: "q"}, Worker: "mine"}, nil }
	m.RegisterDelayedCallback(m.CancelWorkflow, time.Minute)
	if _, err := m.run(t); !temporal.IsCanceledError(err) && !errors.As(err, new(*temporal.CanceledError)) {
		t.Error(err)
	}
	if len(m.done) != 0 {
		t.Error(m.done)
	}
}

// A task that waits for an answer makes room for another, and is made once it has it.
func TestTaskThatWaits(t *testing.T) {
	m := newPipeline(t, map[string][]string{"a": nil, "b": nil, "c": {"a"}})
	m.most = 1
	m.build = func(id string, st Step) (Result, error) {
		if id == "a" && st.N == 0 {
			return Result{Ask: &Ask{Question: "q", Choices: 1}, Worker: "mine"}, nil
		}
		return Result{Commit: "result"}, nil
	}
	m.RegisterDelayedCallback(func() {
		if !slices.Equal(m.done, []string{"b"}) {
			t.Error(m.log)
		}
		if err := m.UpdateWorkflowByID("task-a", AnswerUpdate, "u", &testsuite.TestUpdateCallback{OnAccept: func() {}, OnReject: func(err error) { t.Error(err) }, OnComplete: func(any, error) {}},
			Answer{Question: "q", Choice: 1}); err != nil {
			t.Error(err)
		}
	}, time.Hour)
	res, err := m.run(t)
	if err != nil || res.Code != "done" || strings.Join(m.done, " ") != "b a c" {
		t.Error(res, err, m.log)
	}
}

// A pipeline whose history is long goes on in another one once its tasks have ended, with its turn, what was spent, and the tasks that
// have left no result.
func TestLongHistory(t *testing.T) {
	fails := func(m *made) func(string, Step) (Result, error) {
		return func(id string, _ Step) (Result, error) {
			if m.SetCurrentHistoryLength(long + 1); id == "b" {
				return Result{}, temporal.NewNonRetryableApplicationError("blob x", "REFUSED", nil)
			}
			return Result{Commit: "result"}, nil
		}
	}
	first := newPipeline(t, map[string][]string{"a": nil, "b": nil, "c": nil})
	first.build = fails(first)
	_, err := first.run(t)
	goesOn := (*workflow.ContinueAsNewError)(nil)
	if !errors.As(err, &goesOn) || slices.Contains(first.log, "make c") {
		t.Fatal(err, first.log)
	}
	var j Job
	var before Before
	if err := Converter().FromPayloads(goesOn.Input, &j, &before); err != nil {
		t.Fatal(err)
	}
	second := newPipeline(t, first.waits)
	second.done = first.done
	second.ExecuteWorkflow(Run, j, &before)
	var res Result
	if err := second.GetWorkflowResult(&res); err != nil || res.Code != "blocked" || res.Spend.Calls != 2 || strings.Join(second.log, ", ") != "make c, join c relay" {
		t.Error(res, err, second.log)
	}
}
