package digest

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/judge"
)

// The plots share one width and one axis of time. Everything in them is a number or
// goes through the page's template, which escapes it.
const (
	plotWidth  = 900.0
	plotLeft   = 64.0
	plotRight  = 880.0
	plotTop    = 12.0
	plotBottom = 132.0
)

// Plot is one plot as the template draws it.
type Plot struct {
	Title  string
	Height float64
	Ticks  []Label // of time, below
	Levels []Label // of value, at the left
	Path   string  // a line
	Cap    *Label  // a level that may not be passed
	Marks  []Mark
}

// Label is a text at a place.
type Label struct {
	At   float64
	Text string
}

// Mark is one run. Its shape says the outcome, so that nothing is said by color alone.
type Mark struct {
	X, Y, H float64
	Class   string // landed, success, stop, blocked
	Shape   string // circle, square, triangle, bar
	Points  string // of a triangle
	Title   string
}

// axis is the span that the plots show: that of the runs, with a little room at both ends.
func (d *Digest) axis() (from, until time.Time) {
	if len(d.Runs) == 0 {
		return d.Since, d.Until
	}
	from, until = d.Runs[0].At, d.Runs[len(d.Runs)-1].At
	room := max(until.Sub(from)/50, 30*time.Second)
	return from.Add(-room), until.Add(room)
}

func (d *Digest) x(t time.Time) float64 {
	from, until := d.axis()
	span := until.Sub(from).Seconds()
	if span <= 0 {
		return plotLeft
	}
	at := t.Sub(from).Seconds() / span
	return round(plotLeft + (plotRight-plotLeft)*min(max(at, 0), 1))
}

func y(v, top float64) float64 {
	if top <= 0 {
		return plotBottom
	}
	return round(plotBottom - (plotBottom-plotTop)*min(v/top, 1))
}

func round(v float64) float64 { return math.Round(v*10) / 10 }

// timeTicks are at most seven.
func (d *Digest) timeTicks() (out []Label) {
	from, until := d.axis()
	span := until.Sub(from)
	step := 24 * time.Hour
	for _, s := range []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 4 * time.Hour, 12 * time.Hour} {
		if span/s <= 7 {
			step = s
			break
		}
	}
	for ; span/step > 7; step *= 2 {
	}
	layout := "15:04"
	if step >= 12*time.Hour {
		layout = "01-02 15:04"
	}
	_, offset := from.Local().Zone()
	zone := time.Duration(offset) * time.Second
	for t := from.Add(zone).Truncate(step).Add(step - zone); t.Before(until); t = t.Add(step) {
		out = append(out, Label{d.x(t), t.Local().Format(layout)})
	}
	return out
}

// levels are zero, half and the top.
func levels(top float64, show func(float64) string) []Label {
	if top <= 0 {
		return []Label{{plotBottom, show(0)}}
	}
	return []Label{{plotBottom, show(0)}, {y(top/2, top), show(top / 2)}, {y(top, top), show(top)}}
}

// SpendPlot is the known cost adding up. Runs with calls of unknown cost are marked at
// the bottom: what they cost is not in the line.
func (d *Digest) SpendPlot() Plot {
	p := Plot{Title: "Spend: known cost adding up; a square is a run with calls of unknown cost", Height: plotBottom + 24, Ticks: d.timeTicks()}
	total := 0.0
	for _, r := range d.Runs {
		if r.CostUSD != nil {
			total += *r.CostUSD
		}
	}
	top := total
	for _, c := range d.Spend.Caps {
		if strings.HasPrefix(c.Text, "dollars, today") {
			top = max(top, c.Max)
			p.Cap = &Label{Text: fmt.Sprintf("cap of the day, $%.2f", c.Max), At: c.Max}
		}
	}
	if p.Cap != nil {
		p.Cap.At = y(p.Cap.At, top)
	}
	p.Levels = levels(top, func(v float64) string { return fmt.Sprintf("$%.2f", v) })
	var path strings.Builder
	fmt.Fprintf(&path, "M%.1f %.1f", plotLeft, y(0, top))
	sum := 0.0
	for _, r := range d.Runs {
		if r.CostUSD != nil {
			sum += *r.CostUSD
			fmt.Fprintf(&path, " H%.1f V%.1f", d.x(r.At), y(sum, top))
		}
		if r.UnknownCalls > 0 {
			p.Marks = append(p.Marks, Mark{X: d.x(r.At), Y: plotBottom, Class: "blocked", Shape: "square",
				Title: fmt.Sprintf("%s: %s of unknown cost", r.RunID, format.Count(r.UnknownCalls, "call"))})
		}
	}
	fmt.Fprintf(&path, " H%.1f", plotRight)
	p.Path = path.String()
	return p
}

// VerdictPlot has one mark for each run, in a row for each outcome.
func (d *Digest) VerdictPlot() Plot {
	rows := []struct {
		class, shape string
		at           float64
	}{{"success", "circle", 30}, {"stop", "square", 70}, {"blocked", "triangle", 110}}
	p := Plot{Title: "Verdicts: each mark is a run", Height: plotBottom + 24, Ticks: d.timeTicks()}
	for _, row := range rows {
		p.Levels = append(p.Levels, Label{row.at, row.class})
	}
	for _, r := range d.Runs {
		row := rows[outcomeRow(r.Code)]
		m := Mark{X: d.x(r.At), Y: row.at, Class: row.class, Shape: row.shape, Title: title(r)}
		m.Points = fmt.Sprintf("%.1f,%.1f %.1f,%.1f %.1f,%.1f", m.X, m.Y-6, m.X-6, m.Y+5, m.X+6, m.Y+5)
		p.Marks = append(p.Marks, m)
	}
	return p
}

func outcomeRow(c judge.Code) int {
	switch c.Outcome() {
	case judge.OutcomeSuccess:
		return 0
	case judge.OutcomeBlocked:
		return 2
	}
	return 1
}

// RadiusPlot has a bar for each change: filled when it landed, an outline when not.
func (d *Digest) RadiusPlot() Plot {
	p := Plot{Title: "Blast radius: lines of each change; filled landed, outlined did not", Height: plotBottom + 24, Ticks: d.timeTicks()}
	top := 0.0
	for _, r := range d.Runs {
		top = max(top, float64(r.Lines()))
	}
	p.Levels = levels(top, func(v float64) string { return fmt.Sprintf("%.0f", v) })
	for _, r := range d.Runs {
		if r.Lines() == 0 {
			continue
		}
		at := min(y(float64(r.Lines()), top), plotBottom-2)
		m := Mark{X: d.x(r.At) - 3, Y: at, H: round(plotBottom - at), Class: "rejected", Shape: "bar", Title: title(r)}
		if r.Commit != "" {
			m.Class = "landed"
		}
		p.Marks = append(p.Marks, m)
	}
	return p
}

func title(r Run) string {
	text := r.RunID + " " + string(r.Code)
	if r.Intent != "" {
		text += ": " + r.Intent
	}
	if r.Files > 0 {
		text += " (" + r.Radius() + ")"
	}
	return text
}

// StateBar is one bar of where the time went.
type StateBar struct {
	Y, Width    float64
	State, Took string
}

// StateBars are the states, longest first as they are given.
func (d *Digest) StateBars() (out []StateBar) {
	most := int64(0)
	for _, s := range d.States {
		most = max(most, s.MS)
	}
	for i, s := range d.States {
		out = append(out, StateBar{Y: float64(i * 24), Width: round(600 * float64(s.MS) / float64(max(most, 1))), State: strings.ToLower(s.State), Took: Took(s.MS)})
	}
	return out
}

// StatesHeight is how high those bars are together.
func (d *Digest) StatesHeight() int { return 24*len(d.States) + 4 }
