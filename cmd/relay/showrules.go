package main

import (
	"slices"

	"github.com/paxiom/relay/host"
)

// showRules says rule by rule why a run ended as it did. Where all held, one line does.
func showRules(p *printer, all []host.RuleLook) {
	if len(all) == 0 {
		return
	}
	if !slices.ContainsFunc(all, func(r host.RuleLook) bool { return r.State != host.RuleHeld }) {
		p.row("rules", plain(len(all))+" looked at, all held")
		return
	}
	p.linef("\n%s", p.bold("Rule by rule, as they decide"))
	for _, r := range all {
		switch r.State {
		case host.RuleHeld:
			p.hang("  "+p.green("✓")+" "+pad("held", 11)+" ", r.Rule)
		case host.RuleNotReached:
			p.hang("  "+p.dim("·")+" "+p.dim(pad("not reached", 11))+" ", p.dim(r.Rule))
		default:
			word := "broken, too"
			if r.State == host.RuleDecided {
				word = "BROKEN"
			}
			rule := r.Rule
			if r.Code != "" {
				rule += "  " + p.dim(string(r.Code))
			}
			p.hang("  "+p.red("✗")+" "+p.red(pad(word, 11))+" ", rule)
			showHits(p, r)
		}
	}
}

// showHits names what broke a rule.
func showHits(p *printer, r host.RuleLook) {
	for i, h := range r.Hits {
		if i == 2*maxShown {
			p.linef("                and %d more: relay show --json", len(r.Hits)-i)
			return
		}
		text := host.Safe(h.Rule)
		if h.Path != "" {
			text = host.Safe(h.Path) + "  " + text
		}
		p.hang("                ", text)
	}
}
