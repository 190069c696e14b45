package cycle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/paxiom/relay/host/cycle/audit"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/workspace"
)

// ModelStats is how one model did in all cycles.
type ModelStats struct {
	Provider      string   `json:"provider"`
	Model         string   `json:"model,omitempty"`
	Calls         int      `json:"calls"`
	NonConforming int      `json:"non_conforming"` // answers that had not the form that was asked for
	Audits        int      `json:"audits"`         // how many it wrote
	Raw           int      `json:"raw_audits"`     // audits that had no form after the reminder either
	CostUSD       *float64 `json:"cost_usd"`
	UnknownCalls  int      `json:"unknown_cost_calls"`
}

// Stats counts over all cycles of a workspace, the worst first.
func Stats(ws *workspace.Workspace) ([]ModelStats, error) {
	all, err := List(ws)
	if err != nil {
		return nil, err
	}
	byModel := map[[2]string]*ModelStats{}
	of := func(provider, model string) *ModelStats {
		key := [2]string{catalog.Canonical(provider), model}
		if byModel[key] == nil {
			byModel[key] = &ModelStats{Provider: key[0], Model: model}
		}
		return byModel[key]
	}
	for _, r := range all {
		last := map[string]*CallFacts{} // of each audit, of all iterations
		for i := range r.Calls {
			call := &r.Calls[i]
			s := of(call.Provider, call.Model)
			s.Calls++
			if call.Conforming != nil && !*call.Conforming {
				s.NonConforming++
			}
			if call.CostUSD == nil {
				s.UnknownCalls++
			} else {
				ledger.Plus(&s.CostUSD, call.CostUSD)
			}
			if strings.HasPrefix(call.Role, "audit_") && call.Conforming != nil {
				last[fmt.Sprint(call.Iteration, call.Role)] = call
			}
		}
		for _, call := range last {
			s := of(call.Provider, call.Model)
			s.Audits++
			if !*call.Conforming {
				s.Raw++
			}
		}
	}
	out := []ModelStats{}
	for _, s := range byModel {
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b ModelStats) int {
		return cmp.Or(cmp.Compare(b.NonConforming, a.NonConforming), cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Provider+a.Model, b.Provider+b.Model))
	})
	return out, nil
}

// FindingLine is one finding with its standing in the present iteration.
type FindingLine struct {
	ID      string       `json:"id"`
	Section string       `json:"section"` // of the audit
	Status  audit.Status `json:"status"`
	By      []string     `json:"by,omitempty"` // the auditors that found it
	Line    string       `json:"line"`
}

// Findings lists what auditors raised in a cycle: what is open first, what is fixed
// last. None when the file can't be read.
func Findings(ws *workspace.Workspace, r *Record) []FindingLine {
	c := &Cycle{env: &Env{WS: ws}, rec: *r}
	reg, err := c.registry(r.Iteration)
	n := r.Iteration
	if err == nil && len(reg.Findings) == 0 && n > 1 { // this iteration's audits are not there yet
		n--
		reg, err = c.registry(n)
	}
	if err != nil {
		return nil
	}
	var out []FindingLine
	for i := range reg.Findings {
		f := &reg.Findings[i]
		if f.Section == audit.ActionPlan {
			continue
		}
		line := audit.Item{Text: f.Text}.Line()
		out = append(out, FindingLine{f.ID, f.Section.Label(), f.Status(n), f.By(n), format.Clip(line, 300)})
	}
	order := map[audit.Status]int{audit.Returned: 0, audit.New: 1, audit.Open: 2, audit.Fixed: 3}
	slices.SortStableFunc(out, func(a, b FindingLine) int { return cmp.Compare(order[a.Status], order[b.Status]) })
	return out
}
