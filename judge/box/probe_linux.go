package box

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// trialName is the argv[0] of the process that tries out a box from inside.
const trialName = "relay: box trial"

// Probe tries each means for real in a throw-away folder below stateDir: it mounts,
// writes, deletes, renames and reads back. An error means that the trial itself
// could not be made (stateDir not writable); a means that is not allowed is no error.
func Probe(ctx context.Context, stateDir string) (Support, error) {
	dir := filepath.Join(stateDir, "probe-"+rand.Text())
	if err := os.MkdirAll(filepath.Join(dir, "state"), 0o700); err != nil {
		return Support{}, &Error{Op: "try a box", Path: dir, Err: err}
	}
	defer removeTree(dir)
	trial := Trial{Means: Overlay}
	err := tryOverlay(ctx, dir)
	if e, ok := errors.AsType[*Error](err); ok && !e.Unsupported && ctx.Err() == nil && e.Err != nil && e.Op != trialOp {
		return Support{}, err
	} else if ok {
		trial.Why, trial.Fix = e.Why, e.Fix
		if e.Why == "" {
			trial.Why = e.Error()
		}
	} else if err != nil {
		return Support{}, err
	} else {
		trial.OK, trial.Gaps = true, (&Box{}).Gaps()
	}
	s := Support{Trials: []Trial{trial}}
	if trial.OK {
		s.Means = Overlay
	}
	return s, nil
}

const trialOp = "use the overlay"

// tryOverlay runs a trial in a real box and checks what the layer says about it.
func tryOverlay(ctx context.Context, dir string) error {
	root := filepath.Join(dir, "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"changed", "deleted", "renamed"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(name), 0o644); err != nil {
			return err
		}
	}
	b, err := New(Spec{Root: root, StateDir: filepath.Join(dir, "state"), Layer: filepath.Join(dir, "state", "layer")})
	if err != nil {
		return err
	}
	defer b.Discard()
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer self.Close()
	said, say, err := os.Pipe()
	if err != nil {
		return err
	}
	defer said.Close()
	run, err := b.Start(Proc{Exe: self, Argv: []string{trialName, root}, Stderr: say})
	say.Close()
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, run.Kill)()
	text := make([]byte, 500)
	n, _ := said.Read(text)
	if state, err := run.Wait(); err != nil || !state.OK() {
		return &Error{Op: trialOp, Unsupported: true, Why: strings.TrimSpace(string(text[:n])), Err: err}
	}
	t, err := b.Touched(ctx, nil)
	if err != nil {
		return err
	}
	want := []string{"changed 2", "deleted 3", "moved 1", "renamed 3"}
	var got []string
	for _, c := range t.Changes {
		got = append(got, fmt.Sprint(c.Path, " ", uint8(c.Kind)))
	}
	if !slices.Equal(got, want) {
		return &Error{Op: trialOp, Unsupported: true, Why: fmt.Sprintf("the layer holds %q instead of %q", got, want)}
	}
	return nil
}

// runTrial is the trial, in the box.
func runTrial(root string) {
	err := errors.Join(
		os.WriteFile(filepath.Join(root, "changed"), []byte("new"), 0o644),
		os.Remove(filepath.Join(root, "deleted")),
		os.Rename(filepath.Join(root, "renamed"), filepath.Join(root, "moved")))
	if os.WriteFile("/etc/relay-trial", nil, 0o644) == nil {
		err = errors.Join(err, errors.New("a file could be written outside the repository"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		quit(1)
	}
	quit(0)
}

// Gaps says, in one sentence each, what this box does not stop.
func (b *Box) Gaps() []string {
	gaps := []string{
		"Files of the user outside the repository can be read.",
		"A service with a named pipe, or that opens a unix socket after the box was started, outside the home, temporary and runtime folders can be reached.",
	}
	for _, path := range b.spec.Persist {
		gaps = append(gaps, "What the builder writes to "+path+" stays.")
	}
	return gaps
}
