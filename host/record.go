package host

import (
	"time"

	"github.com/paxiom/relay/host/internal/history"
	"github.com/paxiom/relay/host/internal/report"
)

// record keeps what a command did to the repository as a run of its own, beside those
// of the ticks, so that the history has no gaps. It has happened already: a history
// that can't be written is told in note.
func (o *opened) record(m history.Meta, r report.Report) (note string) {
	if !o.loaded.Config.History.Enabled {
		return ""
	}
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
		return "this is not in the history: " + err.Error()
	}
	run, err := o.hist.Begin(m)
	if err == nil {
		err = run.Finish(m, raw, report.Render(&r, o.loaded.Config.Runner.RenderReportMD.MaxChars))
	}
	if err != nil {
		return "this is not in the history: " + err.Error()
	}
	return ""
}
