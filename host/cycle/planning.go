package cycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/paxiom/relay/host/cycle/audit"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/modelcall"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/prompts"
)

// PlanFacts is the plan as relay made it; the operator edits it afterwards.
type PlanFacts struct {
	SHA256 string         `json:"sha256"`
	Items  int            `json:"items"`           // entries of the plan
	Marks  map[string]int `json:"marks,omitempty"` // AMBIGUOUS, DUPLICATE, CONFLICT
}

// RefinedFacts is what became of the refinement.
type RefinedFacts struct {
	Provider   string   `json:"provider"`
	Model      string   `json:"model,omitempty"`
	Conforming bool     `json:"conforming"` // otherwise the plan is relay's own
	Why        string   `json:"why,omitempty"`
	Added      []string `json:"added,omitempty"` // no auditor raised these
	Lost       []string `json:"lost,omitempty"`  // several raised these, or one as critical
}

type planResult struct {
	Plan     PlanFacts            `json:"plan"`
	Refined  *RefinedFacts        `json:"refined,omitempty"`
	Findings map[audit.Status]int `json:"findings"`
	Calls    []*CallFacts         `json:"calls,omitempty"`
}

// makePlan makes one plan of the audits: by a model where the service asks for that,
// otherwise by putting them together.
func (c *Cycle) makePlan(ctx context.Context, without []string) (planResult, error) {
	names, docs, raw, err := c.readAudits()
	if err != nil {
		return planResult{}, err
	}
	reg, err := c.registry(c.rec.Iteration - 1)
	if err != nil {
		return planResult{}, err
	}
	if last, err := audit.Parse(c.lastFile(planFile)); err == nil {
		last.Fill(reg)
		reg.Reserve(last)
	}
	for i, d := range docs {
		reg.Take(c.rec.Iteration, names[i], d)
	}
	var out planResult
	plan := audit.Consolidate(names, docs)
	if m := c.rec.ConfigSnapshot.Models.Refinement; m.Enabled && len(docs)+len(raw) > 0 && !slices.Contains(without, "refinement") {
		refined, err := c.refine(ctx, names, docs, raw, reg, &out)
		if limited := (*modelcall.Limited)(nil); errors.As(err, &limited) {
			return out, err
		}
		if err != nil {
			f := *diag.Internal(err)
			id := Short(c.rec.UUID)
			f.What, f.Fix = "the refinement failed: "+f.What, fmt.Sprintf("`relay audit resume %s` asks again; `relay audit resume %s --without refinement` takes the audits as they are", id, id)
			return out, &f
		}
		if refined != nil {
			plan = refined
		}
	}
	audit.Carry(plan, c.rec.Decisions)
	out.Findings = tally(reg, c.rec.Iteration)
	if err := workspace.WriteJSON(c.path(findingsFile), reg); err != nil {
		return out, err
	}
	text := []byte(plan.String())
	out.Plan = PlanFacts{SHA256: hashOf(text), Items: len(plan.Items), Marks: plan.Marks()}
	if err := workspace.WriteFile(c.path(proposedFile), text); err != nil {
		return out, err
	}
	return out, workspace.WriteFile(c.path(planFile), text)
}

// readAudits reads what the auditors answered: those with the five sections, and the
// texts of the others.
func (c *Cycle) readAudits() (names []string, docs []*audit.Document, raw []prompts.NamedAudit, err error) {
	for _, a := range c.rec.Audits {
		if a.File == "" {
			continue
		}
		b, err := workspace.ReadFile(c.path(a.File), 64<<20)
		if err != nil {
			return nil, nil, nil, diag.Wrap(err, judge.BlockedCrashRecovery, "an audit can't be read", "`ls -l "+diag.Word(c.path(auditsDir))+"`")
		}
		d, perr := audit.Parse(string(b))
		if perr != nil {
			raw = append(raw, prompts.NamedAudit{Name: c.auditorName(a), Text: string(b)})
			continue
		}
		names, docs = append(names, c.auditorName(a)), append(docs, d)
	}
	return names, docs, raw, nil
}

// auditorName is how plans call an auditor: its provider, and its role where the
// provider audits twice.
func (c *Cycle) auditorName(a AuditFacts) string {
	name := catalog.Canonical(a.Provider)
	for _, o := range c.rec.Audits {
		if o.Role != a.Role && catalog.Canonical(o.Provider) == name {
			return name + " " + a.Role
		}
	}
	return name
}

// refine has a model make the plan, and checks what it added and lost. nil: it kept to
// no form.
func (c *Cycle) refine(ctx context.Context, names []string, docs []*audit.Document, raw []prompts.NamedAudit, reg *audit.Registry, out *planResult) (*audit.Document, error) {
	m := c.rec.ConfigSnapshot.Models.Refinement
	data := prompts.RefineData{Service: prompts.Service{ProductName: c.env.Config.ProductName, ID: c.rec.ServiceID, Name: c.rec.ConfigSnapshot.Service.Name}, Audits: raw}
	for i := len(docs) - 1; i >= 0; i-- {
		data.Audits = append([]prompts.NamedAudit{{Name: names[i], Text: docs[i].String()}}, data.Audits...)
	}
	var err error
	if data.Override, err = c.override("refine"); err != nil {
		return nil, err
	}
	facts := &RefinedFacts{Provider: m.Provider, Model: m.Model}
	out.Refined = facts
	q := ask{role: "refinement", provider: m.Provider, model: m.Model, fallback: m.Fallback}
	for q.try = 1; q.try <= 2; q.try++ {
		if q.system, q.user, err = prompts.Render(data); err != nil {
			return nil, promptFault(err)
		}
		s, err := c.call(ctx, q)
		if err != nil {
			return nil, err
		}
		if s.other {
			facts.Provider, facts.Model = s.facts.Provider, ""
		}
		facts.Model = orDefault(facts.Model, s.facts.Model)
		if err := workspace.WriteFile(c.path(refinedFile), []byte(s.text)); err != nil {
			return nil, err
		}
		plan, perr := audit.Parse(s.text)
		out.Calls = append(out.Calls, formed(s.facts, perr == nil))
		if perr == nil {
			facts.Conforming, facts.Why = true, ""
			check := reg.CheckRefined(c.rec.Iteration, len(docs), plan)
			for _, i := range check.Added {
				facts.Added = append(facts.Added, format.Clip(i.Name()+": "+i.Line(), 200))
			}
			for _, f := range check.Lost {
				line, _, _ := strings.Cut(f.Text, "\n")
				facts.Lost = append(facts.Lost, format.Clip(f.ID+" "+f.Section.Label()+": "+line, 200))
			}
			facts.Added, facts.Lost = atMost(facts.Added, 50), atMost(facts.Lost, 50)
			return plan, nil
		}
		facts.Why, data.RetryReason = perr.Error(), perr.Error()
		c.note(fmt.Sprintf("the refinement by %s lacks the five sections (%s)", m.Provider, perr))
	}
	return nil, nil
}

// registry reads the findings as they were after an iteration; none after 0.
func (c *Cycle) registry(iteration int) (*audit.Registry, error) {
	reg := &audit.Registry{}
	if iteration == 0 {
		return reg, nil
	}
	path := filepath.Join(c.iterationDir(iteration), findingsFile)
	if iteration == c.rec.Iteration {
		path = c.path(findingsFile)
	}
	b, err := workspace.ReadFile(path, 64<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return reg, nil
	}
	if err == nil {
		err = json.Unmarshal(b, reg)
	}
	if err != nil {
		return nil, diag.Wrap(err, judge.BlockedCrashRecovery, "the findings of the cycle can't be read", "`mv "+diag.Word(path)+" "+diag.Word(path+".damaged")+"`: their ids start over")
	}
	return reg, nil
}

// tally counts the findings of an iteration by status.
func tally(reg *audit.Registry, iteration int) map[audit.Status]int {
	out := map[audit.Status]int{}
	for i := range reg.Findings {
		if f := &reg.Findings[i]; f.Section != audit.ActionPlan {
			if s := f.Status(iteration); s != "" {
				out[s]++
			}
		}
	}
	return out
}

// earlier is what auditors are told about the findings of earlier iterations.
func (c *Cycle) earlier() string {
	reg, err := c.registry(c.rec.Iteration - 1)
	if err != nil {
		return ""
	}
	var b strings.Builder
	for i := range reg.Findings {
		f := &reg.Findings[i]
		if f.Section == audit.ActionPlan {
			continue
		}
		line, _, _ := strings.Cut(f.Text, "\n")
		fmt.Fprintf(&b, "[%s] %s, %s: %s\n", f.ID, f.Section.Label(), f.Status(c.rec.Iteration-1), line)
	}
	for _, d := range c.rec.Decisions {
		fmt.Fprintf(&b, "[%s] decided by the operator. Asked: %s. %s\n", d.ID, d.Asked, d)
	}
	return b.String()
}

func atMost[T any](all []T, n int) []T { return all[:min(n, len(all))] }
