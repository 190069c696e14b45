//go:build linux || darwin

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

	"github.com/paxiom/relay/judge/box/internal/tree"
)

// trialName is the argv[0] of the process that tries out a box from inside.
const trialName = "relay: box trial"

// Probe tries each means for real in a throw-away folder below stateDir: it mounts or
// copies, writes, deletes, renames, tries to get out, and reads back. An error means
// that the trial itself could not be made (stateDir not writable); a means that is not
// allowed is no error.
func Probe(ctx context.Context, stateDir string) (Support, error) {
	var s Support
	for _, means := range Ladder() {
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
		return t, &Error{Op: "try a box", Path: dir, Err: err}
	}
	defer tree.Remove(dir)
	err := tryMeans(ctx, dir, means)
	e, ok := errors.AsType[*Error](err)
	switch {
	case err == nil:
		t.OK, t.Gaps = true, GapsOf(means)
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
	b, err := New(Spec{Means: means, Root: root, StateDir: filepath.Join(dir, "state"), Layer: filepath.Join(dir, "state", "layer")})
	if err != nil {
		return err
	}
	defer b.Discard()
	self, err := openSelf()
	if err != nil {
		return err
	}
	defer self.Close()
	said, say, err := os.Pipe()
	if err != nil {
		return err
	}
	defer said.Close()
	run, err := b.Start(Proc{Exe: self, Argv: []string{trialName, means, root}, Stderr: say})
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
	if means == Copy {
		want = slices.Insert(want, 3, "planted 1")
	}
	var got []string
	for _, c := range t.Changes {
		got = append(got, fmt.Sprint(c.Path, " ", uint8(c.Kind)))
	}
	if !slices.Equal(got, want) {
		return &Error{Op: trialOp, Unsupported: true, Why: fmt.Sprintf("the layer holds %q instead of %q", got, want)}
	}
	if _, err := os.Lstat(filepath.Join(dir, "outside")); means != Copy && err == nil {
		return &Error{Op: trialOp, Unsupported: true, Why: "a file could be written outside the repository"}
	}
	for _, name := range []string{"changed", "deleted", "renamed"} {
		if text, err := os.ReadFile(filepath.Join(root, name)); err != nil || string(text) != name {
			return &Error{Op: trialOp, Unsupported: true, Why: "what was changed in the real folder stayed", Err: err}
		}
	}
	if entries, err := os.ReadDir(root); err != nil || len(entries) != 3 {
		return &Error{Op: trialOp, Unsupported: true, Why: "what was made in the real folder stayed", Err: err}
	}
	return nil
}

// runTrial is the trial, in the box; its working folder is the root, or its copy.
func runTrial(means, root string) {
	err := errors.Join(
		os.WriteFile("changed", []byte("new"), 0o644),
		os.Remove("deleted"),
		os.Rename("renamed", "moved"))
	os.WriteFile(filepath.Join(filepath.Dir(root), "outside"), nil, 0o644) // must have no effect
	if means != Copy && os.WriteFile("/etc/relay-trial", nil, 0o644) == nil {
		err = errors.Join(err, errors.New("a file could be written outside the repository"))
	}
	if means != Overlay { // there root is what the box shows
		planted := os.WriteFile(filepath.Join(root, "planted"), nil, 0o644)
		if means == Copy {
			err = errors.Join(err, planted, os.Remove(filepath.Join(root, "deleted")))
		} else if planted == nil {
			err = errors.Join(err, errors.New("a file could be written in the real repository"))
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		quit(1)
	}
	quit(0)
}
