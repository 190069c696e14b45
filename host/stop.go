package host

import (
	"context"
	"os"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/lock"
	"github.com/paxiom/relay/host/internal/stoprequest"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/loop"
)

// StopOptions say how the relay that works here is to end.
type StopOptions struct {
	Drain bool          // after the tick under way
	Wait  time.Duration // how long to wait for it; 0 does not wait
}

// StopResult says what was asked of whom.
type StopResult struct {
	Doc
	Running  bool   `json:"running"` // somebody was at work
	PID      int    `json:"pid,omitempty"`
	LoopID   string `json:"loop_id,omitempty"` // the loop that was asked to stop
	RunID    string `json:"run_id,omitempty"`
	Drain    bool   `json:"drain"` // what is under way is finished first
	Ended    bool   `json:"ended"` // nobody is at work any more
	Next     string `json:"next,omitempty"`
	ExitCode int    `json:"exit_code"`
}

// Stop asks the loop or the run that works in this workspace to end, as the first
// Ctrl-C in its own terminal would, or with Drain a loop after the tick under way.
func (r *Repo) Stop(ctx context.Context, o StopOptions) (*StopResult, error) {
	repo, err := r.Look()
	if err != nil {
		return nil, err
	}
	res := &StopResult{Doc: DocOf("relay.stop", 1), Drain: o.Drain}
	if err := res.find(repo.WS); err != nil {
		return nil, err
	}
	if !res.Running {
		res.Ended = true
		return res, nil
	}
	if err := stoprequest.Write(repo.WS, res.PID, o.Drain); err != nil {
		return nil, diag.Wrap(err, "", "the request could not be written", "`ls -ld "+repo.WS.Rel()+"`")
	}
	deadline := time.Now().Add(o.Wait)
	for {
		now := &StopResult{}
		if err := now.find(repo.WS); err != nil {
			return nil, err
		}
		if !now.Running || now.PID != res.PID {
			res.Ended = true
			// It may have ended by itself before it saw the request.
			return res, stoprequest.Remove(repo.WS, res.PID)
		}
		if !time.Now().Before(deadline) {
			break
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
	res.Next = "`relay status` shows when it has ended"
	if !o.Drain {
		res.ExitCode = ExitWaiting
	}
	return res, nil
}

// find says who is at work: a loop, also between its ticks, or a single run.
func (s *StopResult) find(ws *workspace.Workspace) error {
	running, err := loop.Running(ws)
	if err != nil {
		return err
	}
	if running != nil && running.PID > 0 {
		s.Running, s.LoopID, s.PID = true, running.ID, running.PID
	}
	state, info, err := lock.Inspect(ws.Lock())
	if err != nil {
		return err
	}
	if state != lock.Held || info == nil {
		return nil
	}
	if here, err := os.Hostname(); err != nil || info.Host != here {
		return diag.New("", "the relay that works here is on another machine", "the lock names the machine "+Safe(info.Host), "`relay stop` there")
	}
	s.RunID = info.RunID
	if !s.Running {
		s.Running, s.PID = true, info.PID
	}
	return nil
}
