package host

import (
	"context"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/loop"
)

// WakeResult says which wait was ended.
type WakeResult struct {
	Doc
	Loop *LoopSeen `json:"loop"` // as it was
	Next string    `json:"next"`
}

// Wake ends the wait of this workspace's loop for a vendor's limit: everything that is
// configured is asked again now.
func (r *Repo) Wake(context.Context) (*WakeResult, error) {
	o, err := r.open()
	if err != nil {
		return nil, err
	}
	l, err := loop.Wake(o.ws)
	if err != nil {
		return nil, err
	}
	if l == nil {
		return nil, fault.New("", "no loop waits here", "only a loop that met a vendor's limit waits", "`relay status`")
	}
	res := &WakeResult{Doc: Doc{"relay.wake", 1}, Loop: l, Next: "`relay status`"}
	if !l.Running {
		res.Next = "`relay loop --resume`"
	}
	return res, nil
}
