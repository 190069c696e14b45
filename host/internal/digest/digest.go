package digest

import (
	"fmt"
	"time"

	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/judge"
)

// Digest is one span of time in one repository.
type Digest struct {
	Repository string    `json:"repository"` // absolute path of its root
	Since      time.Time `json:"since"`
	Until      time.Time `json:"until"`
	Doubts     []Item    `json:"doubts"`   // what can't be trusted yet
	Waiting    []Item    `json:"waiting"`  // what needs a person
	Accepted   []Item    `json:"accepted"` // audit cycles
	Landed     []Run     `json:"landed"`   // newest first
	Stopped    []Stop    `json:"stopped"`  // newest first
	Verdicts   []Count   `json:"verdicts"`
	Spend      Spend     `json:"spend"`
	States     []State   `json:"states"`             // where the time went
	Runs       []Run     `json:"runs"`               // all, oldest first
	Left       int       `json:"left_off,omitempty"` // runs that are not listed
}

// Item is something to know, with the command that deals with it.
type Item struct {
	What    string   `json:"what"`
	Why     string   `json:"why,omitempty"`
	Command string   `json:"next"`           // what to type, with words around it
	Runs    []string `json:"runs,omitempty"` // ids
}

// Run is one run.
type Run struct {
	RunID        string     `json:"run_id"`
	Workflow     string     `json:"workflow"`
	At           time.Time  `json:"at"` // when it began
	Code         judge.Code `json:"code"`
	Intent       string     `json:"intent,omitempty"`
	Commit       string     `json:"commit,omitempty"`
	Undone       bool       `json:"undone,omitempty"` // taken back since
	Files        int        `json:"files"`
	Added        int        `json:"added"`
	Deleted      int        `json:"deleted"`
	DurationMS   int64      `json:"duration_ms"`
	Checks       int        `json:"checks"`   // how many ran
	CostUSD      *float64   `json:"cost_usd"` // of the calls whose cost is known
	UnknownCalls int        `json:"unknown_cost_calls"`
	Diff         string     `json:"-"` // how the kept patch begins, for the page
}

// Lines is the size of the change.
func (r Run) Lines() int { return r.Added + r.Deleted }

// Radius is the size of the change in the words of the seeds.
func (r Run) Radius() string {
	return fmt.Sprintf("%s, +%d/-%d", format.Count(r.Files, "file"), r.Added, r.Deleted)
}

// Stop is a run that stopped or was blocked.
type Stop struct {
	Run
	Title   string `json:"title"` // of the code
	Why     string `json:"why,omitempty"`
	Command string `json:"next"`
}

// Count is how often a code came.
type Count struct {
	Code judge.Code `json:"code"`
	Runs int        `json:"runs"` // how many
}

// State is how long the runs were in one state.
type State struct {
	State string `json:"state"` // of a tick
	MS    int64  `json:"ms"`
}

// Spend is what calls have used, against the caps that are in force now.
type Spend struct {
	Total     ledger.Sum `json:"total"`
	Providers []Provider `json:"providers"`
	Caps      []Cap      `json:"caps"`
}

// Provider is the part of one provider.
type Provider struct {
	Name string `json:"name"`
	ledger.Sum
}

// Cap is one cap; Text says it in words.
type Cap struct {
	Text string  `json:"text"`
	Used float64 `json:"used"`
	Max  float64 `json:"max"`
}

// Money says what calls cost; what nobody knows is never shown as 0.
func Money(s ledger.Sum) string {
	text := ""
	if s.CostUSD != nil {
		text = fmt.Sprintf("$%.2f", *s.CostUSD)
		if *s.CostUSD > 0 && *s.CostUSD < 1 {
			text = fmt.Sprintf("$%.4f", *s.CostUSD)
		}
	}
	if s.UnknownCalls > 0 {
		if text != "" {
			text = "at least " + text + ", and "
		}
		text += format.Count(s.UnknownCalls, "call") + " of unknown cost"
		if s.UnknownMaxUSD > 0 {
			text += fmt.Sprintf(" (allowed $%.2f)", s.UnknownMaxUSD)
		}
	}
	if text == "" {
		return "nothing"
	}
	return text
}

// Headline is the digest in one line.
func (d *Digest) Headline() string {
	return fmt.Sprintf("%s: %d landed, %d stopped or blocked; spent %s", format.Count(len(d.Runs), "run"), len(d.Landed), len(d.Stopped), Money(d.Spend.Total))
}

// Span is the time that the digest is about.
func (d *Digest) Span() string {
	return Clock(d.Since) + " to " + Clock(d.Until)
}

// Clock is a time for people, where they are.
func Clock(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

// Took is a duration for people.
func Took(ms int64) string {
	switch d := time.Duration(ms) * time.Millisecond; {
	case d < time.Second:
		return fmt.Sprintf("%d ms", ms)
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	default:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
}
