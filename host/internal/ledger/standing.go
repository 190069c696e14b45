package ledger

import (
	"fmt"
	"math"
)

// Standing is how much of one cap is used or reserved.
type Standing struct {
	Name string // for people: "dollars, today"
	Used float64
	Max  float64
	// Known: what was used is known exactly; otherwise Used has the most that calls of
	// unknown cost may have cost, or lacks the tokens of calls that told none.
	Known     bool
	InDollars bool
	// Guessed: Used has an estimate for calls of unknown cost, and not the most.
	Guessed bool
}

func (s Standing) String() string {
	show := whole
	if s.InDollars {
		show = usd
	}
	text := fmt.Sprintf("%s: %s of %s used (%.0f %%)", s.Name, show(s.Used), show(s.Max), math.Floor(100*s.Used/s.Max))
	switch {
	case s.Known:
	case s.Guessed:
		text += ", with an estimate for calls of unknown cost"
	case s.InDollars:
		text += "; calls of unknown cost count as the most they may cost"
	default:
		text += ", and more by calls that report no tokens"
	}
	return text
}

func (w window) standings() (out []Standing) {
	c, u := w.caps, w.used
	for _, s := range []Standing{
		{"dollars, " + w.name, u.Most(), c.MaxCostUSD, u.UnknownCalls == 0, true, false},
		{"calls, " + w.name, float64(u.Calls), float64(c.MaxCalls), true, false, false},
		{"tokens, " + w.name, float64(u.Tokens()), float64(c.MaxTokens), u.Untold == 0, false, false},
	} {
		if s.Max > 0 {
			out = append(out, s)
		}
	}
	return out
}

// Standings are all caps of the day and of the present run with what is used of them.
func (l *Ledger) Standings() ([]Standing, error) {
	var windows []window
	if l.run != "" {
		w, err := l.runWindow(l.run)
		if err != nil {
			return nil, err
		}
		windows = append(windows, w)
	}
	if l.dayCapped() {
		day, err := l.day()
		if err != nil {
			return nil, err
		}
		windows = append(windows, l.dayWindows(day, "")...)
	}
	var out []Standing
	for _, w := range windows {
		out = append(out, w.standings()...)
	}
	return out, nil
}

// Milestone is how much of each cap of the milestone is used.
func (l *Ledger) Milestone() (out []Standing) {
	c, of := l.state.Budgets, ", milestone "+l.name()
	for _, x := range l.lines(c, Worst{}) {
		out = append(out, Standing{x.name + of, float64(x.used), float64(x.cap), true, false, false})
	}
	if most := l.caps.PerMilestone.MaxEstimatedCostUSD; most > 0 {
		out = append(out, Standing{"dollars" + of, c.Spent(), most, c.UnknownCostCalls == 0, true, true})
	}
	return out
}

// Near reports whether so much of a cap is used that a person should know.
func (l *Ledger) Near(s Standing) bool {
	return l.caps.AlertAtFraction > 0 && s.Used >= l.caps.AlertAtFraction*s.Max
}

// Alerts are one-line texts: each cap of a day or run that is at or over the alert
// fraction.
func (l *Ledger) Alerts() []string {
	all, err := l.Standings()
	if err != nil {
		return []string{"what today's calls have used can't be read: " + err.Error()}
	}
	var out []string
	for _, s := range all {
		if l.Near(s) {
			out = append(out, s.String())
		}
	}
	return out
}
