package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/judge"
)

// Set is the policy in force: the user's rules and the repository's. The zero Set has none.
type Set struct {
	Files   []File
	Ignored []string // files of the repository's folder that are not relay's
	rules   []*rule
}

// New makes a policy of files, or says why it can't be used.
func New(files []File) (*Set, error) {
	s := &Set{Files: files}
	for _, user := range []bool{true, false} {
		seen := map[string]*rule{}
		n, size := 0, 0
		for _, f := range files {
			if f.User != user {
				continue
			}
			if n, size = n+1, size+len(f.Text); n > maxFiles || size > maxText {
				return nil, wrong(f.Name, 0, "a policy has at most %d files of %d KiB in all", maxFiles, maxText>>10)
			}
			rules, err := parse(f)
			if err != nil {
				return nil, err
			}
			for _, r := range rules {
				if other := seen[r.name]; other != nil {
					return nil, wrong(r.file, r.line, "%s is the name of the rule at %s, too", r.name, other.at())
				}
				seen[r.name] = r // a name that the user has, too, is another rule: both hold
				s.rules = append(s.rules, r)
			}
			if len(seen) > maxRules {
				return nil, wrong(f.Name, 0, "a policy has at most %d rules", maxRules)
			}
		}
	}
	return s, s.compile()
}

// compile compiles all rules; the first error in the order of the files counts.
func (s *Set) compile() error {
	errs := make([]error, len(s.rules))
	var wg sync.WaitGroup
	for w := range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := w; i < len(s.rules); i += runtime.GOMAXPROCS(0) {
				errs[i] = s.rules[i].compile()
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Digest is the [Digest] of its files.
func (s *Set) Digest() string {
	var all []Hashed
	if s != nil {
		for _, f := range s.Files {
			all = append(all, Hashed{f.User, path.Base(f.Name), sum(f.Text)})
		}
	}
	return Digest(all)
}

// Hashed is a file of rules by its digest.
type Hashed struct {
	User   bool
	Base   string // its name without folders
	SHA256 string // of its text
}

// Whose says in a word whose a file of rules is.
func Whose(user bool) string {
	if user {
		return "user"
	}
	return "repository"
}

// Digest is the SHA-256 of a line for each file: whose it is, its base name, and the
// SHA-256 of its text. It is "" for no files.
func Digest(files []Hashed) string {
	if len(files) == 0 {
		return ""
	}
	var lines []string
	for _, f := range files {
		lines = append(lines, fmt.Sprintf("%s %s %s\n", Whose(f.User), f.Base, f.SHA256))
	}
	slices.Sort(lines)
	return sum(strings.Join(lines, ""))
}

func sum(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:])
}

// Report is what a report says of the policy before there is a change; nil where there are
// no files.
func (s *Set) Report() *report.Policy {
	if s == nil || len(s.Files)+len(s.Ignored) == 0 {
		return nil
	}
	return &report.Policy{SHA256: s.Digest(), Rules: len(s.rules), Ignored: s.Ignored}
}

// Forbidden is the verdict on a change that rules forbid; show is the command that has them.
func Forbidden(hits []report.PolicyHit, show string) *diag.Error {
	return diag.New(judge.StopPolicyForbidden, "the policy forbids the change", report.ListHits(hits), show+" names each rule with its file and line")
}

// Settle notes an operator's yes to rules that ask, by [report.PolicyHit.ID]. One that asks
// for approvals is not settled by that: it is computed with the yes among them.
func (s *Set) Settle(p *report.Policy, ids []string) {
	if p == nil {
		return
	}
	for i, h := range p.Hits {
		if h.Effect == string(Ask) && slices.Contains(ids, h.ID()) {
			p.Hits[i].Approved = !slices.ContainsFunc(s.rules, func(r *rule) bool { return r.counts && r.name == h.Rule && r.at() == h.At })
		}
	}
}

// Counts reports whether one of the hits is of a rule that asks for approvals.
func (s *Set) Counts(hits []report.PolicyHit) bool {
	return slices.ContainsFunc(s.rules, func(r *rule) bool {
		return r.counts && slices.ContainsFunc(hits, func(h report.PolicyHit) bool { return r.name == h.Rule && r.at() == h.At })
	})
}

const (
	maxForbids = 100 // are named of the rules that forbid: one is enough
	maxYes     = 100 // approvals are told of
)

// Decide holds a change to the rules. A rule that can't be computed forbids.
func (s *Set) Decide(in Input) *report.Policy {
	out := s.Report()
	if out == nil {
		return nil
	}
	for _, y := range in.Approvals[:min(len(in.Approvals), maxYes)] {
		out.Approvals = append(out.Approvals, report.PolicyYes{Kind: y.Name, Key: y.Key})
	}
	next, stop := s.compute(in)
	defer stop()
	for _, r := range s.rules {
		hit := report.PolicyHit{Rule: r.name, Effect: string(r.effect), At: r.at(), Message: r.message}
		holds, err := next()
		if err != nil {
			hit.Effect, hit.Message = string(Forbid), "it can't be computed, so it forbids: "+oneLine(err.Error())
			holds = true
		}
		if holds && (hit.Effect == string(Ask) || len(out.Hits) < maxForbids) { // every rule that asks needs its answer
			out.Hits = append(out.Hits, hit)
		}
	}
	return out
}

// compute works out the rules one after the other, beside the caller, who waits no longer than
// maxTime for all of them: CEL counts the letters of a pattern, and not what it repeats, so that
// one call of matches can take minutes, and nothing ends it.
func (s *Set) compute(in Input) (next func() (bool, error), stop func()) {
	type answer struct {
		holds bool
		err   error
	}
	answers, late := make(chan answer, len(s.rules)), time.NewTimer(maxTime)
	var stopped atomic.Bool
	go func() {
		f, err := newFacts(in)
		for _, r := range s.rules {
			a := answer{err: err}
			if err == nil && !stopped.Load() {
				a.holds, a.err = r.holds(f)
			}
			answers <- a
		}
	}()
	over := false
	next = func() (bool, error) {
		if !over {
			select {
			case a := <-answers:
				return a.holds, a.err
			case <-late.C:
				over = true
			}
		}
		return false, errTooLong
	}
	return next, func() { late.Stop(); stopped.Store(true) }
}

// InputOf is what the rules know of a judged change.
func InputOf(kept []judge.Change, request judge.Request, task string, checks report.Verification, hidden []string) Input {
	in := Input{Task: Task{ID: task, Kind: string(request.Kind), Scope: request.Allowed, RequestedBy: askers[request.By]}}
	for _, c := range kept {
		p := Path{Path: c.Path, Kind: kinds[c.Kind], Added: int64(c.Lines.Added), Removed: int64(c.Lines.Deleted)}
		if c.Kind != judge.Deleted {
			p.Mode = mode(c.NewMode)
		}
		in.Change.Paths = append(in.Change.Paths, p)
		in.Change.Lines += int64(c.Lines.Charge)
	}
	for _, r := range checks.Runs {
		c := Check{Name: r.TemplateID, Passed: r.ExitCode == 0 && !r.TimedOut}
		if r.Tests != nil {
			c.Tests = int64(r.Tests.Passed)
		}
		in.Checks = append(in.Checks, c)
	}
	if checks.Hidden != "" {
		in.HiddenChecks = hidden
	}
	return in
}

var (
	askers = map[judge.Asker]string{judge.Model: "model", judge.Approved: "approved", judge.Operator: "operator"}
	kinds  = map[judge.ChangeKind]string{judge.Added: "added", judge.Modified: "modified", judge.Deleted: "deleted", judge.ModeOnly: "mode", judge.Special: "special"}
)

// mode is the mode that git has for a file.
func mode(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "120000"
	case m&fs.ModeDir != 0:
		return "160000"
	case m&0o100 != 0:
		return "100755"
	}
	return "100644"
}
