package runner

import (
	"context"
	"errors"
	"testing"
	"time"

	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
)

// A run that is here takes the slot of a poll that waits, but not that of a poll that brings a run at the same time; and it comes
// before polls that wait for one.
func TestSlots(t *testing.T) {
	s := NewSlots(1)
	poll := func(queue string, next func(context.Context) error) error {
		if _, err := s.ReserveSlot(t.Context(), nil); err != nil {
			return err
		}
		defer s.ReleaseSlot(nil)
		return s.CallOff("label")(t.Context(), "", &workflowservice.PollActivityTaskQueueRequest{TaskQueue: &taskqueuepb.TaskQueue{Name: queue}}, nil, nil,
			func(ctx context.Context, _ string, _, _ any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
				return next(ctx)
			})
	}
	take := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		return s.take(ctx, &s.first)
	}
	polling, ended := make(chan bool), make(chan error, 2)
	go func() {
		ended <- poll("label", func(ctx context.Context) error { polling <- true; <-ctx.Done(); return ctx.Err() })
	}()
	<-polling
	if err := errors.Join(take(), <-ended); err != nil {
		t.Error(err)
	}
	go func() { // waits, and another one behind it that is here
		ended <- poll("label", func(ctx context.Context) error { return errors.New("it came first") })
	}()
	time.Sleep(20 * time.Millisecond)
	go func() { time.Sleep(20 * time.Millisecond); s.give() }()
	if err := take(); err != nil {
		t.Error(err)
	}
	s.give()
	if err := <-ended; err == nil {
		t.Error("the poll that waited had no turn")
	}

	brings := make(chan bool)
	go func() { ended <- poll("label", func(context.Context) error { polling <- true; <-brings; return nil }) }()
	<-polling
	if err := take(); err == nil {
		t.Error("two runs have the one slot")
	}
	brings <- true
	if err := errors.Join(<-ended, take()); err != nil {
		t.Error(err)
	}
	s.give()
	go func() {
		ended <- poll("other", func(ctx context.Context) error { polling <- true; <-brings; return ctx.Err() })
	}()
	<-polling
	if take() == nil {
		t.Error("a poll of another queue is called off")
	}
	brings <- true
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
