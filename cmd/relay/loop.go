package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
)

type loopOptions struct {
	app     *app
	mode    string
	goal    string
	ticks   int
	until   string
	cost    float64
	resume  bool
	alone   bool
	detach  bool
	key     string
	signed  string
	push    string
	given   func(flag string) bool
	nowFunc func() time.Time
}

func newLoopCmd(a *app) *cobra.Command {
	o := &loopOptions{app: a, nowFunc: time.Now}
	if clock != nil {
		o.nowFunc = clock.Now
	}
	cmd := &cobra.Command{
		Use:   "loop",
		Short: "Tick after tick, until a stop condition is met",
		Long: "Stops when the orchestrator says that the goal is reached, when a tick stops or is blocked, on a\n" +
			"question, when a milestone's budget is nearly used up, and at the limits below. --mode task ends\n" +
			"after one task, milestone with the milestone; autonomous begins the next. Ctrl-C stops it cleanly.",
		Example: "relay loop --mode milestone --goal \"make the tests pass\" --max-ticks 10\nrelay loop --mode autonomous --until 07:00 --max-cost-usd 20 --detach\nrelay loop --resume              # continue where a crash or Ctrl-C cut it off",
		GroupID: groupWork,
		Args:    noArgs,
		RunE:    inRepo(a, o, runLoop),
	}
	f := cmd.Flags()
	f.StringVar(&o.mode, "mode", "", "`MODE`: task, milestone or autonomous")
	f.StringVar(&o.goal, "goal", "", "what you want: `TEXT` in your own words")
	f.IntVar(&o.ticks, "max-ticks", 0, "make at most `N` ticks")
	f.StringVar(&o.until, "until", "", "begin no tick after `TIME`: 07:00, 8h, \"2026-01-31 07:00\", or RFC 3339")
	f.Float64Var(&o.cost, "max-cost-usd", 0, "start no tick that could take the loop over `X` dollars")
	f.BoolVar(&o.resume, "resume", false, "continue the interrupted loop, under its own limits")
	f.BoolVar(&o.alone, "unattended", false, "with --resume, for a service: leave a loop that you ended, or do nothing")
	f.StringVar(&o.key, "key", "", "give the ticks the keys `KEY`.1, KEY.2, …: none that has ended runs again")
	f.StringVar(&o.signed, "signers", "", "with --key: believe results of other machines by the keys in `FILE`, too")
	f.StringVar(&o.push, "push", "", "with --key: push to `REMOTE` after each tick, and ask it for results first")
	f.BoolVar(&o.detach, "detach", false, "run without this terminal; relay watch shows it, relay stop ends it")
	o.given = f.Changed
	_ = cmd.RegisterFlagCompletionFunc("mode", cobra.FixedCompletions([]string{"task", "milestone", "autonomous"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func runLoop(ctx context.Context, repo *host.Repo, o *loopOptions) error {
	if o.mode == "" && !o.resume && !o.alone {
		return usageError{what: "relay loop needs --mode", why: "how far it may go on its own is yours to say: task, milestone or autonomous", fix: "`relay loop --mode milestone`; `relay loop --resume` continues a loop that was cut off"}
	}
	if o.given("max-ticks") && o.ticks == 0 || o.given("max-cost-usd") && o.cost == 0 {
		return usageError{what: "a loop with a limit of 0 makes no tick", why: "0 doesn't mean unlimited: it is more often what is left of a budget", fix: "`relay loop --help`; omit the flag for no limit"}
	}
	if o.key == "" && o.signed+o.push != "" {
		return keyMissing("loop")
	}
	until, err := parseUntil(o.until, o.nowFunc())
	if err != nil {
		return err
	}
	if o.detach {
		return runDetached(ctx, o.app, repo)
	}
	live := newProgress(o.app, repo)
	defer live.close()
	if !until.IsZero() {
		live.Observe(host.Event{Kind: host.EventLimit, Text: "loop", Until: until})
	}
	res, err := repo.Loop(ctx, host.LoopOptions{Mode: o.mode, Goal: o.goal, MaxTicks: o.ticks, Until: until, MaxCostUSD: o.cost, Key: o.key, Signers: o.signed, Push: o.push, Resume: o.resume, Unattended: o.alone,
		Observer: live, OnTick: live.tick})
	live.close()
	if err != nil {
		return err
	}
	return o.app.end(res.ExitCode, res, func(p *printer) { loopVerdict(p, res) })
}

// runDetached has the same command line continue without the terminal.
func runDetached(ctx context.Context, a *app, repo *host.Repo) error {
	args := slices.DeleteFunc(slices.Clone(os.Args[1:]), func(arg string) bool { return arg == "--detach" || arg == "--detach=true" })
	d, err := repo.Detach(ctx, args)
	if err != nil {
		return err
	}
	return a.end(d.ExitCode, d, func(p *printer) {
		if d.PID == 0 {
			text, _ := d.Printed() // where it can't be read, its exit code is left
			p.write(string(text))
			return
		}
		p.linef("%s on its own, as process %d", p.green("continues"), d.PID)
		p.row("prints to", host.Safe(d.Log))
		p.next(d.Next)
	})
}

// parseUntil reads a clock time (the next such), a duration from now, or a full time, which
// is one of this machine's zone unless it names another.
func parseUntil(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return now.Add(d), nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	for _, layout := range []string{"2006-01-02 15:04", "2006-01-02T15:04", time.DateTime} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	if t, err := time.Parse("15:04", text); err == nil {
		at := time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), 0, 0, now.Location())
		if !at.After(now) {
			at = time.Date(now.Year(), now.Month(), now.Day()+1, t.Hour(), t.Minute(), 0, 0, now.Location())
		}
		return at, nil
	}
	return time.Time{}, usageError{what: fmt.Sprintf("--until %q isn't a valid time", text), why: "it is a time of day (07:00), a duration (8h), or a full time (2026-01-31 07:00, with a zone 2026-01-31T07:00:00Z)", fix: "`relay loop --help`"}
}

// tick says how one tick of a loop ended.
func (pr *progress) tick(t host.LoopTick) {
	pr.mu.Lock()
	defer pr.mu.Unlock()
	text := t.Intent
	if t.Code != "SUCCESS" || text == "" || t.Stop == "milestone_changed" {
		text = t.Summary
	}
	if len(t.Commit) > 12 {
		text += "  " + t.Commit[:12]
	}
	how := pr.p.outcome(string(t.Code))
	if t.Asked() {
		how, text = pr.p.yellow("asks"), t.Why
	}
	pr.line(fmt.Sprintf("%s %s  %s", pr.p.bold(fmt.Sprintf("tick %d", t.N)), t.RunID, how), text)
}

// loopVerdict is the last word on a loop.
func loopVerdict(p *printer, res *host.LoopResult) {
	if res.Reason == host.NothingToResume {
		p.linef("Nothing to continue: %s.", res.Why)
		p.next(res.Next)
		return
	}
	for _, t := range res.Ticks {
		if t.Commit != "" {
			p.row("landed", fmt.Sprintf("%.12s  %s", t.Commit, host.Safe(t.Intent)))
		}
	}
	p.row("ticks", plain(len(res.Ticks)))
	p.row("spent", spendText(res.Spend.Calls, res.Spend.CostUSD, res.Spend.UnknownCalls))
	p.row("ended", res.Reason.Words())
	if r := res.Report; r == nil || r.Code == "SUCCESS" || r.Summary != res.Why && r.Why != res.Why { // said below
		why(p, res.Why)
	}
	if r := res.Report; r != nil && r.Question != nil {
		for i, c := range r.Question.Choices {
			p.row("", plain(i+1)+". "+host.Safe(c))
		}
	}
	if res.Report != nil {
		if res.Report.Code != "SUCCESS" {
			p.row("verdict", p.outcome(string(res.Report.Code))+"  "+host.Safe(res.Report.Summary))
			why(p, res.Report.Why)
		}
		p.row("report", pointer(res.Report))
	}
	p.next(res.Next)
}

// spendText says what calls cost; an unknown cost is never shown as 0.
func spendText(calls int, usd *float64, unknown int) string {
	text := plural(calls, "call", "calls")
	if usd != nil {
		text += ", $" + money(*usd)
	}
	if unknown > 0 {
		text += ", " + plural(unknown, "call", "calls") + " of unknown cost"
	}
	return text
}
