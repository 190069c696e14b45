package host

import (
	"strings"
	"testing"
)

func TestLoopNotice(t *testing.T) {
	n := loopNotice(&LoopResult{Reason: "task_done", Ticks: make([]LoopTick, 1)})
	if !strings.HasPrefix(n.Text, "the task is done; 1 tick, 0 landed") {
		t.Errorf("the notice says %q", n.Text)
	}
}
