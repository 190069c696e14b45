package modelcall

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/pluginhost"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/sdk/pluginpb"
)

// Caller makes the paid calls of one run. It may be used from several goroutines when its
// functions may.
type Caller struct {
	// Workflow names the places at which a test can end relay; RunID goes into the ledger.
	Workflow, RunID string
	// Plugins knows the accounts. Start gives the provider of a name.
	Plugins func() pluginenv.Env
	Start   func(ctx context.Context, name string) (*pluginenv.Plugin, error)
	// Reserve writes a call down before it is made: see [Milestone] and [Reservations].
	Reserve func(ledger.Call) (Hold, error)
	// Answers are kept there; the zero value keeps none.
	Answers Answers

	// Show is told what is under way, Note what a person should know afterwards.
	Show func(progress.Event)
	Note func(text string)
	// The rest may be nil. Spent is told of every settled call, Switched who stood in for
	// whom, Answered of every call with what came of it.
	Spent    func(ledger.Line)
	Switched func([]report.Switch)
	Answered func(*pluginpb.CompleteRequest, *pluginpb.CompleteDone, *pluginhost.Failure)
	Now      func() time.Time // nil means time.Now

	mu      sync.Mutex
	sent    map[string]int  // how often a call was sent, by the id of its question
	doubted map[string]bool // plugins that a note was made of
}

// Hold is a call that was reserved and not yet settled.
type Hold interface {
	ID() string
	Line(ledger.Usage) ledger.Line // what Settle would write
	Settle(ledger.Usage) error
	Cancel() error // the call was never sent, or bought nothing
}

// Milestone reserves calls of a milestone.
func Milestone(l *ledger.Ledger) func(ledger.Call) (Hold, error) {
	return func(c ledger.Call) (Hold, error) { return held(l.Reserve(c)) }
}

// Reserved reserves calls of a run that belongs to no milestone.
func Reserved(t *ledger.Reservations, caps ...func() ledger.Cap) func(ledger.Call) (Hold, error) {
	return func(c ledger.Call) (Hold, error) {
		now := make([]ledger.Cap, len(caps))
		for i, is := range caps {
			now[i] = is()
		}
		return held(t.Reserve(c, now...))
	}
}

// held keeps a nil pointer from becoming a Hold.
func held[H Hold](h H, err error) (Hold, error) {
	if err != nil {
		return nil, err
	}
	return h, nil
}

// Limited says that everybody who could be asked has met a limit or an outage, which
// ends by itself.
type Limited struct {
	First  *pluginhost.Failure // of the plugin that was asked first
	Limits []report.Limit
}

// Error is the first one's.
func (l *Limited) Error() string { return l.First.Error() }

// Soonest is when the first limit ends of which the end is known; zero when none is.
func (l *Limited) Soonest() (until time.Time) {
	for _, m := range l.Limits {
		if !m.Until.IsZero() && (until.IsZero() || m.Until.Before(until)) {
			until = m.Until
		}
	}
	return until
}

// Diagnostic says it in words; fix is what to do once the limit is over.
func (l *Limited) Diagnostic(fix func(when string) string) *diag.Error {
	flt := l.First.Diagnostic()
	when := "later"
	if until := l.Soonest(); !until.IsZero() {
		when = "after " + until.Local().Format(time.DateTime)
	}
	if n := len(l.Limits); n > 1 {
		flt.Why = strings.TrimPrefix(flt.Why+"; the fallback met a limit, too: "+l.Limits[n-1].Provider, "; ")
	}
	flt.Fix = fix(when)
	return flt
}

// Turn lets one of a lineup do the work. A failure of the plugin's or its vendor's comes
// apart from all other ends.
type Turn func(context.Context, pluginenv.Choice) (*pluginhost.Failure, error)

// Through lets one after the other of a lineup take its turn while they meet limits or
// outages; leave, which may be nil, comes before each next one. The error is a *Limited
// when nobody is left to ask.
func (d *Caller) Through(ctx context.Context, l *pluginenv.Lineup, turn Turn, leave func() error) (*pluginhost.Failure, error) {
	var first *pluginhost.Failure
	for ; ; l.Next() {
		f, err := turn(ctx, l.Now())
		switch met := err == nil && l.Met(f); {
		case met && first == nil:
			first = f
		case met:
		case !l.Now().First && ctx.Err() == nil && unusable(f, err):
			d.Note("the fallback " + l.Now().String() + " can't be used: " + whyNot(f, err))
		default:
			d.tellSwitches(l, f == nil && err == nil)
			return f, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if l.Last() {
			return nil, &Limited{First: first, Limits: l.Limits}
		}
		if leave != nil {
			if err := leave(); err != nil {
				return nil, err
			}
		}
	}
}

func (d *Caller) tellSwitches(l *pluginenv.Lineup, answered bool) {
	all := l.Settle(answered)
	for _, s := range all {
		d.Show(progress.Event{Kind: progress.Notice, Text: fmt.Sprintf("%s met %s; %s is used instead",
			pluginenv.Choice{Name: s.From.Provider, Model: s.From.Model}, s.From.Reason, l.Now())})
	}
	if d.Switched != nil && len(all) > 0 {
		d.Switched(all)
	}
}

// unusable tells a fallback that is not set up, or has used up a cap of its own, from one
// that has failed in its own way.
func unusable(f *pluginhost.Failure, err error) bool {
	if err != nil {
		flt, ok := diag.As(err)
		return errors.Is(err, ledger.ErrProviderCap) || ok && (flt.Code == judge.BlockedPlugin || flt.Code == judge.BlockedAuth || flt.Code == judge.BlockedBox)
	}
	return f != nil && pluginhost.Decide(f).Action == pluginhost.Block
}

func whyNot(f *pluginhost.Failure, err error) string {
	if err != nil {
		return diag.Internal(err).What
	}
	return f.Summary
}

// NotOpened says why a plugin could not be started, in the words of who knows it best.
func NotOpened(p *pluginenv.Plugin, err error) error {
	if f, ok := diag.As(err); ok {
		return f
	}
	if f, ok := errors.AsType[*pluginhost.Failure](err); ok {
		p.Failed(f)
		return f.Diagnostic()
	}
	return diag.Internal(err)
}

func (d *Caller) now() time.Time {
	if d.Now != nil {
		return d.Now()
	}
	return time.Now()
}
