package box_test

import (
	"fmt"
	"os/exec"
	"runtime"
	"testing"

	. "github.com/paxiom/relay/judge/box"

	"golang.org/x/sys/unix"
)

// A crash in a box starts nothing on the machine: with a limit of 1 the kernel calls no
// core handler, with 0 it would, and a process of the box can't go back to that.
func TestNoCoreHandler(t *testing.T) {
	var have unix.Rlimit
	check(t, unix.Getrlimit(unix.RLIMIT_CORE, &have))
	if have.Max == 0 {
		t.Skip("this process may have no core dumps, and nobody can give back what was taken")
	}
	if !FiltersCalls {
		t.Skip("no filter for the system calls of " + runtime.GOARCH)
	}
	eachMeans(t, func(t *testing.T, means string) {
		t.Parallel()
		b := newWorld(t).under(means).box()
		for _, size := range []string{"0", "1000000"} {
			if got := actor(t, b, "cores", size); got != "1 1\nok" {
				t.Errorf("asked for %s: %q", size, got)
			}
		}
		out, state := start(t, b, Proc{Argv: []string{"sh", "-c", "ulimit -c 0; ulimit -n 100; ulimit -n; ulimit -s > /dev/null && echo read"}, Env: testEnv(b)})
		if !state.OK() || out != "100\nread\n" {
			t.Errorf("other limits: %+v %q", state, out)
		}
	})
}

// The kernel's keyrings are closed in a box, in each of the three ways of asking.
func TestKeysAreNotLeft(t *testing.T) {
	if !FiltersCalls {
		t.Skip("no filter for the system calls of " + runtime.GOARCH)
	}
	eachMeans(t, func(t *testing.T, means string) {
		t.Parallel()
		w := newWorld(t).under(means)
		name := "relay-test-" + means
		for _, verb := range []string{"keep-key", "find-key", "ask-key"} {
			if got := actor(t, w.box(), verb, name); got != "EPERM" {
				t.Errorf("%s: %s", verb, got)
			}
		}
		if id, err := unix.KeyctlSearch(unix.KEY_SPEC_USER_KEYRING, "user", name, 0); err == nil {
			unix.KeyctlInt(unix.KEYCTL_UNLINK, id, unix.KEY_SPEC_USER_KEYRING, 0, 0)
			t.Error("the key is in the user's keyring")
		}
	})
}

// Where a box sees the user's other processes, it sets none of their limits, priorities and
// processors: a limit of processor time would end them, and relay. Its own are its own.
func TestOthersKeepTheirLimits(t *testing.T) {
	if !FiltersCalls {
		t.Skip("no filter for the system calls of " + runtime.GOARCH)
	}
	for _, means := range []string{Landlock, Copy} {
		t.Run(means, func(t *testing.T) {
			t.Parallel()
			other := exec.Command("sleep", "60")
			check(t, other.Start())
			defer func() { other.Process.Kill(); other.Wait() }()
			b := newWorld(t).under(means).box()
			if got := actor(t, b, "reach", fmt.Sprint(other.Process.Pid)); got != "ok" {
				t.Errorf("not refused:\n%s", got)
			}
			var have unix.Rlimit
			check(t, unix.Prlimit(other.Process.Pid, unix.RLIMIT_CPU, nil, &have))
			if have.Max == 0 {
				t.Error("the limit of another process was set")
			}
			out, state := start(t, b, Proc{Env: testEnv(b), Argv: []string{"sh", "-c", "ulimit -n 100; ulimit -n; nice -n 5 true; taskset 1 echo bound; ionice -c 3 echo idle; prlimit --pid $$ --nofile --noheadings --raw -o SOFT"}})
			if !state.OK() || out != "100\nbound\nidle\n100\n" {
				t.Errorf("its own: %+v %q", state, out)
			}
		})
	}
}
