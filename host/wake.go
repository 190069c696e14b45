package host

import (
	"context"

	"github.com/paxiom/relay/host/cycle"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/lock"
	"github.com/paxiom/relay/host/loop"
	"github.com/paxiom/relay/host/pipeline"
)

// WakeResult says which waits were ended.
type WakeResult struct {
	Doc
	Loop   *LoopSeen   `json:"loop,omitempty"`   // as it was
	Cycles []CycleLine `json:"cycles,omitempty"` // as they were
	Tasks  []string    `json:"tasks,omitempty"`  // of the pipeline that waited
	// Pipeline: a process works on the tasks, and continues with them now.
	Pipeline bool   `json:"pipeline,omitempty"`
	Next     string `json:"next"`
}

// Wake ends the waits of this workspace's loop, cycles and pipeline for vendors' limits,
// or that of one cycle: everything that is configured is asked again now.
func (r *Repo) Wake(_ context.Context, id string) (*WakeResult, error) {
	o, err := r.Look()
	if err != nil {
		return nil, err
	}
	res := &WakeResult{Doc: DocOf("relay.wake", 1), Next: "`relay status`"}
	uuid := ""
	if id != "" {
		uuid, err = cycle.Find(o.WS, id)
	} else {
		res.Loop, err = loop.Wake(o.WS)
	}
	if err != nil {
		return nil, err
	}
	woken, err := cycle.Wake(o.WS, uuid)
	if err != nil {
		return nil, err
	}
	for _, c := range woken {
		res.Cycles = append(res.Cycles, cycleLine(o.WS, c, r.Now()))
		if !cycle.Running(o.WS, c.UUID) {
			res.Next = "`relay audit resume " + cycle.Short(c.UUID) + "`"
		}
	}
	if id == "" {
		if res.Tasks, err = pipeline.Wake(o.WS); err != nil {
			return nil, err
		}
		state, info, err := lock.Inspect(o.WS.Lock())
		res.Pipeline = err == nil && state == lock.Held && info != nil && info.Command == pipeline.Command
	}
	switch {
	case res.Loop == nil && len(woken) == 0 && len(res.Tasks) == 0:
		return nil, diag.New("", "no loop waits here, and no cycle or pipeline", "only a loop, a cycle or a pipeline that met a vendor's limit waits", "`relay status`")
	case res.Loop == nil && len(woken) == 0 && res.Pipeline:
		res.Next = "`relay pipeline status`"
	case res.Loop == nil && len(woken) == 0:
		res.Next = "`relay pipeline run` continues it"
	case res.Loop != nil && !res.Loop.Running:
		res.Next = "`relay loop --resume`"
	}
	return res, nil
}
