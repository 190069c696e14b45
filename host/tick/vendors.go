package tick

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/paxiom/relay/host/internal/crew"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/pluginhost"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/host/internal/report"
)

// orchestrators are the configured provider and its fallback.
func (r *run) orchestrators() *crew.Lineup {
	return r.crew().Lineup(ledger.RoleOrchestrator, r.cfg.Orchestrator.Provider, r.cfg.Models.OrchestratorModel, r.cfg.Fallback.Orchestrator)
}

// workers are the builder that the task names and its fallback. A patch is applied by
// patch or not at all.
func (r *run) workers() *crew.Lineup {
	fallback := r.cfg.Fallback.Builder
	if r.task.Builder.Mode == "patch" {
		fallback = nil
	}
	return r.crew().Lineup(ledger.RoleBuilder, r.task.Builder.Mode, r.cfg.Models.BuilderModel, fallback)
}

// passOn decides after a call of a lineup: it is done, or its limit is the verdict since
// nobody is left to ask, or the next one is asked.
func (r *run) passOn(ctx context.Context, l *crew.Lineup, first **pluginhost.Failure, f *pluginhost.Failure, err error) (done bool, verdict error) {
	switch met := err == nil && l.Met(f); {
	case met && *first == nil:
		*first = f
	case met:
	case !l.Now().First && ctx.Err() == nil && unusable(f, err):
		r.note("the fallback " + l.Now().String() + " can't be used: " + whyNot(f, err))
	default:
		for _, s := range l.Settle(f == nil && err == nil) {
			r.rep.Switches = append(r.rep.Switches, s)
			r.observe(progress.Event{Kind: progress.Notice, Text: fmt.Sprintf("%s met %s; %s is used instead",
				crew.Choice{Name: s.From.Provider, Model: s.From.Model}, s.From.Reason, l.Now())})
		}
		return true, nil
	}
	if ctx.Err() != nil {
		return false, interrupted(ctx, ctx.Err())
	}
	if l.Last() {
		return false, r.limitFault(*first, l.Limits)
	}
	return false, nil
}

// admit waits for the call's turn on its account, and shows that it does.
func (r *run) admit(ctx context.Context, c crew.Choice, role, rpc string) (*pluginhost.Failure, error) {
	f, err := r.crew().Admit(ctx, c.Name, role, rpc, func(d time.Duration) {
		r.observe(progress.Event{Kind: progress.Plugin, Plugin: c.Name, Text: "waits " + d.Round(time.Second).String() + " for its turn under calls_per_minute"})
	})
	return f, interrupted(ctx, err)
}

// keepUnfinished keeps what a builder had done when it met a limit: the next one begins
// anew, and nothing is ever lost.
func (r *run) keepUnfinished(ctx context.Context) {
	if !r.built || r.change == nil {
		return
	}
	_, err := r.change.Judge(ctx, r.policy())
	if err == nil && len(r.change.Touched().Changes) > 0 {
		name := "unfinished-" + r.builder.Entry.Name + ".patch"
		var kept bool
		if kept, err = r.writePatch(name); kept {
			r.note("what " + r.builder.Entry.Name + " had done when it met its limit is kept in the history as " + name)
		}
	}
	if err != nil {
		r.note("what " + r.builder.Entry.Name + " had done when it met its limit could not be kept: " + err.Error())
	}
}

// limitFault is the verdict of a run that limits or outages ended.
func (r *run) limitFault(f *pluginhost.Failure, limits []report.Limit) error {
	r.rep.Limits = limits
	flt := f.Fault()
	var until time.Time
	for _, l := range limits {
		if !l.Until.IsZero() && (until.IsZero() || l.Until.Before(until)) {
			until = l.Until
		}
	}
	when := "later"
	if !until.IsZero() {
		when = "after " + until.Local().Format(time.DateTime)
	}
	if n := len(limits); n > 1 {
		flt.Why = strings.TrimPrefix(flt.Why+"; the fallback met a limit, too: "+limits[n-1].Provider, "; ")
	}
	flt.Fix = "`relay run` " + when + "; `relay loop` waits for it by itself"
	return flt
}
