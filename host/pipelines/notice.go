package pipelines

import (
	"errors"
	"fmt"
	"strings"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/notify"
	"github.com/paxiom/relay/host/pipeline"
	"github.com/paxiom/relay/host/pipeline/prd"
	"github.com/paxiom/relay/judge"
)

// Notice tells the operator of a question, a failure, a push that was refused, or
// the end of a run over the task list.
type Notice struct {
	RunID    string `json:"run_id"`
	Event    string `json:"event"` // question, failed, push or end
	TaskID   string `json:"task_id,omitempty"`
	Title    string `json:"title"`
	Text     string `json:"text"`
	Next     string `json:"next"`
	ExitCode int    `json:"exit_code"` // that of the run at its end; 1 or 2 before
}

func tell(r *host.Repo, o *host.Opened, n Notice) {
	n.Title, n.Text = host.Safe(n.Title), host.Safe(n.Text)
	r.Tell(o, o.Loaded.Config.Notify, n.RunID, "pipeline", notify.Message{Title: n.Title, Text: n.Text, Data: n})
}

// tellTask tells of a task that asks or failed.
func tellTask(r *host.Repo, o *host.Opened, t *host.TaskAttempt) {
	n := Notice{RunID: t.PipelineID, TaskID: t.TaskID}
	switch {
	case t.Waiting != nil:
		n.Event, n.Title, n.Text, n.Next, n.ExitCode = "question", "relay: task "+t.TaskID+" waits for you", t.Waiting.Text, t.Waiting.Next(t.TaskID), host.ExitWaiting
	case t.Code != "" && t.Code != judge.Success:
		n.Event, n.Title, n.Text, n.Next, n.ExitCode = "failed", "relay: task "+t.TaskID+" failed", string(t.Code)+": "+t.Summary, "`relay task show "+t.TaskID+"`", host.ExitStopped
	default:
		return
	}
	tell(r, o, n)
}

// tellRun tells how a run over the task list ended, unless the operator has just ended it.
func tellRun(r *host.Repo, o *host.Opened, res *RunResult, err error) {
	if err != nil {
		f := diag.Internal(err)
		if f.Code == judge.BlockedLockHeld || errors.As(err, new(host.Interrupted)) { // typed beside a run, which continues; or just ended by him
			return
		}
		tell(r, o, Notice{Event: "end", Title: "relay: the pipeline needs you", Text: strings.TrimSuffix(f.What+": "+f.Why, ": "), Next: f.Fix, ExitCode: host.Explain(f.Code).ExitCode})
		return
	}
	if reason := pipeline.Reason(res.Reason); reason == pipeline.Interrupted || reason == pipeline.Drained {
		return
	}
	n := Notice{RunID: res.RunID, Event: "end", Title: "relay: the pipeline has ended", Next: res.Next, ExitCode: res.ExitCode}
	if res.ExitCode != host.ExitDone {
		n.Title = "relay: the pipeline needs you"
	}
	n.Text = res.Ended()
	if res.Why != "" {
		n.Text += ": " + res.Why
	}
	for _, s := range []prd.Status{prd.Completed, prd.Failed, prd.Pending} {
		if c := res.Counts[string(s)]; c > 0 {
			n.Text += fmt.Sprintf(", %d %s", c, s)
		}
	}
	tell(r, o, n)
}
