package diag

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/paxiom/relay/host/change/fault"
)

// Each kind of fault has all of its words, for a person and for a log.
func TestFaultsHaveWords(t *testing.T) {
	for kind := fault.InTheWay; kind <= fault.BranchNotMade; kind++ {
		path := "p q"
		if kind == fault.Busy {
			path = "rebase"
		}
		e := &fault.Error{Kind: kind, Path: path, In: "c", Paths: []string{"d"}, Base: "1", Commit: "2", Head: "3", Why: "so", Err: errors.New("cause")}
		f, ok := As(fmt.Errorf("around: %w", e))
		if !ok || f.What == "" || f.Why == "" || !strings.Contains(f.Fix, "`") || f.Code != e.Code() || !errors.Is(f, e.Err) {
			t.Errorf("%d: %+v", kind, f)
		}
		if text := e.Error(); strings.HasPrefix(text, path) || f.Code == "" && kind < fault.BranchName {
			t.Errorf("%d: %q, code %q", kind, text, f.Code)
		}
		if strings.Contains(f.Fix, "p q") && !strings.Contains(f.Fix, "'p q'") && kind != fault.Date {
			t.Errorf("%d can't be typed: %s", kind, f.Fix)
		}
	}
}
