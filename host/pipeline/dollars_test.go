package pipeline

import (
	"testing"

	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/pipeline/prd"
	"github.com/paxiom/relay/judge"
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
