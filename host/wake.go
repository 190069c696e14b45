package host

import (
	"context"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/loop"
	"github.com/paxiom/relay/host/pipeline"
)

// WakeResult says which wait was ended.
type WakeResult struct {
	Doc
	Loop  *LoopSeen `json:"loop"`            // as it was; null when none waited
	Tasks []string  `json:"tasks,omitempty"` // of the pipeline that waited
	Next  string    `json:"next"`
}

// Wake ends the waits of this workspace's loop and pipeline for a vendor's limit:
// everything that is configured is asked again now.
func (r *Repo) Wake(context.Context) (*WakeResult, error) {
	o, err := r.open()
	if err != nil {
		return nil, err
	}
	l, err := loop.Wake(o.ws)
	if err != nil {
		return nil, err
	}
	tasks, err := pipeline.Wake(o.ws)
	if err != nil {
		return nil, err
	}
	res := &WakeResult{Doc: Doc{"relay.wake", 1}, Loop: l, Tasks: tasks, Next: "`relay status`"}
	switch {
	case l == nil && len(tasks) == 0:
		return nil, fault.New("", "no loop waits here", "only a loop or a pipeline that met a vendor's limit waits", "`relay status`")
	case l == nil:
		res.Next = "`relay pipeline status`"
	case !l.Running:
		res.Next = "`relay loop --resume`"
	}
	return res, nil
}
