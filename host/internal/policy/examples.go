package policy

import (
	"fmt"

	"github.com/paxiom/relay/host/internal/strictjson"
)

// Tried is a rule with what its examples showed.
type Tried struct {
	Name     string   `json:"name"` // of the rule
	Effect   Effect   `json:"effect"`
	At       string   `json:"at"`
	Message  string   `json:"message"`          // what the rule tells people
	Examples int      `json:"examples"`         // how many it has
	Failed   []string `json:"failed,omitempty"` // each with its place
}

// Try holds every rule to its examples.
func (s *Set) Try() []Tried {
	all := []Tried{}
	for _, r := range s.rules {
		t := Tried{Name: r.name, Effect: r.effect, At: r.at(), Message: r.message, Examples: len(r.examples)}
		for _, e := range r.examples {
			if why := r.try(e); why != "" {
				t.Failed = append(t.Failed, fmt.Sprintf("%s:%d: %s", r.file, e.line, why))
			}
		}
		all = append(all, t)
	}
	return all
}

// try says how an example is not as it should be; "" when it is.
func (r *rule) try(e example) string {
	var in Input
	if err := strictjson.Unmarshal([]byte(e.text), &in); err != nil {
		return "the example can't be read: " + oneLine(err.Error())
	}
	if in.Change.Lines == 0 {
		for _, p := range in.Change.Paths {
			in.Change.Lines += p.Added + p.Removed
		}
	}
	f, err := newFacts(in)
	holds := false
	if err == nil {
		holds, err = r.holds(f)
	}
	switch {
	case err != nil:
		return "the rule can't be computed, so it forbids: " + oneLine(err.Error())
	case e.applies && !holds:
		return "the rule should apply, and lets it pass"
	case !e.applies && holds:
		return "the rule should let it pass, and applies"
	}
	return ""
}
