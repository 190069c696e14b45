package box

import (
	"testing"
	"time"
)

// Who ends a box can read it at once, however long it takes to go: by the means copy
// the repository is put back on the way, and a plugin's end is not waited for that long.
func TestEndedBoxIsWaitedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.box()
	p, err := b.Start(Proc{Argv: []string{"sleep", "1000"}, Env: testEnv(b)})
	check(t, err)
	if _, err := b.Touched(t.Context(), nil); err == nil {
		t.Error("a running box was read")
	}
	p.after = func() error { time.Sleep(200 * time.Millisecond); return nil }
	p.Kill()
	if _, err := b.Touched(t.Context(), nil); err != nil {
		t.Error("a box on its way out is not waited for: ", err)
	}
	p.Wait()
}
