package box_test

import (
	"fmt"
	"os"
	"testing"

	. "github.com/paxiom/relay/judge/box"

	"golang.org/x/sys/unix"
)

// What a process sends to its pid 1 does not end the box.
func TestPid1IsDeaf(t *testing.T) {
	t.Parallel()
	if got := actor(t, newWorld(t).box(), "queue", ""); got != "ok" {
		t.Errorf("%q", got)
	}
}

// A child has no signal ignored since its pid 1 hears none.
func TestChildHearsSignals(t *testing.T) {
	t.Parallel()
	b := newWorld(t).box()
	out, state := start(t, b, Proc{Argv: []string{"sh", "-c", "grep SigIgn /proc/self/status; kill -SEGV $$"}, Env: testEnv(b)})
	if out != "SigIgn:\t0000000000000000\n" || state.Signal != unix.SIGSEGV {
		t.Errorf("%q %+v", out, state)
	}
}

// A box does not take the last inotify instance of its user.
func TestInotifyIsLeft(t *testing.T) {
	var got, most int
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_user_instances")
	check(t, err)
	fmt.Sscan(string(text), &most)
	fmt.Sscan(actor(t, newWorld(t).box(), "watch", ""), &got)
	if got > most/2 || got == 0 {
		t.Errorf("%d of %d", got, most)
	}
}

// What is written to the folder of a plugin's sockets counts.
func TestCountedBind(t *testing.T) {
	eachMeans(t, func(t *testing.T, means string) {
		t.Parallel()
		w := newWorld(t).under(means)
		check(t, os.Mkdir(w.dir+"/sockets", 0o700))
		w.spec.Binds = []Bind{{Path: w.dir + "/sockets", Writable: true, Counted: true}}
		b := w.box()
		out, state := start(t, b, Proc{Argv: []string{"sh", "-c", "head -c 200000000 /dev/zero > " + w.dir + "/sockets/f; sleep 20"}, Env: testEnv(b), Confine: Confine{Limits: Limits{Disk: 64 << 20}}})
		if state.Exceeded == nil || state.Exceeded.Limit != LimitDisk {
			t.Errorf("%+v %s", state, out)
		}
	})
}
