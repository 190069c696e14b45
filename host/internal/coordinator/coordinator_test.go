package coordinator_test

import (
	"strconv"
	"sync"
	"testing"

	"github.com/paxiom/relay/host/internal/coordinator"
	"github.com/paxiom/relay/host/internal/coordinator/coordinatortest"
)

// However many change a document at once, none's change is lost, and another document is another's.
func TestChange(t *testing.T) {
	if coordinator.At("d") != nil || coordinator.Here() != "" {
		t.Fatal("there is one without a socket")
	}
	coordinatortest.Serve(t, "machine")
	if coordinator.Here() != "machine:" {
		t.Error(coordinator.Here())
	}
	other := coordinator.At("e/f")
	if err := other.Change(func([]byte) ([]byte, error) { return []byte("x"), nil }); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		d := coordinator.At("d")
		wg.Go(func() {
			for range 10 {
				err := d.Change(func(raw []byte) ([]byte, error) {
					n, _ := strconv.Atoi(string(raw))
					return []byte(strconv.Itoa(n + 1)), nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if raw, err := coordinator.At("d").Read(); string(raw) != "40" || err != nil {
		t.Errorf("%s %v", raw, err)
	}
	if raw, err := other.Read(); string(raw) != "x" || err != nil {
		t.Errorf("%s %v", raw, err)
	}
}

// What can't be asked is an error, and not an empty document.
func TestNobodyThere(t *testing.T) {
	t.Setenv(coordinator.Env, t.TempDir()+"/gone.sock")
	if raw, err := coordinator.At("d").Read(); err == nil {
		t.Errorf("%s", raw)
	}
}
