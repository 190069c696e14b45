package host

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host/cycle"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/digest"
	"github.com/paxiom/relay/host/internal/history"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/lock"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/pipeline"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
)

// Types of a digest that the commands show.
type (
	// DigestItem is something to know, with the command that deals with it.
	DigestItem = digest.Item
)

// DigestResult is what happened in a span of time.
type DigestResult struct {
	Doc
	digest.Digest
	ExitCode int `json:"exit_code"` // 1 while something waits for the operator
}

// Markdown and HTML render the digest; in both a stranger's text is only text.
func (d *DigestResult) Markdown() []byte      { return digest.Markdown(&d.Digest) }
func (d *DigestResult) HTML() ([]byte, error) { return digest.HTML(&d.Digest) }

// Money is what calls cost, and how many reported no cost.
func Money(s ledger.Sum) string { return digest.Money(s) }

// maxDigest is how many runs a digest reads.
const maxDigest = 5000

// Digest sums up the runs of the last while. It starts no process.
func (r *Repo) Digest(ctx context.Context, since time.Duration) (*DigestResult, error) {
	o, err := r.Look()
	if err != nil {
		return nil, err
	}
	now := time.Now()
	d := &DigestResult{Doc: DocOf("relay.report", 1), Digest: digest.Digest{Repository: o.Root, Since: now.Add(-since).UTC(), Until: now.UTC(),
		Doubts: []digest.Item{}, Waiting: []digest.Item{}, Accepted: []digest.Item{}, Landed: []digest.Run{}, Stopped: []digest.Stop{}, Verdicts: []digest.Count{},
		States: []digest.State{}, Runs: []digest.Run{}}}
	g := gathering{d: &d.Digest, window: sinceText(since), cost: map[string]*ledger.Sum{}, states: map[string]int64{}, codes: map[judge.Code]int{}, doubts: map[string]*digest.Item{}}
	if state, info, err := lock.Inspect(o.WS.Lock()); err == nil && state == lock.Held {
		g.holder = info
	}
	if err := g.spend(o, r.StateDir()); err != nil {
		return nil, err
	}
	if err := g.runs(o); err != nil {
		return nil, err
	}
	if err := g.cycles(o, r.Now()); err != nil {
		return nil, err
	}
	g.plugins(r, o.Root)
	g.finish()
	status, err := r.Status(ctx, false)
	if err != nil {
		return nil, err
	}
	g.waiting(status)
	if len(status.Needs) > 0 || status.Problem != nil {
		d.ExitCode = ExitWaiting
	}
	return d, nil
}

// sinceText is a while as the flag has it.
func sinceText(d time.Duration) string {
	if d%time.Hour == 0 {
		return fmt.Sprintf("%dh", int(d/time.Hour))
	}
	return d.String()
}

// gathering is a digest under way.
type gathering struct {
	d      *digest.Digest
	window string
	cost   map[string]*ledger.Sum // by run
	states map[string]int64
	codes  map[judge.Code]int
	names  []string // of the plugins that took part
	doubts map[string]*digest.Item
	holder *lock.Info // who works here now; nil when nobody does
}

// running reports whether a run without an end is under way now.
func (g *gathering) running(m history.Meta) bool {
	return g.holder != nil && (g.holder.RunID == m.RunID || g.holder.Command == pipeline.Command && m.Workflow == history.Task)
}

// spend adds up the calls, and takes the caps that are in force.
func (g *gathering) spend(o *Opened, stateDir string) error {
	byName := map[string]*ledger.Sum{}
	err := ledger.UsagesSince(o.WS, g.d.Since, func(u ledger.Line) error {
		sumOf(byName, u.Provider).Add(u)
		g.tookPart(u.Provider)
		sumOf(g.cost, u.RunID).Add(u)
		g.d.Spend.Total.Add(u)
		return nil
	})
	if err != nil {
		return diag.Wrap(err, "", "usage.jsonl can't be read", "`ls -l "+diag.Word(o.WS.Usage())+"`")
	}
	g.d.Spend.Providers, g.d.Spend.Caps = []digest.Provider{}, []digest.Cap{}
	for name, sum := range byName {
		g.d.Spend.Providers = append(g.d.Spend.Providers, digest.Provider{Name: name, Sum: *sum})
	}
	slices.SortFunc(g.d.Spend.Providers, func(a, b digest.Provider) int {
		return cmp.Or(cmp.Compare(b.Most(), a.Most()), cmp.Compare(a.Name, b.Name))
	})
	book, err := ledger.Look(o.WS, o.Loaded.Config.Budgets, stateDir)
	if err != nil {
		return nil // what is wrong with the state waits for the person, and status says it
	}
	standings, err := book.Standings()
	for _, s := range book.Milestone() {
		if s.InDollars || book.Near(s) { // counters have large caps; they are told when they count
			standings = append(standings, s)
		}
	}
	for _, s := range standings {
		g.d.Spend.Caps = append(g.d.Spend.Caps, digest.Cap{Text: s.String(), Used: s.Used, Max: s.Max})
	}
	return err
}

func sumOf(sums map[string]*ledger.Sum, key string) *ledger.Sum {
	if sums[key] == nil {
		sums[key] = &ledger.Sum{}
	}
	return sums[key]
}

// longest is how long before its end a run may have begun to be found by it: a task of a
// pipeline can wait for limits, and for its operator.
const longest = 7 * 24 * time.Hour

// runs reads the runs that ended in the span, or are under way, newest first.
func (g *gathering) runs(o *Opened) error {
	all, err := o.History.All()
	if err != nil {
		return err
	}
	undone := map[string]bool{}
	for m := range all {
		if m.StartedAt.Before(g.d.Since.Add(-longest)) && !m.StartedAt.IsZero() {
			break
		}
		if m.EndedAt.Before(g.d.Since) && m.StartedAt.Before(g.d.Since) && !m.StartedAt.IsZero() {
			continue
		}
		if len(g.d.Runs) == maxDigest {
			g.d.Left++
			continue
		}
		if m.Undoes != "" && m.Commit != "" && !undone[m.RunID] {
			undone[m.Undoes] = true
		}
		g.add(o, m, undone[m.RunID])
	}
	slices.Reverse(g.d.Runs)
	return nil
}

// cycles adds the audit cycles that were accepted in the span.
func (g *gathering) cycles(o *Opened, now time.Time) error {
	all, err := cycleLines(o.WS, true, now)
	for _, c := range all {
		if c.State == cycle.Complete && !c.Since.Before(g.d.Since) {
			g.d.Accepted = append(g.d.Accepted, digest.Item{What: fmt.Sprintf("%s (%s) on %s", c.Service, c.Short, c.Branch), Command: c.Next[0]})
		}
	}
	return err
}

// add takes one run in.
func (g *gathering) add(o *Opened, m history.Meta, undone bool) {
	run := digest.Run{RunID: m.RunID, Workflow: m.Workflow, At: m.StartedAt, Code: m.Code, Intent: m.Intent, Commit: m.Commit, Undone: undone}
	if sum := g.cost[m.RunID]; sum != nil {
		run.CostUSD, run.UnknownCalls = sum.CostUSD, sum.UnknownCalls
	}
	rep, _ := o.reportOf(m) // one that can't be read says nothing
	if rep == nil {
		rep = &report.Report{}
	}
	b := rep.BlastRadius
	run.Files, run.Added, run.Deleted, run.DurationMS, run.Checks = b.FilesTouched, b.LinesAdded, b.LinesDeleted, rep.DurationMS, len(rep.Verification.Runs)
	if len(g.d.Landed)+len(g.d.Stopped) < shownDiffs {
		run.Diff = beginning(o.History.Path(m.RunID, "diff.patch"))
	}
	g.d.Runs = append(g.d.Runs, run)
	g.codes[m.Code]++
	for _, s := range rep.States {
		g.states[s.State] += s.MS
	}
	switch {
	case m.Code == "" && g.running(m):
	case m.Code == "":
		g.doubt("unfinished", m.RunID, "runs without an end", "a crash cut them off, they wait, or their meta.json is damaged; the next tick settles what a crash left", "`relay status`")
	case m.Code != judge.Success:
		e := Explain(m.Code)
		stop := digest.Stop{Run: run, Title: e.Title, Why: rep.Why, Command: e.Command}
		if rep.Next != "" {
			stop.Command = strings.ReplaceAll(rep.Next, "`relay show`", "`relay show "+m.RunID+"`")
		}
		g.d.Stopped = append(g.d.Stopped, stop)
	case m.Commit != "" && m.Builds():
		g.d.Landed = append(g.d.Landed, run)
	}
	if m.Builds() {
		g.trust(run, rep)
	}
}

// shownDiffs is how many changes a page shows line by line, the newest; diffBytes is how much of each.
const shownDiffs, diffBytes = 100, 32 << 10

// beginning is how a kept patch begins, to its last whole line; "" when none was kept, or it is very large.
func beginning(path string) string {
	raw, err := workspace.ReadFile(path, 1<<20)
	if err != nil || len(raw) <= diffBytes {
		return string(raw)
	}
	return string(raw[:bytes.LastIndexByte(raw[:diffBytes], '\n')+1]) + "…\n"
}

// trust looks for what makes a run less sure than it seems.
func (g *gathering) trust(run digest.Run, rep *report.Report) {
	show := "`relay show " + run.RunID + "`"
	if run.Commit != "" && !run.Undone {
		switch {
		case rep.RunID == "": // no report was kept
		case run.Checks == 0:
			g.doubt("unverified", run.RunID, "changes that landed without a check", "their tasks asked for none: the judge saw what was touched, and nothing ran it", show)
		case rep.BuilderOutputValid != nil && !*rep.BuilderOutputValid:
			g.doubt("invalid", run.RunID, "changes that landed although their builder's answer was not valid", "builder.claude_code.strict_builder_json is false", show)
		}
	}
	if rep.Box != nil && rep.Box.Means != box.Overlay {
		g.doubt("box", run.RunID, "runs in a box of a weaker kind", "its means was "+rep.Box.Means+", which covers less than an overlay", "`relay doctor`")
	}
	for _, w := range []*report.Worker{rep.Orchestrator, rep.Builder} {
		if w == nil {
			continue
		}
		g.tookPart(w.Plugin)
		if w.ProcessesLeft > 0 {
			g.doubt("left", run.RunID, "runs whose plugin left processes behind", "relay ended them", show)
		}
	}
}

// tookPart notes a plugin.
func (g *gathering) tookPart(plugin string) {
	if !slices.Contains(g.names, plugin) {
		g.names = append(g.names, plugin)
	}
}

// doubt adds a run to an item of what can't be trusted yet.
func (g *gathering) doubt(key, run, what, why, command string) {
	if g.doubts[key] == nil {
		g.doubts[key] = &digest.Item{What: what, Why: why, Command: command}
	}
	if i := g.doubts[key]; run != "" {
		i.Runs = append(i.Runs, run)
	}
}

// plugins names those that took part and are not relay's own.
func (g *gathering) plugins(r *Repo, root string) {
	cat, err := r.Catalog(root)
	if err != nil {
		return // doctor and the preflight say it
	}
	for _, e := range cat.List() {
		if slices.Contains(g.names, e.Name) && !e.Builtin() {
			g.doubt("plugin "+e.Name, "", "the plugin "+e.Name+" is not one of relay's own", "it comes from "+cmp.Or(e.Source, "nowhere that is pinned"), "`relay plugin list`")
		}
	}
}

// finish puts in order what was gathered.
func (g *gathering) finish() {
	if n := g.d.Spend.Total.UnknownCalls; n > 0 {
		why := "against the caps of a run or a day they count as the most they were allowed to cost, against a milestone's as an estimate"
		if g.d.Spend.Total.Boundless > 0 {
			why = "nothing limited some of them, so what was spent has no upper bound"
		}
		g.doubt("cost", "", fmt.Sprintf("%d of %d calls reported no cost", n, g.d.Spend.Total.Calls), why, "`relay cost --by model --since "+g.window+"`")
	}
	for _, key := range slices.Sorted(maps.Keys(g.doubts)) {
		i := *g.doubts[key]
		if len(i.Runs) > 0 {
			i.What = fmt.Sprintf("%s: %d", i.What, len(i.Runs))
		}
		g.d.Doubts = append(g.d.Doubts, i)
	}
	for state, ms := range g.states {
		g.d.States = append(g.d.States, digest.State{State: state, MS: ms})
	}
	slices.SortFunc(g.d.States, func(a, b digest.State) int { return cmp.Or(cmp.Compare(b.MS, a.MS), cmp.Compare(a.State, b.State)) })
	for code, n := range g.codes {
		g.d.Verdicts = append(g.d.Verdicts, digest.Count{Code: code, Runs: n})
	}
	slices.SortFunc(g.d.Verdicts, func(a, b digest.Count) int { return cmp.Or(cmp.Compare(b.Runs, a.Runs), cmp.Compare(a.Code, b.Code)) })
}

// waiting is what status knows to be the person's turn.
func (g *gathering) waiting(s *StatusResult) {
	add := func(what, why, command string) {
		g.d.Waiting = append(g.d.Waiting, digest.Item{What: what, Why: why, Command: command})
	}
	if p := s.Problem; p != nil {
		add(p.What, p.Why, p.Fix)
	}
	for _, n := range slices.Concat(s.Needs, s.Waits) {
		add(n.Of+" "+n.ID+" "+n.What(), strings.Join(n.Choices, " / "), n.Next)
	}
	if l := s.Loop; l != nil && l.CutOff && l.Wait == nil && l.ByOperator { // a reminder: nothing has to be done about it
		add("the loop "+l.ID+" "+l.Broke(), "it keeps its own goal and limits", "`relay loop --resume`")
	}
	for _, a := range s.Alerts {
		add("more than half of a cap is used", a, "`relay cost --by day`")
	}
}
