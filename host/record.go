package host

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/paxiom/relay/host/cycle"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/history"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/pipeline"
)

// record keeps what a command did to the repository as a run of its own, beside those
// of the ticks, so that the history has no gaps.
func (o *Opened) record(m history.Meta, r report.Report) error {
	m.EndedAt = time.Now().UTC()
	r.RunID, r.StartedAt, r.EndedAt = m.RunID, m.StartedAt, m.EndedAt
	r.DurationMS = m.EndedAt.Sub(m.StartedAt).Milliseconds()
	r.Code, r.Task.Intent, r.Commit, r.BaseCommit, r.HeadCommit = m.Code, m.Intent, m.Commit, m.BaseCommit, m.BaseCommit
	if m.Commit != "" {
		r.HeadCommit = m.Commit
	}
	r.Scope.OK = true
	raw, err := report.Encode(&r)
	if err != nil {
		return fmt.Errorf("this is not in the history: %w", err)
	}
	run, err := o.History.Take(m)
	switch {
	case err != nil:
	case o.Loaded.Config.History.Enabled:
		err = run.Finish(m, raw, report.Render(&r, o.Loaded.Config.Runner.RenderReportMD.MaxChars))
	default:
		err = run.Shrink(m)
	}
	if err != nil {
		return fmt.Errorf("this is not in the history: %w", err)
	}
	return nil
}

// begin has the history say what is begun, so that a crash does not hide it; drop takes it out again.
func (o *Opened) begin(m history.Meta) (drop func() error, err error) {
	m.Code = ""
	run, err := o.History.Begin(m)
	if err != nil {
		return nil, err
	}
	return run.Drop, nil
}

// ReadReport reads a report; nil when there is none.
func ReadReport(path string) (*report.Report, error) {
	raw, err := workspace.ReadFile(path, report.MaxBytes)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return report.Decode(raw)
}

// openQuestion gives the question that nobody has answered yet; nil when there is none.
func openQuestion(o *Opened) (*ledger.Question, error) {
	st, err := ledger.Read(o.WS)
	if err != nil {
		return nil, err
	}
	return st.Question, nil
}

// refPrefix is where what was rejected is kept; see host/change.
const refPrefix = "refs/relay/"

// find gives the run with this id, or with an id that begins so, or the last one; of a
// task its last attempt.
func (o *Opened) find(run string) (history.Meta, error) {
	if run == "" {
		id, err := o.History.Latest()
		if err != nil {
			return history.Meta{}, err
		}
		if id == "" {
			return history.Meta{}, diag.New("", "nothing has run here yet", "the history of this repository is empty", "`relay run`")
		}
		run = id
	}
	m, err := o.History.Find(run)
	if err == nil {
		return m, nil
	}
	attempts, _ := pipeline.Attempts(o.WS, run)
	for _, t := range attempts {
		if m, err := o.History.Get(t.RunID); err == nil {
			return m, nil
		}
	}
	if len(attempts) > 0 {
		return m, diag.New("", "the history has no run of the task "+run, "no attempt at it has ended", "`relay task show "+run+"`")
	}
	if p, _ := pipeline.Look(o.WS, 0); p != nil && strings.HasPrefix(p.RunID, run) {
		return m, diag.New("", run+" is the run of a pipeline", "the history has the attempts at its tasks", "`relay pipeline status`")
	}
	if id, none := cycle.Find(o.WS, run); none == nil {
		id = cycle.Short(id)
		return m, diag.New("", id+" is an audit cycle, not a run", "what a cycle lands stays on a branch of its own until you merge it", "`relay show "+id+"`")
	}
	return m, err
}
