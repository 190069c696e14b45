package crash

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/paxiom/relay/internal/sampling"
)

// kills is how many kills the test makes: `make crash` asks for 300, CI for fewer. With -short
// and nothing asked for, the test is left to them.
func kills(t *testing.T) int {
	if n, err := strconv.Atoi(os.Getenv("RELAY_KILLS")); err == nil && n > 0 {
		return n
	}
	if testing.Short() {
		t.Skip("kills take minutes: `make crash` makes them")
	}
	return 16
}

// victim is a loop of one tick.
var victim = []string{"loop", "--mode", "autonomous", "--max-ticks", "1", "--quiet"}

// moments lists the calls to the disk that an undisturbed loop makes.
func moments(t *testing.T) []string {
	w := newWorld(t)
	if out, code := w.relay("run", "--json"); code != 0 { // the first one writes more
		t.Fatalf("an undisturbed run ends with %d: %s", code, out)
	}
	var names []string
	cmd := w.command(victim...)
	watch(t, cmd, func(n int, s syscallSeen) (unix.Errno, bool) {
		names = append(names, s.name())
		return 0, false
	})
	if code := cmd.ProcessState.ExitCode(); code != 0 || len(names) < 50 {
		t.Fatalf("an undisturbed loop ends with %d after %d calls: %s%s", code, len(names), cmd.Stdout, cmd.Stderr)
	}
	w.whole("undisturbed")
	return names
}

// spread does n jobs over some worlds, side by side.
func spread(t *testing.T, n int, do func(w *world, i int)) (done, recovered int) {
	jobs := make(chan int, n)
	for i := range n {
		jobs <- i
	}
	close(jobs)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range max(2, runtime.NumCPU()) {
		wg.Go(func() {
			w := newWorld(t)
			defer func() {
				mu.Lock()
				defer mu.Unlock()
				done, recovered = done+w.ends, recovered+w.recovered
			}()
			for i := range jobs {
				do(w, i)
			}
		})
	}
	wg.Wait()
	return done, recovered
}

// pick spreads n choices over all moments.
func pick(i, n, moments int) int {
	if n >= moments {
		return 1 + i%moments
	}
	return 1 + i*moments/n
}

// The real program is killed before each of its writes, syncs, renames and removals,
// and at random instants; then it is started again.
func TestKilledAnywhere(t *testing.T) {
	begin, all := time.Now(), kills(t)
	points := moments(t)
	chosen := all * 2 / 3
	ended, recovered := spread(t, all, func(w *world, i int) {
		n := 0
		if i < chosen {
			n = pick(i, chosen, len(points))
		}
		for !w.kill(n) { // the loop was over before: it differs a little from run to run
			n = max(n-25, 0)
		}
	})
	if ended < all {
		t.Errorf("only %d of %d loops were killed", ended, all)
	}
	if !t.Failed() {
		fmt.Printf("%d kills (%d before one of %d calls to the disk, the others at random), %d recoveries, orphans 0, lost calls 0, broken trees 0 (%s)\n",
			ended, chosen, len(points), recovered, time.Since(begin).Round(time.Second))
	}
}

// relay undo is killed before each of its writes, syncs, renames and removals, or finds the disk
// full from there on. What the next start finds is as if nobody had asked for it, or a commit that
// the history and an attestation have.
func TestUndoKilledAnywhere(t *testing.T) {
	sampling.Rare(t)
	w := newWorld(t)
	tick := func() {
		if out, code := w.relay("run", "--json"); code != 0 {
			t.Fatalf("an undisturbed run ends with %d: %s", code, out)
		}
	}
	tick()
	tick()
	points := 0
	watch(t, w.command("undo"), func(n int, s syscallSeen) (unix.Errno, bool) { points = n; return 0, false })
	all, finished := min(points, kills(t)), 0
	for i := range all {
		tick()
		n, before := pick(i, all, points), w.git("rev-parse", "HEAD")
		full := i%2 == 1
		what := fmt.Sprintf("undo killed before call %d of %d", n, points)
		if full {
			what = fmt.Sprintf("undo with a disk full from call %d of %d on", n, points)
		}
		watch(t, w.command("undo"), func(i int, s syscallSeen) (unix.Errno, bool) {
			if full && i >= n && slices.Contains([]string{"create", "write", "mkdir"}, s.name()) {
				return unix.ENOSPC, false
			}
			return 0, !full && i == n
		})
		if out, code := w.relay("recover", "--json"); code != 0 {
			t.Fatalf("%s: recover ends with %d: %s", what, code, out)
		}
		if left, dirty := w.leftovers(), w.git("status", "--porcelain"); len(left) > 0 || dirty != "" {
			t.Errorf("%s: %v is left, %s", what, left, dirty)
		}
		if w.git("rev-parse", "HEAD") == before {
			if out, code := w.relay("undo"); code != 0 {
				t.Errorf("%s: undo once more ends with %d: %s", what, code, out)
			}
			continue
		}
		finished++
		if out, code := w.relay("verify"); code != 0 || !strings.Contains(out, "landed by relay undo of run") {
			t.Errorf("%s: verify ends with %d: %s", what, code, out)
		}
		out, _ := w.relay("history", "list", "--json")
		if run := trailer.FindStringSubmatch(w.git("log", "-1", "--format=%B")); !strings.Contains(out, run[1]) || w.git("rev-parse", "HEAD~1") != before {
			t.Errorf("%s: %s is not in the history: %s", what, run[1], out)
		}
	}
	if finished == 0 || finished == all {
		t.Errorf("%d of %d undos had landed", finished, all)
	}
	if !t.Failed() {
		fmt.Printf("%d ends of undo at one of %d calls to the disk, %d had landed: none without attestation and history\n", all, points, finished)
	}
}

// A sync that fails once, and a disk that is full from some moment on: relay says so and
// ends by itself, and the next start finds everything whole.
func TestDiskFailsAnywhere(t *testing.T) {
	begin, all := time.Now(), kills(t)/2
	points := moments(t)
	var syncs []int
	for i, name := range points {
		if name == "fsync" {
			syncs = append(syncs, i+1)
		}
	}
	failing := all / 2
	ended, recovered := spread(t, all, func(w *world, i int) {
		if i < failing {
			w.fail(syncs[pick(i, failing, len(syncs))-1], unix.EIO, "fsync")
		} else {
			w.fail(pick(i-failing, all-failing, len(points)), unix.ENOSPC, "create", "write", "mkdir")
		}
	})
	if ended < all/2 {
		t.Errorf("only %d of %d failures came before the end of the loop", ended, all)
	}
	if !t.Failed() {
		fmt.Printf("%d failures of the disk (%d syncs, the others full from one of %d calls on), %d recoveries, orphans 0, lost calls 0, broken trees 0 (%s)\n",
			ended, failing, len(points), recovered, time.Since(begin).Round(time.Second))
	}
}

// fail lets the disk fail: a sync once, other calls from the n-th on. Which call is the
// n-th differs a little from run to run, so the first of its kind from there on is taken.
func (w *world) fail(n int, with unix.Errno, kinds ...string) {
	cmd := w.command(victim...)
	what, hit := fmt.Sprintf("%v from call %d on", with, n), false
	watch(w.t, cmd, func(i int, s syscallSeen) (unix.Errno, bool) {
		if i < n || !slices.Contains(kinds, s.name()) || hit && with == unix.EIO {
			return 0, false
		}
		hit = true
		return with, false
	})
	said := fmt.Sprint(cmd.Stdout, cmd.Stderr)
	if !hit {
		return // the loop was over
	}
	w.ends++
	if code := cmd.ProcessState.ExitCode(); code < 0 || code > 3 || strings.Contains(said, "goroutine ") || strings.Contains(said, "internal error") {
		w.t.Errorf("%s: relay ends with %d: %s", what, code, said)
	}
	w.settle(what)
}

// kill ends a loop before its n-th call to the disk, or at a random instant, and
// settles what is left. It is false when the loop was over before.
func (w *world) kill(n int) (killed bool) {
	cmd := w.command(victim...)
	what := fmt.Sprintf("killed before call %d", n)
	if n == 0 {
		after := time.Duration(rand.IntN(250)) * time.Millisecond
		what = fmt.Sprintf("killed after %v", after)
		must(w.t, cmd.Start())
		timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		timer.Stop()
	} else {
		watch(w.t, cmd, func(i int, s syscallSeen) (unix.Errno, bool) {
			if i == n {
				what += ", a " + s.name()
			}
			return 0, i == n
		})
	}
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signal() == syscall.SIGKILL {
		w.ends, killed = w.ends+1, true
	}
	w.settle(what)
	return killed
}
