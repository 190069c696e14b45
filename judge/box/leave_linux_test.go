package box_test

import (
	"os/exec"
	"testing"
	"time"
)

// Who ends a box can read it at once, however long it takes to go: by the means copy
// the repository is put back on the way, and a plugin's end is not waited for that long.
func TestEndedBoxIsWaitedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.box()
	cmd := exec.Command("sleep", "1000")
	check(t, cmd.Start())
	p, err := b.Slow(cmd.Process, 200*time.Millisecond)
	check(t, err)
	if _, err := b.Touched(t.Context(), nil); err == nil {
		t.Error("a running box was read")
	}
	p.Kill()
	if _, err := b.Touched(t.Context(), nil); err != nil {
		t.Error("a box on its way out is not waited for: ", err)
	}
	p.Wait()
}
