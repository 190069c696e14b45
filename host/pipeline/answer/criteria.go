package answer

import (
	"fmt"
	"strings"

	"github.com/paxiom/relay/schemas"
)

// Verdicts on a criterion.
const (
	Yes    = "yes"
	No     = "no"
	Unsure = "unsure"
)

// Criteria is what a checker says of a task's acceptance criteria.
type Criteria struct {
	Criteria []Verdict `json:"criteria"`
}

// Verdict is what is said of one criterion.
type Verdict struct {
	Criterion int        `json:"criterion"` // 1 for the first
	Verdict   string     `json:"verdict"`
	Why       string     `json:"why"`
	Evidence  []Evidence `json:"evidence"`
	// Doubt is why a verdict counts as unsure though another was given.
	Doubt string `json:"doubt,omitempty"`
}

// Evidence is a quote of a file or of what a command printed.
type Evidence struct {
	Kind    string `json:"kind"` // file, command
	File    string `json:"file"`
	Line    int    `json:"line"`
	Command string `json:"command"`
	Quote   string `json:"quote"` // the exact words
}

// String says where the quote stands.
func (e Evidence) String() string {
	if e.Kind == "command" {
		return "`" + e.Command + "`: " + e.Quote
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Quote)
}

// ReadCriteria reads the answer of a checker.
func ReadCriteria(text []byte) (*Criteria, error) {
	return read[Criteria](schemas.PipelineCriteria, text)
}

// Witness is where evidence is looked up: the files as they would land, and what the
// commands that relay ran have printed.
type Witness struct {
	File   func(path string) (text string, ok bool)
	Output map[string]string
}

// lineSlack is how many lines a quote may stand away from where it is said to stand:
// models count badly, and the words are what proves.
const lineSlack = 5

// Settle gives a verdict for each of n criteria, in order. One that was not given, that
// was given twice, or whose evidence is not where it is said to be, is unsure.
func (c *Criteria) Settle(n int, w Witness) []Verdict {
	out := make([]Verdict, n)
	seen := make([]int, n)
	for _, v := range c.Criteria {
		if v.Criterion < 1 || v.Criterion > n {
			continue
		}
		seen[v.Criterion-1]++
		out[v.Criterion-1] = v
	}
	for i := range out {
		v := &out[i]
		v.Criterion = i + 1
		switch {
		case seen[i] == 0:
			v.doubt("nothing was said of it")
		case seen[i] > 1:
			v.doubt("it was given more than one verdict")
		case v.Verdict == Unsure:
		case len(v.Evidence) == 0:
			v.doubt("no evidence was given")
		default:
			for _, e := range v.Evidence {
				if why := e.lookUp(w); why != "" {
					v.doubt(why)
					break
				}
			}
		}
	}
	return out
}

func (v *Verdict) doubt(why string) { v.Verdict, v.Doubt = Unsure, why }

// lookUp says why evidence does not hold, "" when it does.
func (e Evidence) lookUp(w Witness) string {
	quote := strings.TrimSpace(e.Quote)
	if squeeze(quote) == "" {
		return "a quote is empty"
	}
	if e.Kind == "command" {
		text, ok := w.Output[e.Command]
		switch {
		case !ok:
			return fmt.Sprintf("the command %q was never run", e.Command)
		case !strings.Contains(squeeze(text), squeeze(quote)):
			return fmt.Sprintf("the command %q printed nothing like the quote", e.Command)
		}
		return ""
	}
	text, ok := w.File(e.File)
	if !ok {
		return fmt.Sprintf("there is no file %q", e.File)
	}
	lines := strings.Split(text, "\n")
	if e.Line < 1 || e.Line > len(lines) {
		return fmt.Sprintf("%s has no line %d", e.File, e.Line)
	}
	from := max(0, e.Line-1-lineSlack)
	to := min(len(lines), e.Line+lineSlack+strings.Count(quote, "\n"))
	if !strings.Contains(squeeze(strings.Join(lines[from:to], "\n")), squeeze(quote)) {
		return fmt.Sprintf("the quote isn't in %s at line %d", e.File, e.Line)
	}
	return ""
}
