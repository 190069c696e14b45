package runner

import (
	"context"
	"slices"
	"sync"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/worker"
	"google.golang.org/grpc"
)

// Slots are how many runs a worker makes at a time, over all queues that it takes from. A poll of its label's queue reserves
// one before it knows of a run, so that no run waits here while another worker is free. The other queues' polls reserve none:
// a run from there takes a free slot, or that of a poll, which is called off.
type Slots struct {
	all int

	mu          sync.Mutex
	free        int
	first, last []chan struct{} // who waits for one: runs that are here, and polls
	polls       []*context.CancelFunc
}

// NewSlots are n slots.
func NewSlots(n int) *Slots { return &Slots{all: n, free: n} }

func (s *Slots) take(ctx context.Context, line *[]chan struct{}) error {
	s.mu.Lock()
	if s.free > 0 {
		s.free--
		s.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	*line = append(*line, turn)
	if line == &s.first && len(s.polls) > 0 {
		(*s.polls[0])()
		s.polls = s.polls[1:]
	}
	s.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(*line, turn); i >= 0 {
		*line = slices.Delete(*line, i, i+1)
		return ctx.Err()
	}
	return nil // it was given one at the same time
}

func (s *Slots) give() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range []*[]chan struct{}{&s.first, &s.last} {
		if len(*line) > 0 {
			close((*line)[0])
			*line = (*line)[1:]
			return
		}
	}
	s.free++
}

// CallOff lets polls of a queue be called off. One that brings a run all the same keeps its slot.
func (s *Slots) CallOff(queue string) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, req, reply any, c *grpc.ClientConn, next grpc.UnaryInvoker, o ...grpc.CallOption) error {
		if p, ok := req.(*workflowservice.PollActivityTaskQueueRequest); !ok || p.GetTaskQueue().GetName() != queue {
			return next(ctx, method, req, reply, c, o...)
		}
		limited, cancel := context.WithCancel(ctx)
		defer cancel()
		s.mu.Lock()
		if len(s.first) > 0 {
			s.mu.Unlock()
			return nil // with no run in the reply
		}
		s.polls = append(s.polls, &cancel)
		s.mu.Unlock()
		err := next(limited, method, req, reply, c, o...)
		s.mu.Lock()
		s.polls = slices.DeleteFunc(s.polls, func(p *context.CancelFunc) bool { return p == &cancel })
		s.mu.Unlock()
		if limited.Err() != nil && ctx.Err() == nil {
			return nil
		}
		return err
	}
}

// They are the slot supplier of the label's worker.

// ReserveSlot waits for a free one.
func (s *Slots) ReserveSlot(ctx context.Context, _ worker.SlotReservationInfo) (*worker.SlotPermit, error) {
	if err := s.take(ctx, &s.last); err != nil {
		return nil, err
	}
	return &worker.SlotPermit{}, nil
}

// TryReserveSlot is for activities that a workflow's worker begins at once: none of ours.
func (s *Slots) TryReserveSlot(worker.SlotReservationInfo) *worker.SlotPermit { return nil }

// MarkSlotUsed changes nothing: a reserved one counts already.
func (s *Slots) MarkSlotUsed(worker.SlotMarkUsedInfo) {}

// ReleaseSlot gives one back.
func (s *Slots) ReleaseSlot(worker.SlotReleaseInfo) { s.give() }

// MaxSlots is how many there are.
func (s *Slots) MaxSlots() int { return s.all }
