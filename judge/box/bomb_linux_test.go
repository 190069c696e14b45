package box_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	. "github.com/paxiom/relay/judge/box"
)

// What only forks is held by the kernel, so that nobody beside the box can't start a
// process any more, and ended by the watch, which names the cause. The bombs are small
// and stay: one that ended by itself before anybody looked would be no case for a limit.
func TestForkBombs(t *testing.T) {
	eachMeans(t, func(t *testing.T, means string) {
		t.Parallel()
		w := newWorld(t).under(means)
		b := w.box()
		mark := fmt.Sprint(os.Getpid(), "88", len(means))
		for name, script := range map[string]string{
			"whose first process ends at once": "bomb() { bomb | bomb & exec sleep 600.MARK; }; bomb 2>/dev/null & for i in $(seq 60); do sleep 600.MARK & done; exit 0",
			"one group":                        "bomb() { bomb | bomb & exec sleep 600.MARK; }; bomb 2>/dev/null",
			"sessions of their own":            "for i in $(seq 60); do setsid sleep 600.MARK & done; exec sleep 600.MARK",
			"in a daemon":                      "setsid sh -c 'bomb() { bomb | bomb & exec sleep 600.MARK; }; bomb' >/dev/null 2>&1 & exec sleep 600.MARK",
		} {
			script = strings.ReplaceAll(script, "MARK", mark)
			out, state := start(t, b, Proc{Argv: []string{"sh", "-c", script}, Env: testEnv(b), Confine: Confine{Limits: Limits{Processes: 40}}})
			if state.Exceeded == nil || state.Exceeded.Limit != LimitProcesses || state.OK() {
				t.Errorf("%s: %+v\n%.500s", name, state, out)
			}
			if n := left(mark); n > 0 {
				t.Errorf("%s: %d processes are left", name, n)
			}
		}
	})
}

// How many a box can have before the kernel refuses one more, whether or not somebody
// looks in time.
func TestProcessesAreHeldByTheKernel(t *testing.T) {
	eachMeans(t, func(t *testing.T, means string) {
		t.Parallel()
		const most = 20
		held := most + HeadroomFor(most)
		switch root := os.Getuid() == 0; {
		case means != Overlay && !root:
			held = most + 2048 // with all else of this user
		case means != Overlay:
			if !Grouped() {
				t.Skip("this root can't make a control group, and nothing else binds it")
			}
			held = most + 64
		case !root:
		case OwnPidMax():
			held += ReservedPids
		default:
			t.Skip("before Linux 6.14 nothing binds root")
		}
		b := newWorld(t).under(means).box()
		out, state := start(t, b, Proc{Argv: []string{"perl", "-e", "$| = 1; while (defined($p = fork)) { $p or exec 'sleep', 20; print ++$n, qq(\n) } print qq(refused\n); sleep 20"},
			Env: testEnv(b), Confine: Confine{Limits: Limits{Processes: most}}})
		made, _ := strconv.Atoi(lastNumber(out))
		if made == 0 || made > held || state.Exceeded == nil {
			t.Errorf("%d processes were made, %d is the most there can be: %+v", made, held, state)
		}
		t.Logf("%d of at most %d; refused: %t", made, held, strings.Contains(out, "refused"))
	})
}

func lastNumber(out string) string {
	fields := strings.Fields(strings.ReplaceAll(out, "refused", ""))
	if len(fields) == 0 {
		return ""
	}
	return fields[len(fields)-1]
}

// How many processes there were in the course of time is not limited.
func TestManyProcessesOneAfterAnother(t *testing.T) {
	eachMeans(t, func(t *testing.T, means string) {
		t.Parallel()
		b := newWorld(t).under(means).box()
		script := "i=0; while [ $i -lt 200 ]; do (exit 0) | (exit 0); i=$((i+1)); done; echo done"
		out, state := start(t, b, Proc{Argv: []string{"sh", "-c", script}, Env: testEnv(b), Confine: Confine{Limits: Limits{Processes: 30}}})
		if !state.OK() || out != "done\n" {
			t.Errorf("%+v %q", state, out)
		}
	})
}
