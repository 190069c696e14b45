package cycle

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/paxiom/relay/host/cycle/audit"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/durable"
	"github.com/paxiom/relay/host/internal/beneath"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/modelcall"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/prompts"
)

// AuditFacts is one auditor's part in an iteration.
type AuditFacts struct {
	Role       string `json:"role"`
	Provider   string `json:"provider"`
	Model      string `json:"model,omitempty"`
	File       string `json:"file,omitempty"` // audits/claude.md; "" when there is none
	SHA256     string `json:"sha256,omitempty"`
	Conforming bool   `json:"conforming"` // it has the five sections
	Why        string `json:"why,omitempty"`
	Items      int    `json:"items"` // findings in the audit
	// Calls are what it took.
	Calls []*CallFacts `json:"-"`
}

// auditResult is what the step of all audits records.
type auditResult struct {
	Audits []AuditFacts `json:"audits"`
	Calls  []*CallFacts `json:"calls"`
}

// audit is the first half of an iteration: input, audits, refinement, plan.
func (c *Cycle) audit(f durable.Flow) error {
	if err := c.enter(f, AuditRunning, byRelay, ""); err != nil {
		return err
	}
	c.forget()
	in, err := try(c, f, "input", func(ctx context.Context, _ durable.Attempt, _ []string) (InputFacts, error) { return c.takeInput(ctx) })
	if err != nil {
		return err
	}
	c.rec.Input = &in
	res, err := try(c, f, "audits", func(ctx context.Context, _ durable.Attempt, without []string) (auditResult, error) {
		return c.askAuditors(ctx, without)
	})
	if err != nil {
		return err
	}
	c.rec.Audits = res.Audits
	c.count(res.Calls...)
	if err := c.enter(f, AuditComplete, byRelay, c.auditNote()); err != nil {
		return err
	}
	plan, err := try(c, f, "plan", func(ctx context.Context, _ durable.Attempt, without []string) (planResult, error) {
		return c.makePlan(ctx, without)
	})
	if err != nil {
		return err
	}
	c.count(plan.Calls...)
	c.rec.Refined, c.rec.Plan, c.rec.Findings = plan.Refined, &plan.Plan, plan.Findings
	return nil
}

// forget clears what belonged to the iteration before, and keeps what it landed.
func (c *Cycle) forget() {
	if r := c.rec.Revision; r != nil && r.Landed {
		c.rec.LastLanded = &LandedFacts{c.rec.Iteration - 1, r.Commit, c.rec.Tests}
	}
	c.rec.Input, c.rec.Audits, c.rec.Refined, c.rec.Plan, c.rec.Approval, c.rec.Revision, c.rec.Tests, c.rec.Acceptance = nil, nil, nil, nil, nil, nil, nil, nil
}

func (c *Cycle) auditNote() string { return formless(c.rec.Audits) }

// formless says which audits are missing or kept to no form; "" for none.
func formless(audits []AuditFacts) string {
	var bad []string
	for _, a := range audits {
		switch {
		case a.File == "":
			bad = append(bad, a.Role+" is missing")
		case !a.Conforming:
			bad = append(bad, a.Role+" kept to no form")
		}
	}
	return strings.Join(bad, ", ")
}

func (c *Cycle) takeInput(ctx context.Context) (InputFacts, error) {
	m, err := c.gather(ctx, nil)
	if err != nil {
		return InputFacts{}, err
	}
	text := m.text(c.rec.ServiceID)
	m.facts.SHA256 = hashOf(text)
	for _, w := range m.facts.Warnings {
		c.note(w)
	}
	return m.facts, workspace.WriteFile(c.path(inputFile), text)
}

// askAuditors asks all of them at once. What one of them answered is stored, whatever
// becomes of the others.
func (c *Cycle) askAuditors(ctx context.Context, without []string) (auditResult, error) {
	m, err := c.gather(ctx, c.rec.Input)
	if err != nil {
		return auditResult{}, err
	}
	if err := c.env.WS.MkdirAll(c.path(auditsDir)); err != nil {
		return auditResult{}, err
	}
	auditors := c.rec.ConfigSnapshot.Auditors()
	facts, problems := make([]AuditFacts, len(auditors)), make([]error, len(auditors))
	var wg sync.WaitGroup
	for i, a := range auditors {
		facts[i] = AuditFacts{Role: a.Name, Provider: a.Provider, Model: a.Model}
		if slices.Contains(without, a.Name) {
			facts[i].Why = "left out by the operator"
			continue
		}
		wg.Go(func() { problems[i] = c.askAuditor(ctx, a, m, auditFile(auditors, i), &facts[i]) })
	}
	wg.Wait()
	var out auditResult
	for i := range facts {
		out.Calls = append(out.Calls, facts[i].Calls...)
	}
	out.Audits = facts
	return out, c.auditorsFault(auditors, facts, problems)
}

// auditFile names an audit by its provider, as the seed does; by its role too where a
// provider audits twice.
func auditFile(all []config.Auditor, i int) string {
	name := catalog.Canonical(all[i].Provider)
	for j, o := range all {
		if j != i && catalog.Canonical(o.Provider) == name {
			return auditsDir + "/" + name + "-" + all[i].Name + ".md"
		}
	}
	return auditsDir + "/" + name + ".md"
}

// auditorsFault makes one error of those who failed.
func (c *Cycle) auditorsFault(auditors []config.Auditor, facts []AuditFacts, problems []error) error {
	var failed, there []string
	var first error
	for i, p := range problems {
		switch {
		case p != nil:
			failed = append(failed, auditors[i].Name)
			if first == nil {
				first = p
			}
		case facts[i].File != "":
			there = append(there, auditors[i].Name)
		}
	}
	id := Short(c.rec.UUID)
	if first == nil {
		if len(there) == 0 {
			return diag.New("", "no audit is left", "every auditor was left out", "`relay audit resume "+id+"`")
		}
		return nil
	}
	if limited := allLimited(problems); limited != nil {
		return limited
	}
	f := *diag.Internal(first)
	if len(there) == 0 {
		if !strings.Contains(f.Fix, "relay audit resume") {
			f.Fix = "`relay audit resume " + id + "` asks again; " + f.Fix
		}
		return &f
	}
	f.What = fmt.Sprintf("%s failed: %s", strings.Join(failed, ", "), f.What)
	again := "`relay audit resume " + id + "` asks again"
	if f.Code == judge.BlockedBudgetCap || f.Code == judge.BlockedBudgetExhausted {
		again = f.Fix
	}
	f.Fix = fmt.Sprintf("%s (%s is kept); `relay audit resume %s --without %s` continues without", again, strings.Join(there, ", "), id, strings.Join(failed, ","))
	return &f
}

// allLimited is there when all who failed have met limits: the others' work is kept, and
// these are asked again when the limits are over.
func allLimited(problems []error) *modelcall.Limited {
	var all *modelcall.Limited
	for _, p := range problems {
		var limited *modelcall.Limited
		switch {
		case p == nil:
		case !errors.As(p, &limited):
			return nil
		case all == nil:
			all = &modelcall.Limited{First: limited.First, Limits: slices.Clone(limited.Limits)}
		default:
			all.Limits = append(all.Limits, limited.Limits...)
		}
	}
	return all
}

// askAuditor gets one audit: one question, and one more when the answer has not the
// five sections. After that its text goes to the operator as it is.
func (c *Cycle) askAuditor(ctx context.Context, a config.Auditor, m *material, file string, facts *AuditFacts) error {
	data := prompts.AuditData{Service: c.service(m), Iteration: c.rec.Iteration, Code: m.numbered,
		Earlier: c.earlier(), Revision: c.lastFile(revisionFile), Tests: tail(c.lastFile(testsFile), 20_000)}
	var err error
	if data.Override, err = c.override("audit"); err != nil {
		return err
	}
	q := ask{role: a.Name, provider: a.Provider, model: a.Model, fallback: a.Fallback}
	var s *answer
	for q.try = 1; q.try <= 2; q.try++ {
		if q.system, q.user, err = prompts.Render(data); err != nil {
			return promptFault(err)
		}
		if s, err = c.call(ctx, q); err != nil {
			return err
		}
		doc, perr := audit.Parse(s.text)
		facts.Calls = append(facts.Calls, formed(s.facts, perr == nil))
		if perr == nil {
			facts.Conforming, facts.Why, facts.Items = true, "", len(doc.Items)
			break
		}
		facts.Why, data.RetryReason = perr.Error(), perr.Error()
		c.note(fmt.Sprintf("%s by %s lacks the five sections (%s)%s", a.Name, a.Provider, perr, map[int]string{1: "; it is asked once more", 2: "; its raw text goes to you"}[q.try]))
	}
	if s.other {
		file = auditsDir + "/" + s.facts.Provider + "-" + a.Name + ".md"
		facts.Provider, facts.Model = s.facts.Provider, ""
	}
	facts.Model = orDefault(facts.Model, s.facts.Model)
	facts.File, facts.SHA256 = file, hashOf([]byte(s.text))
	return workspace.WriteFile(c.path(file), []byte(s.text))
}

// formed gives a copy of a call's facts that reports whether its answer had its form.
func formed(f *CallFacts, ok bool) *CallFacts {
	if f == nil {
		return nil
	}
	g := *f
	g.Conforming = &ok
	return &g
}

func (c *Cycle) service(m *material) prompts.Service {
	s := c.rec.ConfigSnapshot.Service
	return prompts.Service{ProductName: c.env.Config.ProductName, ID: s.ID, Name: s.Name, Spec: m.spec, References: m.references}
}

// override reads the operator's own texts of a role.
func (c *Cycle) override(role string) (prompts.Override, error) {
	ws := c.env.WS
	o, err := prompts.RoleOverride(func(rel string, max int64) ([]byte, error) { return beneath.ReadFile(ws.Root(), rel, max) }, ws.Rel()+"/prompts", role)
	if err != nil {
		return o, diag.Wrap(err, judge.BlockedMissingConfig, "your own prompt can't be used", "`ls -l "+diag.Word(ws.Prompts())+"`")
	}
	return o, nil
}

func promptFault(err error) error {
	return diag.Wrap(err, judge.BlockedMissingConfig, "the prompt can't be made", "`ls .relay/prompts` shows texts of your own; docs/reference/prompts.md names the placeholders")
}

// lastFile reads a file of the iteration before; "" in the first.
func (c *Cycle) lastFile(name string) string {
	if c.rec.Iteration < 2 {
		return ""
	}
	b, err := workspace.ReadFile(filepath.Join(c.iterationDir(c.rec.Iteration-1), name), 64<<20)
	if err != nil {
		return ""
	}
	return string(b)
}

func (c *Cycle) iterationDir(n int) string {
	return filepath.Join(c.path(iterations), fmt.Sprint(n))
}

func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return "…" + strings.ToValidUTF8(s[len(s)-n:], "")
}
