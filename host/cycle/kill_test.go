package cycle

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/paxiom/relay/host/internal/ledger"
)

// A cycle that is killed at any point is finished by the same commands as one that was
// not, with the same commits, and no answer is bought twice.
func TestKilledAtEveryPoint(t *testing.T) {
	whole := newWorld(t)
	if out, _ := whole.run(0); out != "done" {
		t.Fatalf("an undisturbed cycle: %s", out)
	}
	points := whole.reached()
	if len(points) < 30 {
		t.Fatalf("only %d points: %v", len(points), points)
	}
	step := 1
	if testing.Short() {
		step = 7
	}
	kills := 0
	for n := 1; n <= len(points); n += step {
		killed(t, n, points[n-1])
		kills++
	}
	t.Logf("%d points, %d kills", len(points), kills)
}

func (w *world) reached() []string {
	b, err := os.ReadFile(w.points())
	must(w.t, err)
	return strings.Fields(string(b))
}

func killed(t *testing.T, n int, point string) {
	t.Helper()
	w := newWorld(t)
	out, state := w.run(n)
	if ws, ok := state.Sys().(syscall.WaitStatus); !ok || ws.Signal() != syscall.SIGKILL {
		t.Fatalf("point %d (%s): not killed: %s", n, point, out)
	}
	if out, _ := w.run(0); out != "done" {
		t.Fatalf("point %d (%s): the next relay says %s", n, point, out)
	}
	all, err := List(w.env().WS)
	must(t, err)
	var rec *Record
	for _, r := range all {
		if r.State == Complete {
			rec = r
		}
	}
	if rec == nil {
		t.Fatalf("point %d (%s): no cycle is complete", n, point)
	}
	if got := w.git("rev-list", "--count", "main.."+rec.Branch); got != "2" {
		t.Errorf("point %d (%s): %s commits on the branch", n, point, got)
	}
	if got := w.git("show", rec.Branch+":src/a.txt"); got != "one\nthree" {
		t.Errorf("point %d (%s): the branch has %q", n, point, got)
	}
	w.once(n, point, rec)
	for i, tr := range rec.Transitions[1:] {
		if !may(rec.Transitions[i].To, tr.To, tr.By) {
			t.Errorf("point %d (%s): %s -> %s", n, point, rec.Transitions[i].To, tr.To)
		}
	}
}

// once fails unless each call has exactly one good line of usage. One that was under
// way may have another line, of unknown cost.
func (w *world) once(n int, point string, rec *Record) {
	w.t.Helper()
	good, lost := map[string]int{}, 0
	must(w.t, ledger.Usages(w.env().WS, func(l ledger.Line) error {
		switch {
		case l.CycleID != rec.UUID:
		case l.Outcome == "ok":
			good[l.CallID[:strings.LastIndex(l.CallID[:strings.LastIndex(l.CallID, "-")], "-")]]++
		case l.Outcome == "interrupted" && l.CostUSD == nil:
			lost++
		default:
			w.t.Errorf("point %d (%s): %+v", n, point, l)
		}
		return nil
	}))
	if len(good) != 8 {
		w.t.Errorf("point %d (%s): %d calls: %v", n, point, len(good), good)
	}
	for id, times := range good {
		if times != 1 {
			w.t.Errorf("point %d (%s): %s was bought %d times", n, point, id, times)
		}
	}
	if lost > 2 { // at most both auditors
		w.t.Errorf("point %d (%s): %d calls lost", n, point, lost)
	}
	if len(rec.Calls) != 8 {
		w.t.Errorf("point %d (%s): state.json has %d calls", n, point, len(rec.Calls))
	}
}
