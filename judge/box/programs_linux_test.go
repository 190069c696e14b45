package box_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	. "github.com/paxiom/relay/judge/box"
)

// held starts a program that may start no other.
func held(t *testing.T, b *Box, name string, args ...string) (*Process, error) {
	t.Helper()
	path, err := exec.LookPath(name)
	check(t, err)
	exe, err := os.Open(path)
	check(t, err)
	defer exe.Close()
	return b.Start(Proc{Exe: exe, Argv: append([]string{name}, args...), Env: testEnv(b), Confine: Confine{Grants: Grants{Held: true, Read: nowhere}}})
}

// nowhere are many paths that lead nowhere: pid 1 makes a lot of garbage of them, just
// before it starts its child.
var nowhere = func() (paths []string) {
	for i := range 40000 {
		paths = append(paths, fmt.Sprintf("/nowhere/at/all/that/anybody/would/look/for/%d", i))
	}
	return paths
}()

// Between the fork and the exec of the child one thread of pid 1 stands still until
// another has answered for the exec: a collection of garbage that continues meanwhile must
// not take the answer's place.
func TestHeldStartsWithGarbage(t *testing.T) {
	w := newWorld(t)
	b := w.box()
	for range 10 {
		run, err := held(t, b, "true")
		if err != nil {
			t.Fatal(err)
		}
		if state, err := run.Wait(); err != nil || !state.OK() {
			t.Fatalf("%+v %v", state, err)
		}
	}
}

// What a program does in its first moment is told like anything else that it does.
func TestUngrantedAtOnce(t *testing.T) {
	w := newWorld(t)
	b := w.box()
	for range 10 {
		run, err := held(t, b, "env", "/bin/true")
		if err != nil {
			t.Fatal(err)
		}
		state, err := run.Wait()
		if err != nil || state.Exceeded == nil {
			t.Fatalf("%+v %v", state, err)
		}
		if kind, name := state.Exceeded.Ungranted(); kind != "program" {
			t.Fatalf("%s %s", kind, name)
		}
	}
}
