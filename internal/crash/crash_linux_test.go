package crash

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// kills is how many kills the test makes: `make crash` asks for 300.
func kills(t *testing.T) int {
	if n, err := strconv.Atoi(os.Getenv("RELAY_KILLS")); err == nil && n > 0 {
		return n
	}
	if testing.Short() {
		return 16
	}
	return 40
}

// victim is a loop of one tick.
var victim = []string{"loop", "--mode", "autonomous", "--max-ticks", "1", "--quiet"}

// moments lists the calls to the disk that an undisturbed loop makes.
func moments(t *testing.T) []string {
	w := newWorld(t)
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

// The real program is killed before each of its writes, syncs, renames and removals,
// and at random instants; then it is started again.
func TestKilledAnywhere(t *testing.T) {
	begin, all := time.Now(), kills(t)
	points := moments(t)
	jobs := make(chan int)
	go func() {
		defer close(jobs)
		for i := range all {
			switch at := i * 3 / 2; {
			case i%3 == 2:
				jobs <- 0 // a random instant
			default:
				jobs <- 1 + (at*len(points)/max(all, 1)+at)%len(points)
			}
		}
	}()
	var total struct {
		sync.Mutex
		kills, recovered int
		points           map[int]bool
	}
	total.points = map[int]bool{}
	var wg sync.WaitGroup
	for range max(2, runtime.NumCPU()) {
		wg.Go(func() {
			w := newWorld(t)
			for at := range jobs {
				w.kill(at)
				total.Lock()
				total.points[at] = true
				total.Unlock()
			}
			total.Lock()
			defer total.Unlock()
			total.kills, total.recovered = total.kills+w.kills, total.recovered+w.recovered
		})
	}
	wg.Wait()
	if total.kills < all*9/10 {
		t.Errorf("only %d of %d kills came before the end of the loop", total.kills, all)
	}
	if !t.Failed() {
		fmt.Printf("%d kills at %d of %d moments and at random, %d recoveries, orphans 0, lost calls 0, broken trees 0 (%s)\n",
			total.kills, len(total.points)-1, len(points), total.recovered, time.Since(begin).Round(time.Second))
	}
}

// kill ends a loop before its n-th call to the disk, or at a random instant, and
// settles what is left.
func (w *world) kill(n int) {
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
		w.kills++
	}
	w.settle(what)
}
