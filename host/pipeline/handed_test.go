package pipeline

import (
	"strings"
	"testing"

	"github.com/paxiom/relay/host/internal/hosttest"
	"github.com/paxiom/relay/internal/sampling"
)

// Killed while it makes a task under a key, and again while the result joins, a run is finished by the next one: what was bought
// is bought once, and lands once.
func TestKilledUnderAKey(t *testing.T) {
	sampling.Rare(t)
	t.Parallel()
	joins := []string{"pipeline.joining", "pipeline.replayed", "apply.planned", "apply", "committed", "pipeline.join", "pipeline.marked", "pipeline.recorded",
		"committed taken back", "pipeline.join taken back", "pipeline.marked taken back", "pipeline.recorded taken back"}
	if testing.Short() {
		joins = []string{"pipeline.replayed", "pipeline.marked"}
	}
	for i, point := range joins {
		point, back := strings.CutSuffix(point, " taken back") // as a worker does with what it has not pushed
		t.Run(joins[i], func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, task("a"), task("b"))
			w.simple("a")
			makes := []string{"pipeline.set-aside", "pipeline.left", "pipeline.code-1-1"}[i%3]
			if out, state := w.Child(makes, envKey+"=make"); !hosttest.Killed(state) {
				t.Fatalf("not killed at %s: %s", makes, out)
			}
			if w.left() == nil { // else it is found, and nothing is begun
				if out, _ := w.Child("", envKey+"=make"); !strings.HasPrefix(out, "done") {
					t.Fatalf("the next run says %s", out)
				}
			}
			if w.status("a") != "pending" {
				t.Errorf("it is %s", w.status("a"))
			}
			before := w.Git("rev-parse", "HEAD")
			if out, state := w.Child(point, envKey+"=join"); !hosttest.Killed(state) {
				t.Fatalf("not killed at %s: %s", point, out)
			}
			if back {
				w.Git("reset", "-q", "--hard", before)
			}
			for range 2 { // the second time there is nothing to do
				if out, _ := w.Child("", envKey+"=join"); !strings.HasPrefix(out, "done") {
					t.Fatalf("the next run says %s", out)
				}
			}
			log := "\n" + w.Git("log", "--format=%s") + "\n"
			for _, subject := range []string{"feat: add a", "feat: complete Title of a", "chore: a completed"} {
				if strings.Count(log, "\n"+subject+"\n") != 1 {
					t.Errorf("%q is not there once:%s", subject, log)
				}
			}
			if w.status("a") != "completed" || w.status("b") != "pending" || w.Read("src/a.txt") != "word a\nmore\n" {
				t.Errorf("%s, %s, %q", w.status("a"), w.status("b"), w.Read("src/a.txt"))
			}
			w.once(point)
			if left := w.leftovers(); left != "" {
				t.Errorf("left over: %s", left)
			}
		})
	}
}
