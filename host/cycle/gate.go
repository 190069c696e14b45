package cycle

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/paxiom/relay/host/cycle/audit"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/attest"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
)

// Approval is the operator's yes to a plan. It holds for exactly what it names.
type Approval struct {
	UUID      string            `json:"uuid"`
	Iteration int               `json:"iteration"`
	Plan      string            `json:"plan_sha256"`   // of the approved plan
	Tree      string            `json:"commit"`        // of the branch
	Audits    map[string]string `json:"audits_sha256"` // by file
	Reviewed  bool              `json:"reviewed"`      // the plan was opened in an editor
	// Accept: the plan is not carried out. What an earlier iteration landed is the result.
	Accept  bool      `json:"accept,omitempty"`
	Failing bool      `json:"with_failing_tests,omitempty"` // of that iteration
	At      time.Time `json:"at"`
	Key     *string   `json:"key,omitempty"`    // the operator's SSH key, where git signs with one
	Signed  string    `json:"signed,omitempty"` // what that key has signed
	Seal    string    `json:"seal"`             // of this machine, over the fields above
}

// The operator's decisions at the second gate.
const (
	DecideAccept  = "accept"
	DecideIterate = "iterate"
	DecideAgain   = "continue" // nothing landed: the plan is carried out once more
)

// Acceptance is the operator's decision about a revision.
type Acceptance struct {
	UUID      string    `json:"uuid"`
	Iteration int       `json:"iteration"`
	Decision  string    `json:"decision"` // accept or iterate
	Tree      string    `json:"commit"`
	Diff      string    `json:"diff_sha256"`
	Tests     string    `json:"tests_sha256"`                 // of the tests' result
	Failing   bool      `json:"with_failing_tests,omitempty"` // the operator accepted failed tests
	Approval  *Approval `json:"approval,omitempty"`           // of the plan, where it is carried out once more
	At        time.Time `json:"at"`
	Seal      string    `json:"seal"` // of this machine, over the fields above
}

// seal marks a decision as made on this machine: its key lies in relay's own state,
// where neither a repository nor a builder can write. A decision that came along with
// a clone, or was written into a log by hand, does not have it.
func (e *Env) seal(decision any) (string, error) {
	key, err := e.gateKey()
	if err != nil {
		return "", err
	}
	m := hmac.New(sha256.New, key)
	m.Write([]byte("relay gate 1\n"))
	m.Write(canonical(decision))
	return hex.EncodeToString(m.Sum(nil)), nil
}

func (e *Env) gateKey() ([]byte, error) {
	path := filepath.Join(e.StateDir, "gate.key")
	for range 2 {
		key, err := workspace.ReadFile(path, 1<<10)
		if err == nil && len(key) == sha256.Size {
			return key, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, diag.New(judge.BlockedCrashRecovery, "decisions can't be sealed on this machine", fmt.Sprintf("%s is not a key", path), "`rm "+diag.Word(path)+"`: open approvals must then be given again")
		}
		if err := os.MkdirAll(e.StateDir, 0o700); err != nil {
			return nil, diag.Internal(err)
		}
		key = make([]byte, sha256.Size)
		rand.Read(key)
		tmp := path + "." + rand.Text()[:10]
		if err := os.WriteFile(tmp, key, 0o600); err != nil {
			return nil, diag.Internal(err)
		}
		err = os.Link(tmp, path) // the first of two wins
		os.Remove(tmp)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, diag.Internal(err)
		}
	}
	return nil, diag.New(judge.BlockedCrashRecovery, "decisions can't be sealed on this machine", path+" can't be made", "`ls -l "+diag.Word(path)+"`")
}

// approval makes the operator's yes to what is there now.
func (c *Cycle) approval(ctx context.Context) (Approval, error) {
	a, err := c.evidence(ctx)
	if err != nil {
		return a, err
	}
	a.Reviewed = c.reviewed(a.Plan)
	e := c.env
	yes, why := attest.Options{Git: c.git, StateDir: e.StateDir, Home: e.Home, Environ: e.Environ}.Approve(ctx, attest.Approved{Kind: "plan", Base: a.Tree, Task: a.Plan}, e.now())
	if why != nil {
		c.note("your key has not signed the approval: " + why.Error())
	}
	a.Key, a.Signed = yes.Key, yes.Signed
	return c.given(a)
}

// given seals an answer at the first gate.
func (c *Cycle) given(a Approval) (_ Approval, err error) {
	a.At = c.env.now().UTC()
	a.Seal, err = c.env.seal(a)
	return a, err
}

// evidence is what a plan's approval is about, as it is now.
func (c *Cycle) evidence(ctx context.Context) (Approval, error) {
	a := Approval{UUID: c.rec.UUID, Iteration: c.rec.Iteration, Audits: map[string]string{}}
	var err error
	if a.Plan, err = hashFile(c.path(planFile)); err != nil {
		return a, diag.Internal(err)
	}
	if a.Tree, err = c.tip(ctx); err != nil {
		return a, err
	}
	for _, x := range c.rec.Audits {
		if x.File == "" {
			continue
		}
		if a.Audits[x.File], err = hashFile(c.path(x.File)); err != nil {
			return a, diag.Internal(err)
		}
	}
	return a, nil
}

// holds says why an approval does not hold (any more), "" when it does.
func (c *Cycle) holds(ctx context.Context, a Approval) (string, error) {
	if why, err := c.sealed(a.Seal, func() any { b := a; b.Seal = ""; return b }()); why != "" || err != nil {
		return why, err
	}
	now, err := c.evidence(ctx)
	if err != nil {
		return "", err
	}
	switch {
	case a.UUID != now.UUID || a.Iteration != now.Iteration:
		return "the approval is for another cycle or iteration", nil
	case a.Plan != now.Plan:
		return "the plan was changed after it was approved", nil
	case a.Tree != now.Tree:
		return "the branch moved after the plan was approved", nil
	case a.Accept && (c.rec.LastLanded == nil || a.Tree != c.rec.LastLanded.Commit):
		return "the branch is not at what an earlier iteration landed", nil
	case a.Accept && c.failing() && !a.Failing:
		return "the tests failed, and that was not said with the decision", nil
	}
	for _, x := range c.rec.Audits {
		if x.File != "" && a.Audits[x.File] != now.Audits[x.File] {
			return x.File + " was changed after the plan was approved", nil
		}
		if x.File != "" && now.Audits[x.File] != x.SHA256 {
			return x.File + " is not what " + x.Provider + " answered", nil
		}
	}
	return "", nil
}

func (c *Cycle) sealed(seal string, decision any) (string, error) {
	want, err := c.env.seal(decision)
	if err != nil {
		return "", err
	}
	if !hmac.Equal([]byte(seal), []byte(want)) {
		return "the decision was not made with relay on this machine", nil
	}
	return "", nil
}

// acceptance makes the operator's decision about what is there now.
func (c *Cycle) acceptance(ctx context.Context, d Acceptance) (Acceptance, error) {
	a, err := c.result(ctx)
	if err != nil {
		return a, err
	}
	a.Decision, a.Failing, a.Approval, a.At = d.Decision, d.Failing, d.Approval, c.env.now().UTC()
	a.Seal, err = c.env.seal(a)
	return a, err
}

// result is what the second gate's decision is about, as it is now.
func (c *Cycle) result(ctx context.Context) (Acceptance, error) {
	a := Acceptance{UUID: c.rec.UUID, Iteration: c.rec.Iteration}
	var err error
	if a.Tree, err = c.tip(ctx); err != nil {
		return a, err
	}
	if a.Diff, err = hashFile(c.path(revisionFile)); err == nil {
		a.Tests, err = hashFile(c.path(testsFile))
	}
	if err != nil {
		return a, diag.Internal(err)
	}
	return a, nil
}

// stands says why a decision about a revision does not hold, "" when it does.
func (c *Cycle) stands(ctx context.Context, a Acceptance) (string, error) {
	if why, err := c.sealed(a.Seal, func() any { b := a; b.Seal = ""; return b }()); why != "" || err != nil {
		return why, err
	}
	now, err := c.result(ctx)
	if err != nil {
		return "", err
	}
	switch {
	case a.UUID != now.UUID || a.Iteration != now.Iteration:
		return "the decision is for another cycle or iteration", nil
	case a.Decision == DecideAgain && a.Approval != nil:
		return c.holds(ctx, *a.Approval)
	case a.Decision != DecideAccept && a.Decision != DecideIterate:
		return "there is no such decision", nil
	case a.Decision == DecideIterate:
		return "", nil // nothing is accepted by it
	case a.Tree != now.Tree || a.Tree != c.rec.Revision.Commit:
		return "the branch is not at the revision that was shown", nil
	case a.Diff != now.Diff || a.Diff != c.rec.Revision.DiffSHA256:
		return "the revision's diff is not the one that was shown", nil
	case a.Tests != now.Tests || c.rec.Tests != nil && a.Tests != c.rec.Tests.SHA256:
		return "the tests' output is not the one that was shown", nil
	case c.failing() && !a.Failing:
		return "the tests failed, and that was not said with the decision", nil
	}
	return "", nil
}

// tests are those of what would be accepted: of this iteration's revision, or of the last
// one that landed.
func (c *Cycle) tests() *TestFacts {
	if r := c.rec.Revision; (r == nil || !r.Landed) && c.rec.LastLanded != nil {
		return c.rec.LastLanded.Tests
	}
	return c.rec.Tests
}

func (c *Cycle) failing() bool { t := c.tests(); return t != nil && !t.Passed }

// usable says why a plan can't be carried out, nil when it can.
func usable(text string) (*audit.Document, error) {
	d, err := audit.Parse(text)
	if err != nil {
		return nil, err
	}
	if len(d.Items) == 0 {
		return nil, errors.New("the plan has no entries: nothing would be revised")
	}
	return d, nil
}
