package cycle

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/paxiom/relay/host/internal/hosttest"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/internal/sampling"
)

// A cycle that is killed at any point is finished by the same commands as one that was
// not, with the same commits, and no answer is bought twice.
func TestKilledAtEveryPoint(t *testing.T) {
	sampling.Rare(t)
	t.Parallel()
	killedAtEvery(t, 17, func(t *testing.T) *world { return newWorld(t) }, func([]string) (from, to int) { return 1, 1 << 20 })
}

const builderYAML = `references: [docs/spec.md]
code: ["src/**"]
models:
  audit_a: {provider: replay, model: one}
  audit_b: {enabled: false}
  revision: {rotation: [external]}
cycle:
  test_command: [grep, -q, three, src/a.txt]
`

// builderWorld has a builder for a reviser: what it makes differs from time to time, and
// holds what git does not store as text.
func builderWorld(t *testing.T) *world {
	t.Helper()
	w := newWorldOf(t, map[string]string{"S": builderYAML})
	w.Write("build.sh", `case $(cat src/a.txt) in
one) printf 'one\nsecond\n' > src/a.txt; head -c 2000 /dev/urandom > src/blob ;;
*) printf 'one\nthree\n' > src/a.txt; chmod 755 src/a.txt ;;
esac
echo '{"summary": "done", "files_intended": [], "commands_ran": [], "notes": []}' > "$RELAY_OUTPUT_PATH"
`)
	w.Write("relay.config.json", strings.Replace(w.Read("relay.config.json"), "{", `{"builder":{"external":{"command":"sh","args":["build.sh"],"timeout_seconds":60}},`, 1))
	w.Git("add", "-A")
	w.Git("commit", "-qm", "a builder")
	return w
}

// Work that a builder had finished is not paid for again either, wherever relay is killed
// between its end and the record of the step.
func TestKilledAroundABuilder(t *testing.T) {
	sampling.Rare(t)
	t.Parallel()
	killedAtEvery(t, 11, builderWorld, func(points []string) (from, to int) {
		return slices.Index(points, "cycle.REVISION_RUNNING") + 1, slices.Index(points, "cycle.TESTING") + 1
	})
}

// killedAtEvery kills a cycle at its points, of which short takes every step-th, others each time.
func killedAtEvery(t *testing.T, step int, make func(t *testing.T) *world, between func(points []string) (from, to int)) {
	t.Helper()
	whole := make(t)
	if out, _ := whole.Child(""); out != "done" {
		t.Fatalf("an undisturbed cycle: %s", out)
	}
	points := whole.Points()
	calls := len(whole.complete("undisturbed").Calls)
	if len(points) < 30 {
		t.Fatalf("only %d points: %v", len(points), points)
	}
	from, to := between(points)
	if !testing.Short() {
		step = 1
	}
	kills := 0
	for n := from + sampling.Turn(step); n <= min(to, len(points)); n += step {
		w := make(t)
		killed := fmt.Sprintf("killed at %d (%s)", n, points[n-1])
		if out, state := w.Child(fmt.Sprint(n)); !hosttest.Killed(state) {
			t.Fatalf("%s: it was not: %s", killed, out)
		}
		if out, _ := w.Child(""); out != "done" {
			t.Fatalf("%s: the next relay says %s", killed, out)
		}
		w.finished(killed, "S", calls)
		kills++
	}
	t.Logf("%d points, %d kills", len(points), kills)
}

// complete is the record of the world's only cycle that came to its end.
func (w *world) complete(killed string) *Record {
	w.T.Helper()
	all, err := List(w.env().WS)
	must(w.T, err)
	i := slices.IndexFunc(all, func(r *Record) bool { return r.State == Complete })
	if i < 0 {
		w.T.Fatalf("%s: no cycle is complete", killed)
	}
	return all[i]
}

// finished fails unless the cycle of a service ended as it should, each of its calls
// having been bought once.
func (w *world) finished(killed, service string, calls int) {
	w.T.Helper()
	all, err := List(w.env().WS)
	must(w.T, err)
	i := slices.IndexFunc(all, func(r *Record) bool { return r.State == Complete && r.ServiceID == service })
	if i < 0 {
		w.T.Fatalf("%s: no cycle of %s is complete", killed, service)
	}
	rec := all[i]
	if got := w.Git("rev-list", "--count", "main.."+rec.Branch); got != "2" {
		w.T.Errorf("%s: %s commits on the branch", killed, got)
	}
	if got := w.Git("show", rec.Branch+":src/a.txt"); got != "one\nthree" {
		w.T.Errorf("%s: the branch has %q", killed, got)
	}
	w.once(killed, rec, calls)
	for i, tr := range rec.Transitions[1:] {
		if !may(rec.Transitions[i].To, tr.To, tr.By) {
			w.T.Errorf("%s: %s -> %s", killed, rec.Transitions[i].To, tr.To)
		}
	}
}

// once fails unless each call has exactly one good line of usage. One that was under
// way may have another line, of unknown cost.
func (w *world) once(killed string, rec *Record, calls int) {
	w.T.Helper()
	good, lost := map[string]int{}, 0
	must(w.T, ledger.Usages(w.env().WS, func(l ledger.Line) error {
		switch {
		case l.CycleID != rec.UUID:
		case l.Outcome == "ok":
			good[l.CallID[:strings.LastIndex(l.CallID, "-")]]++
		case l.Outcome == "interrupted" && l.CostUSD == nil:
			lost++
		default:
			w.T.Errorf("%s: %+v", killed, l)
		}
		return nil
	}))
	if len(good) != calls {
		w.T.Errorf("%s: %d calls: %v", killed, len(good), good)
	}
	for id, times := range good {
		if times != 1 {
			w.T.Errorf("%s: %s was bought %d times", killed, id, times)
		}
	}
	if lost > 2 { // at most both auditors
		w.T.Errorf("%s: %d calls lost", killed, lost)
	}
	if len(rec.Calls) != calls {
		w.T.Errorf("%s: state.json has %d calls", killed, len(rec.Calls))
	}
}

// Four services at once, each killed in another state and resumed beside the others.
func TestFourKilledSideBySide(t *testing.T) {
	sampling.Rare(t)
	t.Parallel()
	rounds := [][]State{
		{Initialized, AuditRunning, AuditComplete, AwaitingReview},
		{PlanApproved, RevisionRunning, Testing, AwaitingAcceptance},
		{Iterating, Complete, AuditRunning, RevisionRunning},
	}
	if testing.Short() {
		rounds = [][]State{{AuditRunning, RevisionRunning, Testing, Iterating}}
	}
	for _, states := range rounds {
		services := map[string]string{}
		for i := range states {
			services[fmt.Sprintf("S%d", i+1)] = serviceYAML
		}
		w := newWorldOf(t, services)
		each := func(do func(service string, kill State)) {
			var wg sync.WaitGroup
			for i, s := range states {
				wg.Go(func() { do(fmt.Sprintf("S%d", i+1), s) })
			}
			wg.Wait()
		}
		each(func(service string, kill State) {
			if out, state := w.Child("cycle."+string(kill), envService+"="+service); !hosttest.Killed(state) {
				t.Errorf("%s was not killed in %s: %s", service, kill, out)
			}
		})
		each(func(service string, kill State) {
			if out, _ := w.Child("", envService+"="+service); out != "done" {
				t.Errorf("%s, killed in %s: %s", service, kill, out)
			}
		})
		for i, s := range states {
			w.finished(fmt.Sprintf("killed in %s beside three others", s), fmt.Sprintf("S%d", i+1), 8)
		}
		if got := w.Git("status", "--porcelain"); got != "" {
			t.Errorf("the operator's checkout: %s", got)
		}
	}
}
