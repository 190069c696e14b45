package pipeline

import (
	"io/fs"
	"syscall"
	"testing"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/pipeline/prd"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// What tasks are likely to cost goes by those that landed and whose cost is known.
func TestForesee(t *testing.T) {
	t.Parallel()
	ws, err := workspace.Open(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	usd := 0.1
	for task, calls := range map[string][]ledger.Line{"a": {{CostUSD: &usd}, {CostUSD: &usd}, {CostUSD: &usd}}, "b": {{CostUSD: &usd}, {}}, "c": {}} {
		at := dir(ws, tasksDir, task+".1")
		if err := ws.MkdirAll(at); err != nil {
			t.Fatal(err)
		}
		if err := workspace.WriteJSON(at+"/"+trailFile, &Record{TaskID: task, Calls: calls, Code: judge.Success}); err != nil {
			t.Fatal(err)
		}
	}
	l := &prd.List{Tasks: []prd.Task{{ID: "a", Status: prd.Completed}, {ID: "d", Status: prd.Pending}, {ID: "e", Status: prd.InProgress}, {ID: "f", Status: prd.Failed}}}
	e, err := Foresee(config.Pipeline{MaxTaskUSD: 2, MaxRunUSD: 3}, ws, l, "")
	if err != nil || e.Words() != "2 tasks to do, at most $3.00; about $0.60, going by 1 task that landed; failed: f" || *e.LikelyUSD != 0.6 {
		t.Errorf("%s, %v, %v", e.Words(), *e.LikelyUSD, err)
	}
	if e, _ = Foresee(config.Pipeline{MaxTaskUSD: 2}, ws, l, "f"); e.Words() != "no task to do; failed: f" {
		t.Error(e.Words())
	}
	if e, _ = Foresee(config.Pipeline{MaxTaskUSD: 2}, ws, l, "d"); e.Tasks != 1 || *e.AtMostUSD != 2 {
		t.Error(e.Words())
	}
}

// A full disk ends the run, and not one task after the other.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		ends bool
	}{
		{&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, true},
		{&git.Error{Kind: git.Failed, Stderr: "error: unable to write file x: No space left on device"}, true},
		{&fs.PathError{Op: "open", Path: "x", Err: syscall.EACCES}, false},
		{&git.Error{Kind: git.Failed, Stderr: "fatal: bad object"}, false},
	} {
		var stopped error
		a := &taskRun{stop: func(err error) { stopped = err }}
		var limits []report.Limit
		var problem *Problem
		var gone string
		err := a.sort(t.Context(), diag.Wrap(c.err, judge.StopInterrupted, "it failed", "`df`"), &limits, &problem, &gone)
		if c.ends != (problem == nil) || c.ends != (stopped != nil) || c.ends != (err != nil) {
			t.Errorf("%v: %+v, %v, %v", c.err, problem, stopped, err)
		}
	}
}
