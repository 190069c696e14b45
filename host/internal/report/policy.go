package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/paxiom/relay/host/internal/format"
)

// Policy is the policy as code that was in force, and what it made of the change.
type Policy struct {
	SHA256  string      `json:"sha256,omitempty"`  // of the files with rules; "" where no file has any
	Rules   int         `json:"rules"`             // how many were in force
	Ignored []string    `json:"ignored,omitempty"` // files of the repository's folder that are not relay's
	Hits    []PolicyHit `json:"hits,omitempty"`    // rules that are true of the change: all that ask, and at most 100 that forbid
	// Approvals are those that the rules could count.
	Approvals []PolicyYes `json:"approvals,omitempty"`
}

// PolicyYes is an operator's yes, as the rules see it.
type PolicyYes struct {
	Kind string `json:"kind"`          // what was approved
	Key  string `json:"key,omitempty"` // the fingerprint of who said it, "" where nothing tells that
}

// String says it on one line.
func (y PolicyYes) String() string { return y.Kind + " by " + cmp.Or(y.Key, "nobody's key") }

// PolicyHit is one rule that is true of the change.
type PolicyHit struct {
	Rule     string `json:"rule"`
	Effect   string `json:"effect"`             // forbid or ask
	At       string `json:"at"`                 // file:line
	Message  string `json:"message"`            // what the rule tells people
	Approved bool   `json:"approved,omitempty"` // the operator was asked and said yes
}

// ID tells a rule from every other: the user and the repository can have one of the same name.
func (h PolicyHit) ID() string { return h.Rule + " " + h.At }

// String says it on one line.
func (h PolicyHit) String() string { return fmt.Sprintf("%s: %s (%s)", h.Rule, h.Message, h.At) }

// Forbids are the rules that forbid.
func (p *Policy) Forbids() []PolicyHit {
	return p.having(func(h PolicyHit) bool { return h.Effect != "ask" })
}

// Asks are the rules that ask and have no yes.
func (p *Policy) Asks() []PolicyHit {
	return p.having(func(h PolicyHit) bool { return h.Effect == "ask" && !h.Approved })
}

// Approve notes the operator's yes to rules that ask.
func (p *Policy) Approve(asks []PolicyHit) {
	for _, a := range asks {
		for i, h := range p.Hits {
			if h.ID() == a.ID() && h.Effect == a.Effect {
				p.Hits[i].Approved = true
			}
		}
	}
}

// Allowed lists what the policy asked about and the operator let land.
func (p *Policy) Allowed() []PolicyHit {
	return p.having(func(h PolicyHit) bool { return h.Approved })
}

func (p *Policy) having(what func(PolicyHit) bool) (hits []PolicyHit) {
	if p == nil {
		return nil
	}
	for _, h := range p.Hits {
		if what(h) {
			hits = append(hits, h)
		}
	}
	return hits
}

// ListHits says hits on one line, the first ones.
func ListHits(hits []PolicyHit) string {
	const shown = 3
	var all []string
	for i, h := range hits {
		if i == shown {
			all = append(all, fmt.Sprintf("and %d more", len(hits)-i))
			break
		}
		all = append(all, h.String())
	}
	return format.Clip(Safe(strings.Join(all, "; ")), 1000)
}

func (p *page) policy(of *Policy) {
	if of == nil {
		return
	}
	p.head("Policy")
	if of.SHA256 != "" {
		p.line("- %s, digest %s", format.Count(of.Rules, "rule"), span(of.SHA256))
	}
	p.list(of.Ignored, "not a file of rules: ", text)
	for _, y := range of.Approvals {
		p.line("- approved: %s", text(y.String()))
	}
	for _, h := range of.Hits {
		end := ""
		if h.Approved {
			end = "; you said yes"
		}
		p.line("- %s: %s%s", h.Effect, text(h.String()), end)
	}
}
