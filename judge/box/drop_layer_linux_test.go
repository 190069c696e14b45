package box_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/paxiom/relay/judge/box"
)

func TestDiscard(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.box()
	sh(t, b, "echo built > built; mkdir deep; echo x > deep/x; chmod 000 deep")
	layer := b.Spec().Layer
	check(t, b.Discard())
	if _, err := os.Lstat(layer); !os.IsNotExist(err) {
		t.Errorf("the layer is still there: %v", err)
	}
	again := w.box() // under the same name
	if got := touched(t, again, nil); len(got.Changes) > 0 {
		t.Errorf("the new layer has %v", brief(got.Changes))
	}
	check(t, again.Discard())
	check(t, again.Discard())
	left, err := os.ReadDir(filepath.Dir(layer))
	check(t, err)
	for _, e := range left {
		if strings.HasPrefix(e.Name(), filepath.Base(layer)) {
			t.Errorf("%s is left", e.Name())
		}
	}
}

func TestDiscardInUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.box()
	run, err := b.Start(Proc{Argv: []string{"sleep", "60"}, Env: os.Environ()})
	check(t, err)
	defer func() { run.Kill(); run.Wait() }()
	if err := b.Discard(); err == nil {
		t.Error("the layer of a box with a process in it was taken away")
	}
}
