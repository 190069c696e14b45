package change

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/paxiom/relay/host/change/fault"
)

// A disk that fails is no change of the operator's.
func TestUnseen(t *testing.T) {
	for err, his := range map[error]bool{syscall.ENOTDIR: true, syscall.ELOOP: true, syscall.EIO: false, syscall.EACCES: false} {
		if f := unseen("a", fmt.Errorf("lstat a: %w", err)); fault.Mine(f) != his {
			t.Errorf("%v: %v", err, f)
		}
	}
}
