package attest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/paxiom/relay/judge/git"
)

// Ref is where the notes are.
const Ref = "refs/notes/relay"

// Time is how statements write a time.
const Time = time.RFC3339

// Options are what attesting needs besides the facts.
type Options struct {
	Git      *git.Repo
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
	ctx = context.WithoutCancel(ctx)
	found, err := landed(ctx, o.Git, f.Base, f.Commit)
	if err != nil {
		return "the commit has no attestation: " + err.Error()
	}
	unsaid := o.approveHere(ctx, f.Approvals, touchedOf(found.touched).SHA256)
	unsigned, err := o.attach(ctx, f, found)
	switch {
	case err != nil:
		return "the commit has no attestation: " + err.Error()
	case unsigned != nil:
		return "the commit's attestation is not signed, so nobody will believe it: " + unsigned.Error() + "; `relay doctor` says what to do"
	case unsaid != nil:
		return "your key has not signed your approval: " + unsaid.Error()
	}
	return ""
}

// approveHere signs what was approved here, now that it is known what it was a yes to.
func (o *Options) approveHere(ctx context.Context, all []Approval, touched string) (why error) {
	for i, a := range all {
		if at, err := timeOf(a.At); err == nil && a.Here {
			all[i], err = o.Approve(ctx, Approved{Kind: a.Kind, Touched: touched}, at)
			why = errors.Join(why, err)
		}
	}
	return why
}

// Covered reports whether a commit has a note.
func Covered(ctx context.Context, git *git.Repo, commit string) bool {
	notes, err := notesIn(ctx, git, Ref)
	return err == nil && notes[commit] != ""
}

// addLater is the command by which a person adds a note that git did not take.
func addLater(blob string, commits []string) string {
	add := "git notes --ref=relay add -f -C " + blob + " "
	if len(commits) == 1 {
		return add + commits[0]
	}
	return "for c in " + strings.Join(commits, " ") + "; do " + add + "$c; done"
}

// attach gives as its first error why the attestation is not signed.
func (o *Options) attach(ctx context.Context, f Facts, found chain) (unsigned, err error) {
	s := f.statement(found, o.Version, executable(Dir(o.StateDir)), o.Git.ObjectFormat, o.Now)
	payload := JSON(s)
	sig, print, unsigned := o.sign(ctx, namespace, pae(payloadType, payload))
	if unsigned != nil { // the words for people are a part of the statement, and their last line asks to check the signature
		s.Predicate.Relay.Summary[len(s.Predicate.Relay.Summary)-1] = "not signed, so relay verify does not cover it"
		payload = JSON(s)
	}
	text := render(s.Predicate.Relay.Summary, payload, sig, print)
	if len(text) > maxNote {
		return nil, errors.New("what there is to say of it is too long")
	}
	out, err := o.Git.Write(ctx, nil, strings.NewReader(text), "hash-object", "-w", "--stdin")
	if err != nil {
		return nil, err
	}
	blob := strings.TrimSpace(string(out))
	if err := o.addNotes(ctx, blob, found.commits); err != nil { // what the note says is an object of the repository already
		return nil, fmt.Errorf("`%s` adds it once git can write notes: %w", addLater(blob, found.commits), err)
	}
	return unsigned, nil
}

// addNotes gives commits a note. `git notes` reads the ref, writes it, and does not look in
// between; fast-import moves it only from where it was read. So nothing is lost of what a
// fetch, or a relay of somebody else, writes at the same time: then the note is added to that.
func (o *Options) addNotes(ctx context.Context, blob string, commits []string) error {
	for {
		was, err := o.Git.Run(ctx, nil, "for-each-ref", "--format=%(objectname)", Ref)
		if err != nil {
			return err
		}
		in := fmt.Sprintf("commit %s\ncommitter relay <relay@localhost> %d +0000\ndata 0\n", Ref, o.Now.Unix())
		if len(was) > 0 {
			in += "from " + string(was)
		}
		for _, c := range commits {
			in += fmt.Sprintf("D %s\nD %s/%s\nD %s/%s/%s\nN %s %s\n", c, c[:2], c[2:], c[:2], c[2:4], c[4:], blob, c) // in whichever folders git has put it
		}
		_, failed := o.Git.Write(ctx, nil, strings.NewReader(in), "fast-import", "--quiet")
		if failed == nil {
			return nil
		}
		if now, err := o.Git.Run(ctx, nil, "for-each-ref", "--format=%(objectname)", Ref); err != nil || string(now) == string(was) {
			return failed
		}
	}
}
