package isolation

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/paxiom/relay/judge/box"
)

// The process that tries out a box from inside: its argv[0], and the variable with what it
// is told.
const (
	trialName = "relay: box trial"
	trialOf   = "RELAY_BOX_TRIAL"
)

func init() { box.As(trialName, runTrial) }

// Support is what a machine allows.
type Support struct {
	// Means is the strongest means that works; "" when none does.
	Means  string
	Trials []Trial
}

// Trial is how one means did.
type Trial struct {
	Means string
	OK    bool
	// Why and Fix say, when it is not OK, what stood in the way and what to do.
	Why, Fix string
	// Gaps are what it does not stop, one sentence each.
	Gaps []string
}

// Probe tries each means for real in a throw-away folder below stateDir: it mounts or
// copies, writes, deletes, renames, tries to get out, and reads back. An error means
// that the trial itself could not be made (stateDir not writable); a means that is not
// allowed is no error.
func Probe(ctx context.Context, stateDir string) (Support, error) {
	var s Support
	for _, means := range box.Ladder() {
		t, err := probe(ctx, stateDir, means)
		if err != nil {
			return Support{}, err
		}
		s.Trials = append(s.Trials, t)
		if t.OK && s.Means == "" {
			s.Means = means
		}
	}
	return s, nil
}

// probe tries one means.
func probe(ctx context.Context, stateDir, means string) (Trial, error) {
	t := Trial{Means: means}
	dir := filepath.Join(stateDir, "probe-"+rand.Text())
	if err := os.MkdirAll(filepath.Join(dir, "state"), 0o700); err != nil {
		return t, &box.Error{Op: "try a box", Path: dir, Err: err}
	}
	defer box.RemoveTree(dir)
	err := tryMeans(ctx, dir, means)
	e, ok := errors.AsType[*box.Error](err)
	switch {
	case err == nil:
		t.OK, t.Gaps = true, box.GapsOf(means)
	case !ok || !e.Unsupported && ctx.Err() == nil && e.Err != nil && e.Op != trialOp:
		return t, err
	default:
		if t.Why, t.Fix = e.Why, e.Fix; t.Why == "" {
			t.Why = e.Error()
		}
	}
	return t, nil
}

const trialOp = "use a box"

// tryMeans runs a trial in a real box and checks what is read back.
func tryMeans(ctx context.Context, dir, means string) error {
	root := filepath.Join(dir, "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"changed", "deleted", "renamed"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(name), 0o644); err != nil {
			return err
		}
	}
	b, err := box.New(box.Spec{Means: means, Root: root, StateDir: filepath.Join(dir, "state"), Layer: filepath.Join(dir, "state", "layer")})
	if err != nil {
		return err
	}
	defer b.Discard()
	self, err := box.OpenSelf()
	if err != nil {
		return err
	}
	defer self.Close()
	said, say, err := os.Pipe()
	if err != nil {
		return err
	}
	defer said.Close()
	run, err := b.Start(box.Proc{Exe: self, Argv: []string{trialName}, Env: []string{trialOf + "=" + means + ":" + root}, Stderr: say})
	say.Close()
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, run.Kill)()
	text := make([]byte, 500)
	n, _ := said.Read(text)
	if state, err := run.Wait(); err != nil || !state.OK() {
		return &box.Error{Op: trialOp, Unsupported: true, Why: strings.TrimSpace(string(text[:n])), Err: err}
	}
	t, err := b.Touched(ctx, nil)
	if err != nil {
		return err
	}
	want := []string{"changed 2", "deleted 3", "moved 1", "renamed 3"}
	if means == box.Copy {
		want = slices.Insert(want, 3, "planted 1")
	}
	var got []string
	for _, c := range t.Changes {
		got = append(got, fmt.Sprint(c.Path, " ", uint8(c.Kind)))
	}
	if !slices.Equal(got, want) {
		return &box.Error{Op: trialOp, Unsupported: true, Why: fmt.Sprintf("the layer holds %q instead of %q", got, want)}
	}
	if _, err := os.Lstat(filepath.Join(dir, "outside")); means != box.Copy && err == nil {
		return &box.Error{Op: trialOp, Unsupported: true, Why: "a file could be written outside the repository"}
	}
	for _, name := range []string{"changed", "deleted", "renamed"} {
		if text, err := os.ReadFile(filepath.Join(root, name)); err != nil || string(text) != name {
			return &box.Error{Op: trialOp, Unsupported: true, Why: "what was changed in the real folder stayed", Err: err}
		}
	}
	if entries, err := os.ReadDir(root); err != nil || len(entries) != 3 {
		return &box.Error{Op: trialOp, Unsupported: true, Why: "what was made in the real folder stayed", Err: err}
	}
	return nil
}

// runTrial is the trial, in the box; its working folder is the root, or its copy.
func runTrial() {
	means, root, _ := strings.Cut(os.Getenv(trialOf), ":")
	err := errors.Join(
		os.WriteFile("changed", []byte("new"), 0o644),
		os.Remove("deleted"),
		os.Rename("renamed", "moved"))
	os.WriteFile(filepath.Join(filepath.Dir(root), "outside"), nil, 0o644) // must have no effect
	if means != box.Copy && os.WriteFile("/etc/relay-trial", nil, 0o644) == nil {
		err = errors.Join(err, errors.New("a file could be written outside the repository"))
	}
	if means != box.Overlay { // there root is what the box shows
		planted := os.WriteFile(filepath.Join(root, "planted"), nil, 0o644)
		if means == box.Copy {
			err = errors.Join(err, planted, os.Remove(filepath.Join(root, "deleted")))
		} else if planted == nil {
			err = errors.Join(err, errors.New("a file could be written in the real repository"))
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
