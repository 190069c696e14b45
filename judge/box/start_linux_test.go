package box_test

import (
	"errors"
	"os"
	"syscall"
	"testing"

	. "github.com/paxiom/relay/judge/box"
)

func TestExitStates(t *testing.T) {
	eachMeans(t, func(t *testing.T, means string) {
		t.Parallel()
		w := newWorld(t).under(means)
		b := w.box()
		for script, want := range map[string]ExitState{
			"exit 0":                             {},
			"exit 42":                            {Code: 42},
			"kill -TERM $$; sleep 5":             {Code: -1, Signal: syscall.SIGTERM},
			"kill -SEGV $$; sleep 5":             {Code: -1, Signal: syscall.SIGSEGV},
			"exec 1>&- 2>&-; sleep 0.05; exit 3": {Code: 3},
		} {
			if _, state := start(t, b, Proc{Argv: []string{"sh", "-c", script}, Env: testEnv(b)}); state != want {
				t.Errorf("%s: %+v", script, state)
			}
		}
		for name, p := range map[string]Proc{
			"no program":     {},
			"not found":      {Argv: []string{"no-such-program-at-all"}},
			"not executable": {Argv: []string{"/etc/passwd"}},
			"no folder":      {Argv: []string{"/bin/true"}, Dir: w.dir + "/none"},
		} {
			p.Env = testEnv(b)
			run, err := b.Start(p)
			if e, ok := errors.AsType[*Error](err); !ok || e.Unsupported || run != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		sh(t, b, "true") // and the box is usable after each of them
		if err := b.Discard(); err != nil {
			t.Error(err)
		}
		if err := b.Discard(); err != nil {
			t.Errorf("a second time: %v", err)
		}
	})
}

// A script works as the program that was handed over, too.
func TestExeScript(t *testing.T) {
	eachMeans(t, func(t *testing.T, means string) {
		t.Parallel()
		w := newWorld(t).under(means)
		w.write("state/plugin", "#!/bin/sh\necho \"script $1\"\n")
		check(t, os.Chmod(w.spec.StateDir+"/plugin", 0o755))
		exe, err := os.Open(w.spec.StateDir + "/plugin")
		check(t, err)
		defer exe.Close()
		out, state := start(t, w.box(), Proc{Exe: exe, Argv: []string{"x", "arg"}})
		if out != "script arg\n" || !state.OK() {
			t.Errorf("%q %+v", out, state)
		}
	})
}
