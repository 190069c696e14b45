package ledger

import (
	"fmt"
	"strings"
	"time"

	"github.com/paxiom/relay/host/internal/format"
)

// Warnings are one-line texts for the report and the prompt: each counter of the
// milestone at or over the warning fraction of its cap, and the alerts.
func (l *Ledger) Warnings() []string { return append(l.warnings(l.state.Budgets), l.Alerts()...) }

func (l *Ledger) warnings(c Counters) []string {
	var out []string
	at := l.caps.WarnAtFraction
	if at <= 0 {
		return nil
	}
	for _, x := range l.lines(c, Worst{}) {
		if x.cap > 0 && float64(x.used) >= at*float64(x.cap) {
			out = append(out, fmt.Sprintf("%s: %d of %d used", x.name, x.used, x.cap))
		}
	}
	if usd := l.caps.PerMilestone.MaxEstimatedCostUSD; usd > 0 && c.Spent() >= at*usd {
		text := fmt.Sprintf("cost: $%.2f of $%.2f used", c.Spent(), usd)
		if c.UnknownCostCalls > 0 {
			text += fmt.Sprintf(", $%.2f of it an estimate for %s", c.UnknownGuessUSD, format.Count(c.UnknownCostCalls, "call")+" of unknown cost")
		}
		out = append(out, text)
	}
	return out
}

// Summary is the budgets as the orchestrator's prompt shows them, one per line.
func (l *Ledger) Summary() string {
	var b strings.Builder
	c := l.state.Budgets
	for _, x := range l.lines(c, Worst{}) {
		fmt.Fprintf(&b, "%s: %d of %d used, %d left\n", x.name, x.used, x.cap, max(x.cap-x.used, 0))
	}
	cost := fmt.Sprintf("cost: $%.2f known", c.EstimatedCostUSD)
	if usd := l.caps.PerMilestone.MaxEstimatedCostUSD; usd > 0 {
		cost += fmt.Sprintf(" of $%.2f", usd)
	}
	if c.UnknownCostCalls > 0 {
		cost += fmt.Sprintf(", %s of unknown cost, estimated at $%.2f", format.Count(c.UnknownCostCalls, "call"), c.UnknownGuessUSD)
	}
	b.WriteString(cost + "\n")
	if all, err := l.Standings(); err == nil {
		for _, s := range all {
			b.WriteString(s.String() + "\n")
		}
	}
	if l.state.MilestoneLeft != "" && l.state.MilestoneID == nil {
		fmt.Fprintf(&b, "The budget of milestone %q is used up. Propose the first task of another milestone, with an id of its own, or stop.\n", l.state.MilestoneLeft)
	}
	if l.state.BudgetWarning {
		b.WriteString("BUDGET CRITICAL: propose the smallest step that is worth it, or stop.\n")
	}
	return b.String()
}

func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }
