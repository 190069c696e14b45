package attest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// Status is what is known of a commit.
type Status string

// The three answers.
const (
	Verified Status = "verified"    // it is what relay landed, says a signer
	Changed  Status = "changed"     // a signer says that relay landed it, and it was changed since
	Nothing  Status = "not covered" // no signer says anything of it
)

// Found is the answer about one commit.
type Found struct {
	Commit   string `json:"commit"`
	Status   Status `json:"status"`
	By       string `json:"by,omitempty"`  // the signer's name, as the file of signers has it
	Key      string `json:"key,omitempty"` // its fingerprint
	Why      string `json:"why,omitempty"` // why it is not verified
	Claims   bool   `json:"claims"`        // a note, or its message, says that relay landed it
	Run      string `json:"run,omitempty"` // the run's id
	At       string `json:"at,omitempty"`
	Evidence string `json:"evidence,omitempty"` // what the checks prove
	Workflow string `json:"workflow,omitempty"`
	Payload  []byte `json:"-"`
	Note     string `json:"-"`
}

// Verifier checks commits against the notes of a ref.
type Verifier struct {
	Git     *git.Repo
	Signers Signers
	Ref     string // of the notes; "" is [Ref]
	// Notes are the texts of notes by commit, in place of those of a ref.
	Notes map[string]string

	notes map[string]string   // objects of the notes of the ref
	runs  map[string][]string // the objects of notes by the run that they claim, once needed
}

// ErrNoCommit is a range of which nothing would be verified.
var ErrNoCommit = errors.New("its end has no commit that its beginning lacks")

// NameError is a name that git knows no commit by.
type NameError struct {
	Name string
	Err  error
}

func (e *NameError) Error() string { return e.Err.Error() }

// Unwrap gives git's answer.
func (e *NameError) Unwrap() error { return e.Err }

// Commits gives the commits that git knows by these names, in the order given, or those of a range (OLD..NEW, COMMIT^!,
// names with ^ before them), the oldest first.
func Commits(ctx context.Context, git *git.Repo, what ...string) ([]string, error) {
	var names, without []string
	for _, w := range what {
		out, err := git.Run(ctx, nil, "rev-parse", "--revs-only", "--end-of-options", w, "--")
		if err != nil {
			return nil, &NameError{w, err}
		}
		for name := range strings.FieldsSeq(string(out)) {
			if name[0] == '^' {
				without = append(without, name)
			} else {
				names = append(names, name+"^{commit}")
			}
		}
	}
	if len(names) == 0 {
		return nil, errors.New("it says only what to leave out")
	}
	walk := []string{"--no-walk=unsorted"}
	if len(without) > 0 {
		walk = []string{"--reverse", "--topo-order"}
	}
	// What a shallow clone cuts off is missing: it is not a range without it.
	args := slices.Concat([]string{"-c", "core.commitGraph=false", "--shallow-file", "", "rev-list"}, walk, []string{"--end-of-options"}, names, without)
	out, err := git.Run(ctx, nil, args...)
	if err == nil && len(out) == 0 {
		err = ErrNoCommit
	}
	return strings.Fields(string(out)), err
}

// Verify gives the answer about each of the commits.
func (v *Verifier) Verify(ctx context.Context, commits []string) ([]Found, error) {
	all, err := v.read(ctx, commits)
	if err != nil {
		return nil, err
	}
	found := make([]Found, len(commits))
	for i, name := range commits {
		f := &found[i]
		f.Commit, f.Status = name, Nothing
		if _, ok := all[name]; !ok {
			return nil, fmt.Errorf("the commit %s is not there", name)
		}
		c := readCommit(all[name])
		f.Claims = len(c.runs) > 0
		if text, ok := v.note(all, name); ok {
			f.Claims = true
			err := v.open(ctx, f, text)
			if err == nil {
				continue
			}
			if lost(err) {
				return nil, err
			}
			f.Why = err.Error()
			if f.Status == Changed {
				continue
			}
		}
		if err := v.elsewhere(ctx, f, c); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// lost reports whether something could not be looked at, which says nothing of a commit.
func lost(err error) bool {
	_, git := errors.AsType[*git.Error](err)
	_, damaged := errors.AsType[errDamaged](err)
	return git || damaged
}

// read gives the objects of commits and of their notes.
func (v *Verifier) read(ctx context.Context, commits []string) (map[string][]byte, error) {
	if v.Notes != nil {
		return objects(ctx, v.Git, commits)
	}
	var err error
	if v.notes, err = notesIn(ctx, v.Git, cmp.Or(v.Ref, Ref)); err != nil {
		return nil, err
	}
	var blobs []string
	for _, c := range commits {
		if blob := v.notes[c]; blob != "" {
			blobs = append(blobs, blob)
		}
	}
	return noteObjects(ctx, v.Git, blobs, commits...)
}

// note is the text of a commit's note.
func (v *Verifier) note(all map[string][]byte, commit string) (string, bool) {
	if v.Notes != nil {
		text, ok := v.Notes[commit]
		return text, ok
	}
	return string(all[v.notes[commit]]), v.notes[commit] != ""
}

// signed opens a note and checks who signed it.
func (v *Verifier) signed(f *Found, text string) (*Statement, error) {
	n, err := parse(text)
	if err != nil {
		return nil, err
	}
	s := n.statement
	if n.sig == nil {
		return nil, errors.New("the attestation is not signed")
	}
	at, err := timeOf(s.Predicate.TimeVerified)
	if err != nil {
		return nil, errors.New("the attestation has no time")
	}
	who, key, err := v.Signers.check(namespace, pae(payloadType, n.payload), n.sig, at)
	if err != nil {
		return nil, err
	}
	p := &s.Predicate
	if s.Type != statementType || s.PredicateType != predicateType || p.VerificationResult != passed || p.Relay.Code != judge.Success {
		return nil, errors.New("the statement is not that a change passed")
	}
	f.By, f.Key, f.Run, f.At, f.Evidence, f.Workflow, f.Payload, f.Note = who, key, p.Relay.Run, p.TimeVerified, p.Relay.Evidence, p.Relay.Workflow, n.payload, text
	return s, nil
}

// open checks a commit against its note.
func (v *Verifier) open(ctx context.Context, f *Found, text string) error {
	s, err := v.signed(f, text)
	if err != nil {
		return err
	}
	claimed, err := s.chain()
	if err != nil {
		f.clear()
		return err
	}
	if !slices.Contains(claimed.commits, f.Commit) {
		f.Status = Changed
		return fmt.Errorf("its attestation is for %.12s", claimed.head())
	}
	if err := v.compare(ctx, s, claimed); err != nil {
		f.clear()
		return err
	}
	f.Status = Verified
	if head := claimed.head(); f.Commit != head { // a branch that ends here has what nothing was run on
		f.Evidence = fmt.Sprintf("landed with %.12s, on which the checks ran: %s", head, f.Evidence)
	}
	return nil
}

func (f *Found) clear() {
	*f = Found{Commit: f.Commit, Status: Nothing, Claims: f.Claims}
}

// chain is what the subjects of a statement name.
func (s *Statement) chain() (chain, error) {
	c := chain{base: s.Predicate.Relay.Base}
	for i, sub := range s.Subject {
		commit, tree := sub.Digest["gitCommit"], sub.Digest["gitTree"]
		last := i == len(s.Subject)-1
		if len(sub.Digest) != 1 || last != (sub.Name == "tree" && tree != "") || !last && (sub.Name != "commit" || commit == "") {
			return c, errors.New("the statement's subjects are not commits and a tree")
		}
		if c.tree = tree; !last {
			c.commits = append(c.commits, commit)
		}
	}
	if len(c.commits) == 0 || len(c.commits) > maxChain {
		return c, errors.New("the statement's subjects are not commits and a tree")
	}
	if !strings.HasSuffix(s.Predicate.ResourceURI, ":"+c.head()) {
		return c, errors.New("the statement's resource is another commit than its subject")
	}
	return c, nil
}

// compare computes again what the statement says.
func (v *Verifier) compare(ctx context.Context, s *Statement, claimed chain) error {
	all, err := objects(ctx, v.Git, append(slices.Clone(claimed.commits), claimed.base))
	if err != nil {
		return err
	}
	if _, ok := all[claimed.base]; !ok {
		return fmt.Errorf("%.12s, on top of which it landed, is not here: a shallow clone has too little history", claimed.base)
	}
	on := claimed.base
	var last *commit
	for _, name := range claimed.commits {
		body, ok := all[name]
		if !ok {
			return fmt.Errorf("%.12s, which it landed with, is not there", name)
		}
		if last = readCommit(body); !slices.Equal(last.parents, []string{on}) {
			return fmt.Errorf("%.12s is not on top of %.12s", name, on)
		}
		on = name
	}
	if last.tree != claimed.tree {
		return errors.New("its tree is not the one that was judged")
	}
	r := &s.Predicate.Relay
	lines, err := touched(ctx, v.Git, claimed.base, on)
	if err != nil {
		return err
	}
	if now := touchedOf(lines); now.Count != r.Touched.Count || now.SHA256 != r.Touched.SHA256 || !slices.Equal(now.Lines, r.Touched.Lines) {
		return errors.New("what it touches is not what was judged")
	}
	if d := s.Predicate.Policy.Digest; len(d) != 1 || d["sha256"] != r.Policy.SHA256 || sum([]byte(r.Policy.Text)) != r.Policy.SHA256 {
		return errors.New("the digest of the policy is not the policy's")
	}
	for _, a := range r.Approvals {
		if err := a.check(v.Signers, r); err != nil {
			return err
		}
	}
	return nil
}

// elsewhere looks for a signer's word that a run, which the commit's message names, landed
// as another commit.
func (v *Verifier) elsewhere(ctx context.Context, f *Found, c *commit) error {
	if len(c.runs) == 0 {
		f.Why = cmp.Or(f.Why, "it has no attestation")
		return nil
	}
	if err := v.index(ctx); err != nil {
		return err
	}
	for _, run := range c.runs {
		for _, text := range v.runs[run] {
			other := *f
			s, err := v.signed(&other, text)
			if err != nil {
				continue
			}
			claimed, err := s.chain()
			if err != nil || slices.Contains(claimed.commits, f.Commit) {
				continue
			}
			why := fmt.Sprintf("run %s landed as %.12s", run, claimed.head())
			if f.Why != "" {
				why = f.Why + "; " + why
			}
			other.Status, other.Why = Changed, why
			*f = other
			return nil
		}
	}
	if f.Why == "" {
		f.Why = fmt.Sprintf("its message names run %s, which anybody can write, and it has no attestation", c.runs[0])
		if v.Notes == nil && len(v.notes) == 0 {
			f.Why += ", nor has any commit here: `git fetch origin " + Ref + ":" + Ref + "`"
		}
	}
	return nil
}

// index reads all notes, once.
func (v *Verifier) index(ctx context.Context) error {
	if v.runs != nil {
		return nil
	}
	v.runs = map[string][]string{}
	texts := v.Notes
	if texts == nil {
		all, err := noteObjects(ctx, v.Git, slices.Compact(slices.Sorted(maps.Values(v.notes))))
		if err != nil {
			return err
		}
		texts = map[string]string{}
		for name, text := range all {
			texts[name] = string(text)
		}
	}
	for _, text := range slices.Compact(slices.Sorted(maps.Values(texts))) {
		if n, err := parse(text); err == nil {
			run := n.statement.Predicate.Relay.Run
			v.runs[run] = append(v.runs[run], text)
		}
	}
	return nil
}
