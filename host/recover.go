package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/history"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/queue"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/pipeline"
	"github.com/paxiom/relay/host/tick"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/schemas"
)

// Recover settles what a crash left behind: interrupted applies are finished or taken
// back, leftover boxes go, and damaged files of relay's own are put aside. What the
// operator has changed meanwhile stays as it is.
func (r *Repo) Recover(ctx context.Context) (*RecoverResult, error) {
	o, err := r.Open()
	if err != nil {
		return nil, err
	}
	res, err := r.settle(ctx, o)
	if err != nil {
		return nil, err
	}
	now, err := r.Status(ctx, false) // what was cut off may be a loop's
	if err != nil {
		return nil, err
	}
	res.Clean, res.Next = true, now.Next
	return res, nil
}

// settle is Recover under the workspace's lock.
func (r *Repo) settle(ctx context.Context, o *Opened) (*RecoverResult, error) {
	release, err := o.Lock("relay recover")
	if err != nil {
		return nil, err
	}
	defer release()
	began := time.Now().UTC()
	res := &RecoverResult{Doc: DocOf("relay.recover", 1), Runs: []string{}, Done: []string{}}
	if n, err := o.WS.CleanTmp(o.Loaded.Config.Runner.CrashCleanup.DeleteTmpGlob); err != nil {
		return nil, err
	} else if n > 0 {
		res.Done = append(res.Done, fmt.Sprintf("unfinished temporary files removed: %d", n))
	}
	if err := res.rebuildState(o.WS); err != nil {
		return nil, err
	}
	if err := res.putAside(o.WS, time.Now()); err != nil {
		return nil, err
	}
	if n := box.SweepGroups(); n > 0 {
		res.Done = append(res.Done, fmt.Sprintf("empty control groups of boxes removed: %d", n))
	}
	env, err := r.tickEnvOfRun(nil)
	if err != nil {
		return nil, err
	}
	done, err := tick.Recover(ctx, env, true)
	for _, d := range done {
		res.Runs = append(res.Runs, d.RunID)
		res.Done = append(res.Done, fmt.Sprintf("run %s: %s", d.RunID, d.Did))
		res.Done = append(res.Done, d.Notes...)
	}
	if err != nil {
		return nil, diag.Internal(err)
	}
	if err := o.WS.Validate(); err != nil {
		return nil, err
	}
	_, unknown, err := ledger.Open(o.WS, o.Loaded.Config.Budgets, o.StateDir)
	if err != nil {
		return nil, err
	}
	if unknown > 0 {
		res.Done = append(res.Done, fmt.Sprintf("paid calls that were cut off count as they were allowed to cost: %d", unknown))
	}
	if len(res.Done) > 0 {
		m := history.Meta{RunID: history.NewRunID(began), Workflow: history.Recover, StartedAt: began, Version: r.Options.Version,
			Intent: "Recover: " + res.Done[0], Code: judge.Success}
		if err := o.record(m, report.Report{Summary: "what a crash had left was settled", Notes: res.Done}); err != nil {
			res.Done = append(res.Done, err.Error())
		}
	}
	os.Remove(o.WS.Blocked()) // whatever it said is settled, or is found again
	return res, nil
}

// rebuildState makes a STATE.json anew that can't be read. Its counters come from
// the calls on record, and from the last report for what is no call, so that a
// damaged file never is a fresh budget.
func (res *RecoverResult) rebuildState(ws *workspace.Workspace) error {
	if _, err := ledger.Read(ws); err == nil {
		return nil
	}
	milestone, floor := "", ledger.Counters{}
	if last, err := report.Read(ws); err == nil {
		b := last.Budgets
		milestone = b.MilestoneID
		floor = ledger.Counters{Ticks: b.Ticks, OrchestratorCalls: b.OrchestratorCalls, BuilderCalls: b.BuilderCalls,
			VerifyRuns: b.VerifyRuns, EstimatedCostUSD: b.EstimatedCostUSD}
	}
	s, aside, err := ledger.Rebuild(ws, milestone, floor)
	if err != nil {
		return err
	}
	res.Done = append(res.Done, fmt.Sprintf("STATE.json was damaged and is now %s; recounted: %d ticks, %d orchestrator calls, %d builds, %d checks",
		filepath.Base(aside), s.Budgets.Ticks, s.Budgets.OrchestratorCalls, s.Budgets.BuilderCalls, s.Budgets.VerifyRuns))
	return nil
}

// putAside renames relay's own files that can't be read, so that nothing of them is
// lost and new ones can be written.
func (res *RecoverResult) putAside(ws *workspace.Workspace, now time.Time) error {
	damaged := slices.Concat(pipeline.Damaged(ws), ledger.Damaged(ws), queue.Damaged(ws))
	for path, schema := range map[string]string{ws.State(): schemas.State, ws.Task(): schemas.Task,
		ws.Report(): schemas.Report, ws.Blocked(): schemas.Blocked} {
		raw, err := workspace.ReadFile(path, 64<<20)
		if !errors.Is(err, fs.ErrNotExist) && (err != nil || schemas.Validate(schema, raw) != nil) {
			damaged = append(damaged, path)
		}
	}
	for _, path := range damaged {
		aside := fmt.Sprintf("%s.damaged-%s", path, now.UTC().Format("20060102-150405"))
		if err := os.Rename(path, aside); err != nil {
			return diag.Wrap(err, "", filepath.Base(path)+" is damaged and can't be put aside", "`ls -l "+path+"`")
		}
		res.Done = append(res.Done, fmt.Sprintf("%s was damaged and is now %s", filepath.Base(path), filepath.Base(aside)))
	}
	return nil
}

// RecoverResult is what recover found and did.
type RecoverResult struct {
	Doc
	Runs  []string `json:"runs"`  // runs whose journal was open
	Done  []string `json:"done"`  // one line for each thing that was done
	Clean bool     `json:"clean"` // nothing is left to recover
	Next  string   `json:"next,omitempty"`
}
