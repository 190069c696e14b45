package cycle

import (
	"fmt"

	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/report"
)

// message is the commit message, as the seed has it.
func (p *revision) message() change.Message {
	c, f := p.c, &p.out.Facts
	r := &c.rec
	service := r.ServiceID
	if n := r.ConfigSnapshot.Service.Name; n != "" {
		service += " (" + n + ")"
	}
	var did, rest []string
	for _, x := range f.Coverage {
		line := "  - " + x.Name + ": " + x.Line
		if len(x.Files) > 0 {
			did = append(did, line)
		} else {
			rest = append(rest, line)
		}
	}
	items := len(did)
	for _, d := range f.Decisions {
		did = append(did, fmt.Sprintf("  - Ambiguity resolved: %s, see plan v%d", d, d.Plan))
	}
	m := change.Message{Subject: fmt.Sprintf("[%s] REVISION_COMPLETE: %s", Short(r.UUID), p.summary(items)), Blocks: [][]string{
		{"Cycle: " + r.UUID, "Service: " + service, fmt.Sprintf("Iteration: %d", r.Iteration), "State:     REVISION_COMPLETE"}}}
	if len(did) > 0 {
		m.Blocks = append(m.Blocks, append([]string{"Plan items addressed:"}, atMost(did, 40)...))
	}
	if len(rest) > 0 {
		m.Blocks = append(m.Blocks, append([]string{"Plan items that touched nothing:"}, atMost(rest, 40)...))
	}
	models := []string{"Models:"}
	for _, a := range r.Audits {
		models = append(models, fmt.Sprintf("  %s: %s", a.Role, orDefault(a.Model, a.Provider)))
	}
	if r.Refined != nil {
		models = append(models, "  refine: "+orDefault(r.Refined.Model, r.Refined.Provider))
	}
	models = append(models, "  revise: "+orDefault(f.Model, f.By))
	in, out, usd := p.spent()
	cost := "Cost: " + format.Dollars(usd)
	if n := r.UnknownCalls; n > 0 && usd != nil {
		cost = fmt.Sprintf("Cost: at least %s, and %s of unknown cost", format.Dollars(usd), format.Count(n, "call"))
	}
	m.Blocks = append(m.Blocks, models, []string{fmt.Sprintf("Tokens: in %d out %d", in, out), cost})
	m.Trailers = []change.Trailer{{Key: "Relay-Cycle", Value: r.UUID}, {Key: "Relay-Service", Value: r.ServiceID}, {Key: stepTrailer, Value: p.key}, {Key: "Relay-Evidence", Value: p.evidence()}}
	return m
}

// evidence is what speaks for a revision when it is committed: its tests run afterwards.
func (p *revision) evidence() string {
	if v := p.out.Facts.Verification; v != nil {
		return v.Evidence()
	}
	return report.NotVerified
}

func (p *revision) summary(items int) string {
	return fmt.Sprintf("%s, %s in %s", p.c.rec.ServiceID, format.Count(items, "plan item"), format.Count(p.out.Facts.Files, "file"))
}

// spent is what the cycle has used, this revision included; in dollars by the ledger, which
// has calls without an answer, too.
func (p *revision) spent() (in, out int64, usd *float64) {
	for _, f := range append(pointers(p.c.rec.Calls), p.out.Calls...) {
		if f == nil {
			continue
		}
		if f.InTokens != nil {
			in += *f.InTokens
		}
		if f.OutTokens != nil {
			out += *f.OutTokens
		}
	}
	if err := p.c.rec.AddUp(p.c.env.WS); err != nil {
		p.c.log("the ledger can't be added up: " + err.Error())
	}
	return in, out, p.c.rec.CostUSD
}

func pointers(all []CallFacts) []*CallFacts {
	out := make([]*CallFacts, len(all))
	for i := range all {
		out[i] = &all[i]
	}
	return out
}

func orDefault(s, def string) string {
	if s == "" {
		return def
	}
	return s
}
