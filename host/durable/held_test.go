package durable_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"

	"github.com/paxiom/relay/host/durable"
)

func busy(t *testing.T, s *session) {
	other := open(t, s.dir, s.clock)
	_, err, _ := s.run("r", 1, func(durable.Flow) error {
		if _, err := other.Run(context.Background(), "r", "test", 1, func(durable.Flow) error { return nil }); !errors.Is(err, durable.ErrBusy) {
			t.Errorf("second process: %v", err)
		}
		st, err := other.State("r")
		must(t, err)
		want(t, "status seen by another", st.Status, durable.Running)
		return nil
	})
	must(t, err)
}

func looked(t *testing.T, s *session) {
	ctx, stop := context.WithCancel(context.Background())
	var lookers sync.WaitGroup
	for range 2 {
		other := open(t, s.dir, s.clock)
		lookers.Go(func() {
			for ; ctx.Err() == nil; runtime.Gosched() {
				if _, err := other.State("r"); err != nil && !errors.Is(err, durable.ErrUnknown) {
					t.Error(err)
				}
			}
		})
	}
	defer lookers.Wait()
	defer stop()
	for range 2000 { // as a run that was interrupted is taken up again and again
		if _, err, died := s.run("r", 1, func(durable.Flow) error { panic(crash{}) }); !died {
			t.Fatal(err)
		}
	}
}
