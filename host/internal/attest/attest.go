package attest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/paxiom/relay/judge"
)

// Ref is where the notes are.
const Ref = "refs/notes/relay"

// Time is how statements write a time.
const Time = time.RFC3339

// Options are what attesting needs besides the facts.
type Options struct {
	Git      *judge.Git
	StateDir string
	Home     string
	Environ  []string // that relay was called with; nil is the process's
	Sign     string   // evidence.sign
	Version  string   // relay's
	Now      time.Time
}

// Attach says of a commit that has landed what relay knows of it. It gives one sentence
// where something of that could not be done: the commit is there in any case.
func Attach(ctx context.Context, o Options, f Facts) (problem string) {
	if o.Sign == Off || f.Commit == "" {
		return ""
	}
	signed, err := o.attach(context.WithoutCancel(ctx), f)
	if err != nil {
		return "the commit has no attestation: " + err.Error()
	}
	if signed != nil {
		return "the commit's attestation is not signed, so nobody will believe it: " + signed.Error()
	}
	return ""
}

// Covered reports whether a commit has a note.
func Covered(ctx context.Context, git *judge.Git, commit string) bool {
	notes, err := notesIn(ctx, git, Ref)
	return err == nil && notes[commit] != ""
}

// attach gives as its first error why the attestation is not signed.
func (o *Options) attach(ctx context.Context, f Facts) (unsigned, err error) {
	found, err := landed(ctx, o.Git, f.Base, f.Commit)
	if err != nil {
		return nil, err
	}
	s := f.statement(found, o.Version, executable(Dir(o.StateDir)), o.Git.ObjectFormat, o.Now)
	payload := JSON(s)
	sig, print, unsigned := o.sign(ctx, pae(payloadType, payload))
	text := render(s.Predicate.Relay.Summary, payload, sig, print)
	if len(text) > maxNote {
		return nil, errors.New("what there is to say of it is too long")
	}
	out, err := o.Git.Write(ctx, nil, strings.NewReader(text), "hash-object", "-w", "--stdin")
	if err != nil {
		return nil, err
	}
	// git reads the ref, writes it, and does not look in between.
	if err := os.MkdirAll(Dir(o.StateDir), 0o700); err != nil {
		return nil, err
	}
	held := flock.New(filepath.Join(Dir(o.StateDir), "lock"))
	wait, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if ok, err := held.TryLockContext(wait, 5*time.Millisecond); err != nil || !ok {
		return nil, fmt.Errorf("the notes are being written by another process: %w", err)
	}
	defer held.Unlock()
	for _, c := range found.commits {
		_, err := o.Git.Write(ctx, nil, nil, "-c", "user.name=relay", "-c", "user.email=relay@localhost",
			"notes", "--ref="+Ref, "add", "-f", "-C", strings.TrimSpace(string(out)), c)
		if err != nil {
			return nil, err
		}
	}
	return unsigned, nil
}
