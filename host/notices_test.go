package host

import (
	"strings"
	"testing"
)

func TestLoopNoticeCountsOneTick(t *testing.T) {
	n := loopNotice(&LoopResult{Reason: "task_done", Ticks: make([]LoopTick, 1)})
	if !strings.HasPrefix(n.Text, "task_done after 1 tick, ") {
		t.Errorf("the notice says %q", n.Text)
	}
}
