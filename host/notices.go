package host

import (
	"context"
	"fmt"
	"strings"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/daylog"
	"github.com/paxiom/relay/host/internal/notify"
	"github.com/paxiom/relay/host/loop"
	"github.com/paxiom/relay/host/pipeline"
	"github.com/paxiom/relay/host/pipeline/prd"
	"github.com/paxiom/relay/judge"
)

// LoopNotice tells the operator that a loop has come to its end.
type LoopNotice struct {
	LoopID   string     `json:"loop_id"`
	Reason   LoopReason `json:"reason"`
	Title    string     `json:"title"`
	Text     string     `json:"text"`
	Ticks    int        `json:"ticks"`
	Landed   int        `json:"landed"`
	Next     string     `json:"next"`
	ExitCode int        `json:"exit_code"`
}

func loopNotice(res *LoopResult) LoopNotice {
	n := LoopNotice{LoopID: res.LoopID, Reason: res.Reason, Ticks: len(res.Ticks), Next: res.Next, ExitCode: res.ExitCode}
	for _, t := range res.Ticks {
		if t.Commit != "" {
			n.Landed++
		}
	}
	n.Title = "relay: the loop has ended"
	if res.ExitCode != ExitDone {
		n.Title = "relay: the loop needs you"
	}
	n.Text = fmt.Sprintf("%s after %d ticks, %d landed", res.Reason, n.Ticks, n.Landed)
	if res.Why != "" {
		n.Text += ": " + res.Why
	}
	return n
}

// tellEnd says that a loop has ended, unless the operator has just ended it. The
// configuration is one that is trusted.
func (r *Repo) tellEnd(o *opened, cfg config.Notify, res *LoopResult) {
	if res.Reason == loop.Interrupted || res.Reason == loop.Drained {
		return
	}
	n := loopNotice(res)
	n.Title, n.Text = Safe(n.Title), Safe(n.Text)
	r.tell(o, cfg, n.LoopID, "loop", notify.Message{Title: n.Title, Text: n.Text, Data: n})
}

// PipelineNotice tells the operator of a question, a failure, a push that was refused, or
// the end of a run over the task list.
type PipelineNotice struct {
	RunID    string `json:"run_id"`
	Event    string `json:"event"` // question, failed, push or end
	TaskID   string `json:"task_id,omitempty"`
	Title    string `json:"title"`
	Text     string `json:"text"`
	Next     string `json:"next"`
	ExitCode int    `json:"exit_code"` // that of the run at its end; 1 or 2 before
}

func (r *Repo) tellPipeline(o *opened, n PipelineNotice) {
	n.Title, n.Text = Safe(n.Title), Safe(n.Text)
	r.tell(o, o.loaded.Config.Notify, n.RunID, "pipeline", notify.Message{Title: n.Title, Text: n.Text, Data: n})
}

// tellTask tells of a task that asks or failed.
func (r *Repo) tellTask(o *opened, t *TaskTrail) {
	n := PipelineNotice{RunID: t.PipelineID, TaskID: t.TaskID}
	switch {
	case t.Waiting != nil:
		n.Event, n.Title, n.Text, n.Next, n.ExitCode = "question", "relay: task "+t.TaskID+" waits for you", t.Waiting.Text, t.Waiting.Next(t.TaskID), ExitWaiting
	case t.Code != "" && t.Code != judge.Success:
		n.Event, n.Title, n.Text, n.Next, n.ExitCode = "failed", "relay: task "+t.TaskID+" failed", string(t.Code)+": "+t.Summary, "`relay task show "+t.TaskID+"`", ExitStopped
	default:
		return
	}
	r.tellPipeline(o, n)
}

// tellRun tells how a run over the task list ended, unless the operator has just ended it.
func (r *Repo) tellRun(o *opened, res *PipelineRun, err error) {
	if err != nil {
		f := fault.Internal(err)
		if f.Code == judge.BlockedLockHeld { // typed beside a run, which goes on
			return
		}
		r.tellPipeline(o, PipelineNotice{Event: "end", Title: "relay: the pipeline needs you", Text: strings.TrimSuffix(f.What+": "+f.Why, ": "), Next: f.Fix, ExitCode: Explain(f.Code).ExitCode})
		return
	}
	if reason := pipeline.Reason(res.Reason); reason == pipeline.Interrupted || reason == pipeline.Drained {
		return
	}
	n := PipelineNotice{RunID: res.RunID, Event: "end", Title: "relay: the pipeline has ended", Next: res.Next, ExitCode: res.ExitCode}
	if res.ExitCode != ExitDone {
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
	r.tellPipeline(o, n)
}

// tell uses every way that the configuration has on. One that fails is a line in the log.
func (r *Repo) tell(o *opened, cfg config.Notify, id, who string, m notify.Message) {
	err := notify.Send(context.Background(), cfg, o.root, r.opts.Env, m)
	if err != nil && o.ws.MkdirAll(o.ws.Logs()) == nil {
		_ = daylog.Append(o.ws.Logs(), r.now(), id, who, "notification failed: "+err.Error())
	}
}
