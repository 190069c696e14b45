package host

import (
	"fmt"

	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/notify"
	"github.com/paxiom/relay/host/loop"
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
	n.Text = fmt.Sprintf("%s; %s, %d landed", res.Reason.Words(), format.Count(n.Ticks, "tick"), n.Landed)
	if res.Why != "" {
		n.Text += ": " + res.Why
	}
	return n
}

// tellEnd says that a loop has ended, unless the operator has just ended it. The
// configuration is one that is trusted.
func (r *Repo) tellEnd(o *Opened, cfg config.Notify, res *LoopResult) {
	if res.Reason == loop.Interrupted || res.Reason == loop.Drained {
		return
	}
	n := loopNotice(res)
	n.Title, n.Text = Safe(n.Title), Safe(n.Text)
	r.Tell(o, cfg, n.LoopID, "loop", notify.Message{Title: n.Title, Text: n.Text, Data: n})
}
