package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/coordinator"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/judge"
)

// window is one span of spending that has caps: a run, a cycle, a day, or one
// provider's day.
type window struct {
	name string // for people
	key  string // of the configuration
	caps config.Caps
	used Sum // reserved calls included
	// dollars is the name of the cap on dollars below key; "" is max_cost_usd.
	dollars string
	// again is the command that goes over the cap; "" is relay run.
	again string
}

// Need is the most that calls of one provider can use.
type Need struct {
	Provider string
	Calls    int
	USD      float64
	Unbound  bool // nothing limits what one of them may cost
}

func (n Need) plus(o Need) Need {
	return Need{Provider: n.Provider, Calls: n.Calls + o.Calls, USD: Dollars(n.USD + o.USD), Unbound: n.Unbound || o.Unbound}
}

// runWindow and cycleWindow are those of the calls' own run and cycle.
func (l *Ledger) runWindow(id string) (window, error) {
	w := window{name: "run " + id, key: "budgets.per_run", caps: l.caps.PerRun, again: l.Again}
	if w.caps == (config.Caps{}) {
		return w, nil
	}
	if err := l.addPending(&w.used, func(p Pending) bool { return p.RunID == id }); err != nil {
		return w, err
	}
	mark := int64(0)
	if id == l.run {
		mark = l.mark
	}
	return w, UsagesFrom(l.ws, mark, func(u Line) error {
		if u.RunID == id {
			w.used.Add(u)
		}
		return nil
	})
}

func (l *Ledger) cycleWindow(id string) (window, error) {
	w := window{name: "cycle " + id, key: "budgets.per_cycle", caps: l.caps.PerCycle, again: l.Again}
	if w.caps == (config.Caps{}) || id == "" {
		return w, nil
	}
	all, err := AllTotals(l.ws)
	if err != nil {
		return w, err
	}
	w.used = all.Of(ByCycle, id)
	return w, l.addPending(&w.used, func(p Pending) bool { return p.CycleID == id })
}

// Cap is a bound on the dollars of some of a workflow's calls: of a run, or of a task.
type Cap struct {
	Name string  // for people: "task login"
	Key  string  // of the configuration, below pipeline
	USD  float64 // 0 for no cap
	Run  string  // only the calls of this one; "" for all of them
	Mark int64   // where they begin in usage.jsonl
	// Cause is the cause of an error, for callers that continue in another way; it may be nil.
	Cause error
}

// within holds a call to a cap of its own.
func (l *Ledger) within(c Cap, p Pending) error {
	w := window{name: c.Name, key: "pipeline", dollars: c.Key, caps: config.Caps{MaxCostUSD: c.USD}, again: l.Again}
	if c.USD == 0 {
		return nil
	}
	counts := func(workflow, run string) bool { return workflow == p.CycleID && (c.Run == "" || run == c.Run) }
	if err := l.addPending(&w.used, func(p Pending) bool { return counts(p.CycleID, p.RunID) }); err != nil {
		return err
	}
	err := UsagesFrom(l.ws, c.Mark, func(u Line) error {
		if counts(u.CycleID, u.RunID) {
			w.used.Add(u)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := w.covers(Need{p.Provider, 1, p.MaxUSD, p.MaxUSD == 0}); err != nil {
		f := diag.Internal(err)
		f.Err = c.Cause
		return f
	}
	return nil
}

// addPending adds the calls of this workspace that match and are not settled.
func (l *Ledger) addPending(s *Sum, match func(Pending) bool) error {
	pending, err := l.pending()
	if err != nil {
		return err
	}
	for _, p := range pending {
		if match(p) {
			s.reserve(p.MaxUSD)
		}
	}
	return nil
}

// pending are the calls of the workspace that are not settled, in any process.
func (l *Ledger) pending() ([]Pending, error) {
	open, err := openReservations(l.ws)
	return append(open, l.state.Pending...), err
}

// dayCapped reports whether days have caps.
func (l *Ledger) dayCapped() bool {
	return l.caps.PerDay != (config.Caps{}) || len(l.caps.PerProvider) > 0
}

// today is what each provider's calls have used today, in this workspace.
func (l *Ledger) today() (map[string]Sum, error) {
	day := map[string]Sum{}
	pending, err := l.pending()
	if err != nil {
		return nil, err
	}
	for _, p := range pending {
		s := day[p.Provider]
		s.reserve(p.MaxUSD)
		day[p.Provider] = s
	}
	return day, UsagesSince(l.ws, midnight(now()), func(u Line) error {
		s := day[u.Provider]
		s.Add(u)
		day[u.Provider] = s
		return nil
	})
}

// midnight is when the day began where the person is.
func midnight(t time.Time) time.Time {
	t = t.Local()
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
}

// dayWindows are those of a day; provider "" takes every provider that has caps.
func (l *Ledger) dayWindows(day map[string]Sum, provider string) []window {
	name := "today"
	if l.caps.Shared {
		name = "today, in all repositories of this machine"
	}
	if coordinator.Here() != "" {
		name = "today, on all machines of the fleet"
	}
	all := window{name: name, key: "budgets.per_day", caps: l.caps.PerDay, again: l.Again}
	for _, s := range day {
		all.used.Merge(s)
	}
	out := []window{all}
	for _, key := range slices.Sorted(maps.Keys(l.caps.PerProvider)) {
		of := catalog.Canonical(key)
		if provider != "" && of != catalog.Canonical(provider) {
			continue
		}
		out = append(out, window{name: of + " " + name, key: "budgets.per_provider." + key, caps: l.caps.PerProvider[key], used: day[of], again: l.Again})
	}
	return out
}

// covers reports whether what a window has left covers the need: nil, BLOCKED_BUDGET_CAP
// when a cap is reached, BLOCKED_BUDGET_EXHAUSTED when too little is left.
func (w window) covers(n Need) error {
	if n.Calls == 0 {
		return nil
	}
	c, u := w.caps, w.used
	for _, m := range []struct {
		what            string
		used, cap, need float64
		key             string
		show            func(float64) string
	}{
		{"calls", float64(u.Calls), float64(c.MaxCalls), float64(n.Calls), ".max_calls", whole},
		{"tokens", float64(u.Tokens()), float64(c.MaxTokens), 0, ".max_tokens", whole},
		{"dollars", u.Most(), c.MaxCostUSD, n.USD, "." + cmp.Or(w.dollars, "max_cost_usd"), usd},
	} {
		if m.cap == 0 {
			continue
		}
		left := fmt.Sprintf("%s of %s are used or reserved", m.show(m.used), m.show(m.cap))
		if m.what == "dollars" && u.UnknownCalls > 0 {
			left += fmt.Sprintf(" (%s of unknown cost at the most they may cost)", format.Count(u.UnknownCalls, "call"))
		}
		enough := m.used + max(m.need, 1)
		if w.dollars != "" { // a run of many calls: enough for one would stop it at the next
			enough = max(enough, 2*m.cap)
		}
		switch {
		case m.what == "dollars" && n.Unbound && strings.HasPrefix(w.again, "relay audit "):
			return diag.New(judge.BlockedBudgetExhausted, "the dollars of "+w.name+" have a cap, and nothing limits what a call may cost",
				"cycle.max_call_usd of the service was 0 when the cycle began, so the cap could not be kept", "`"+w.with(w.key+m.key+"=0")+"` goes without the cap once")
		case m.what == "dollars" && n.Unbound:
			return diag.New(judge.BlockedBudgetExhausted, "the dollars of "+w.name+" have a cap, and nothing limits what a call may cost",
				"orchestrator.max_budget_usd or builder.claude_code.max_budget_usd is 0, so the cap could not be kept",
				"`"+w.with("orchestrator.max_budget_usd=1", "builder.claude_code.max_budget_usd=2")+"` gives each call a limit")
		case m.what == "dollars" && u.Boundless > 0:
			return diag.New(judge.BlockedBudgetExhausted, "the dollars of "+w.name+" have a cap, and the amount used is unknown",
				fmt.Sprintf("nothing limited what %d calls of unknown cost may have cost", u.Boundless),
				"`"+w.with(w.key+m.key+"=0")+"` goes without the cap once; `relay cost --by provider --since 24h` shows the calls")
		case m.used >= m.cap:
			return diag.New(judge.BlockedBudgetCap, "the "+m.what+" of "+w.name+" are used up", left, w.raise(m.key, enough))
		case m.used+m.need > m.cap:
			return diag.New(judge.BlockedBudgetExhausted, "the "+m.what+" of "+w.name+" do not cover what comes next",
				fmt.Sprintf("%s, and it can need %s", left, m.show(m.need)), w.raise(m.key, enough))
		}
	}
	return nil
}

// raise is the command that goes over a cap once.
func (w window) raise(key string, to float64) string {
	fix := "`" + w.with(w.key+key+"="+whole(math.Ceil(to))) + "` goes over the cap once; `relay config show --origin` says where it is set"
	if w.dollars == "" && !strings.HasPrefix(w.key, "budgets.per_run") && !strings.HasPrefix(w.key, "budgets.per_cycle") {
		fix += ", and it resets tomorrow"
	}
	return fix
}

// with is the window's command with these settings in the place of its own.
func (w window) with(settings ...string) string {
	cmd := cmp.Or(w.again, "relay run")
	for _, s := range settings {
		key, _, _ := strings.Cut(s, "=")
		cmd = regexp.MustCompile(" --set "+regexp.QuoteMeta(key)+"=[0-9.]+").ReplaceAllString(cmd, "") + " --set " + s
	}
	return cmd
}

func whole(n float64) string { return fmt.Sprintf("%.0f", n) }
func usd(n float64) string   { return fmt.Sprintf("$%.2f", n) }

// checkCaps refuses needs that a run or the day does not cover.
func (l *Ledger) checkCaps(needs []Need) error {
	total := Need{}
	for _, n := range needs {
		total = total.plus(n)
	}
	if err := (window{name: "one run", key: "budgets.per_run", caps: l.caps.PerRun, again: l.Again}).covers(total); err != nil {
		return err
	}
	if !l.dayCapped() {
		return nil
	}
	day, err := l.day()
	if err != nil {
		return err
	}
	return l.coversDay(day, needs)
}

// ErrProviderCap is the cause when nothing but one provider's own cap is in the way, so that
// another provider may be asked.
var ErrProviderCap = errors.New("the provider has used its own cap")

// coversDay checks the day's caps against all needs, and each provider's against its own.
func (l *Ledger) coversDay(day map[string]Sum, needs []Need) error {
	total, of := Need{}, map[string]Need{}
	for _, n := range needs {
		n.Provider = catalog.Canonical(n.Provider)
		total, of[n.Provider] = total.plus(n), n.plus(of[n.Provider])
	}
	windows := l.dayWindows(day, "")
	if err := windows[0].covers(total); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		for _, w := range l.dayWindows(day, name)[1:] {
			if err := w.covers(of[name]); err != nil {
				f := diag.Internal(err)
				f.Err = ErrProviderCap
				return f
			}
		}
	}
	return nil
}
