package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/paxiom/relay/fleet/internal/job"
	"github.com/paxiom/relay/fleet/internal/runner"
)

// soon is how late at most a worker tells the engine that a run is under way, and hears that it was stopped.
const soon = 200 * time.Millisecond

// mostMirrors is of how many repositories a worker is asked first: each has a queue, and a connection's stream that waits there.
const mostMirrors = 50

// queues are those that a worker takes runs from.
type queues struct {
	client.Client
	tick func(context.Context, job.Step) (job.Result, error)

	mu    sync.Mutex
	all   map[string]worker.Worker
	ended bool
}

// take takes from a queue from now on, and not twice.
func (q *queues) take(name string, o worker.Options, more ...func(worker.Worker)) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended || q.all[name] != nil {
		return nil
	}
	o.WorkerStopTimeout = 5 * time.Second
	// Else the SDK sends a heartbeat so seldom that a stop is heard of late.
	o.MaxHeartbeatThrottleInterval, o.DefaultHeartbeatThrottleInterval = soon, soon
	w := worker.New(q.Client, name, o)
	w.RegisterActivityWithOptions(q.tick, activity.RegisterOptions{Name: job.TickType})
	for _, register := range more {
		register(w)
	}
	if err := w.Start(); err != nil {
		return err
	}
	q.all[name] = w
	return nil
}

// mirror takes runs of a repository that this worker has.
func (q *queues) mirror(label, remote string) {
	name := job.Mirrors(label, job.Mirror(remote))
	q.mu.Lock()
	full := len(q.all) > mostMirrors
	q.mu.Unlock()
	if full {
		return
	}
	if err := q.take(name, worker.Options{DisableWorkflowWorker: true, MaxConcurrentActivityTaskPollers: 1}); err != nil {
		fmt.Fprintf(os.Stderr, "runs of a repository that is here may go elsewhere: %v\n", err)
	}
}

func (q *queues) stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	var under sync.WaitGroup
	for _, w := range q.all {
		under.Go(w.Stop)
	}
	under.Wait()
}

// bySlots is a worker whose runs take the slots that all queues share.
func bySlots(slots *runner.Slots) (worker.Options, error) {
	others, err := worker.NewFixedSizeSlotSupplier(1000) // as many as the SDK has without
	if err != nil {
		return worker.Options{}, err
	}
	tuner, err := worker.NewCompositeTuner(worker.CompositeTunerOptions{WorkflowSlotSupplier: others, ActivitySlotSupplier: slots,
		LocalActivitySlotSupplier: others, NexusSlotSupplier: others, SessionActivitySlotSupplier: others})
	return worker.Options{Tuner: tuner}, err
}
