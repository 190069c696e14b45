package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
)

type runOptions struct {
	app    *app
	goal   string
	task   string
	record string
	beyond bool
	dry    bool
	key    string
	signed string
	push   string
}

func newRunCmd(a *app) *cobra.Command {
	o := &runOptions{app: a}
	cmd := &cobra.Command{
		Use:   "run",
		Short: "One tick: plan, build, judge, verify, commit or discard",
		Long: "Runs one tick. A model proposes one task, a builder carries it out in a box, relay judges the\n" +
			"files that changed and runs your checks. What passes is committed; anything else never\n" +
			"reaches your files and is kept for relay salvage.",
		Example: "relay run --goal \"make the failing test pass\"\nrelay run --task task.json        # judge this task, no planning call\nrelay run --dry-run               # who would be asked, under which ceiling, for how much at most\nrelay run --builder codex --key nightly-1 --json | jq .report.code",
		GroupID: groupWork,
		Args:    noArgs,
		RunE:    inRepo(a, o, runRun),
	}
	cmd.Flags().StringVar(&o.goal, "goal", "", "what you want: `TEXT` in your own words")
	cmd.Flags().StringVar(&o.task, "task", "", "take the task from `FILE` (- is stdin) and make no planning call")
	cmd.Flags().BoolVar(&o.beyond, "beyond-ceiling", false, "let the task of --task have everything it names, whatever the ceiling")
	cmd.Flags().StringVar(&o.record, "record", "", "write every model call to `DIR`, as a script for the provider replay")
	cmd.Flags().StringVar(&o.key, "key", "", "if a run with `KEY` has ended, return its result and buy nothing")
	cmd.Flags().StringVar(&o.signed, "signers", "", "with --key: believe results of other machines by the keys in `FILE`, too")
	cmd.Flags().StringVar(&o.push, "push", "", "with --key: ask `REMOTE` for the result first, and push it there")
	cmd.Flags().BoolVar(&o.dry, "dry-run", false, "say what would be asked, allowed and checked, and do nothing")
	cmd.Flags().Var(setting{a, "builder.default_mode", "NAME"}, "builder", "prefer the builder `NAME`; a task that names another gets that one")
	cmd.Flags().Var(setting{a, "models.builder_model", "MODEL"}, "model", "have that builder use `MODEL`")
	_ = cmd.MarkFlagFilename("task", "json")
	_ = cmd.MarkFlagDirname("record")
	return cmd
}

func runRun(ctx context.Context, repo *host.Repo, o *runOptions) error {
	opts := host.RunOptions{Goal: o.goal, TaskFile: o.task, RecordDir: o.record, Beyond: o.beyond, Key: o.key, Signers: o.signed, Push: o.push}
	if o.key == "" && o.signed+o.push != "" {
		return keyMissing("run")
	}
	if o.task != "" && o.goal != "" {
		return usageError{what: "--goal does not go with --task", why: "a goal is for the planner, and with your own task none is asked", fix: "`relay run --task FILE`, or `relay run --goal TEXT`"}
	}
	if o.beyond && o.task == "" {
		return usageError{what: "--beyond-ceiling goes with --task", why: "what a planner asks for stays below the ceiling; you are asked about the rest", fix: "`relay run --task FILE --beyond-ceiling`"}
	}
	if o.task == "-" {
		var err error
		if opts.Task, err = io.ReadAll(io.LimitReader(o.app.in, host.MaxTaskFile)); err != nil {
			return err
		}
	}
	if o.dry {
		return dryRun(ctx, o.app, repo, opts)
	}
	live := newProgress(o.app, repo)
	defer live.close()
	opts.Observer = live
	if o.app.interactive() {
		opts.ChangedTests = func(ctx context.Context, c host.ChangedTests) bool {
			live.close() // what is typed has the terminal to itself
			return o.app.letTestsChange(ctx, c)
		}
		opts.Policy = func(ctx context.Context, asks []host.PolicyHit, diff []host.FileDiff) bool {
			live.close()
			return o.app.letLand(ctx, asks, diff)
		}
	}
	res, err := repo.Run(ctx, opts)
	live.close()
	if err != nil {
		return err
	}
	return o.app.end(res.ExitCode, res, func(p *printer) {
		earlier(p, res)
		verdict(p, res)
		pushedTo(p, res.Pushed)
		if r := res.Report; r != nil && r.Next == "" && r.Commit != "" && res.Earlier == nil {
			p.next("`relay show` has it in full; `relay undo` takes it back")
		}
	})
}

func keyMissing(command string) error {
	return usageError{what: "--signers and --push go with --key", why: "they are about the result that a key names", fix: "`relay " + command + " --key KEY --push REMOTE`"}
}

// earlier says that what follows is not of now.
func earlier(p *printer, res *host.RunResult) {
	e := res.Earlier
	if e == nil {
		return
	}
	by := "on this machine"
	if e.By != "" {
		by = "signed by " + host.Safe(e.By)
	}
	p.row("earlier", fmt.Sprintf("run %s of %s has this key (%s); nothing was bought or built", e.Run, e.At.Format("2006-01-02 15:04:05 MST"), by))
	if c := res.Report.Commit; c != "" && !e.Here {
		p.row("", fmt.Sprintf("its commit is not part of HEAD: git merge %.12s takes it over", c))
	}
}

func pushedTo(p *printer, to *host.RunPushed) {
	switch {
	case to == nil:
	case to.What != "":
		p.row("push", p.red(host.Safe(to.What))+": "+host.Safe(to.Why))
		p.next(to.Fix)
	default:
		p.row("push", host.Safe(strings.TrimSpace("the result to "+to.To+" "+to.Branch)))
	}
}

// letTestsChange shows what a change does to tests, and asks whether it may. Nobody waits
// for the answer longer than the run may take.
func (a *app) letTestsChange(ctx context.Context, c host.ChangedTests) bool {
	p := a.printer(a.err, a.errTTY)
	diffText(p, c.Files)
	p.linef("\n%s", host.Safe(c.Why))
	question := fmt.Sprintf("May it land with %s changed?", plural(len(c.Files), "test file", "test files"))
	if n := len(c.Missing); n > 0 {
		for _, name := range c.Missing {
			p.hang("  "+p.red("✗")+" ", host.Safe(name))
		}
		question = fmt.Sprintf("May it land without %s?", plural(n, "test", "tests"))
	}
	return a.saysYes(ctx, p, question)
}

// letLand shows a change and what the policy asks about it, and asks whether it may land.
func (a *app) letLand(ctx context.Context, asks []host.PolicyHit, diff []host.FileDiff) bool {
	p := a.printer(a.err, a.errTTY)
	diffText(p, diff)
	p.linef("\nThe policy asks you:")
	for _, h := range asks {
		p.hang("  "+p.red("?")+" ", host.Safe(h.String()))
	}
	return a.saysYes(ctx, p, "May it land?")
}

func (a *app) saysYes(ctx context.Context, p *printer, question string) bool {
	said := make(chan error, 1)
	go func() {
		said <- a.agreed(p, question, errors.New("no"))
	}()
	select {
	case err := <-said:
		return err == nil
	case <-ctx.Done():
		return false
	}
}

// verdict is the last word on a run: the size of the change, the verdict, what
// to type next.
func verdict(p *printer, res *host.RunResult) {
	if res.Report == nil {
		if b := res.Blocked; b != nil {
			p.linef("%s %s", p.outcome(string(b.Code)), host.Safe(b.What))
			why(p, b.Why)
			quote(p, b.PluginSays)
			p.next(b.Next)
		}
		return
	}
	r := res.Report
	verdictRows(p, r)
	for _, w := range r.Budgets.Warnings {
		p.row("budget", p.yellow(host.Safe(w)))
	}
	if e := res.Earlier; e != nil && r.Question == nil { // what was to be typed then is about another run by now
		if e.Kept {
			p.next("`relay show " + e.Run + "` has it in full")
		}
		return
	}
	p.row("report", pointer(r))
	p.next(r.Next)
}

// verdictRows prints what a tick changed, how it was judged, and where the change is now.
func verdictRows(p *printer, r *host.Report) {
	if r.BlastRadius.FilesTouched > 0 {
		p.row("change", blastRadius(r))
	}
	for _, run := range r.Verification.Runs {
		p.row("check", verification(p, run))
	}
	if r.Question != nil && r.Code == "SUCCESS" { // one of a run that was stopped can't be answered
		p.row("question", p.bold(host.Safe(r.Question.Prompt)))
		for i, c := range r.Question.Choices {
			p.row("", plain(i+1)+". "+host.Safe(c))
		}
	}
	for i, v := range r.Scope.Violations {
		if i == maxShown {
			p.row("", "and "+plain(len(r.Scope.Violations)-maxShown)+" more: relay show")
			break
		}
		p.row("broken", host.Safe(v))
	}
	p.row("verdict", p.outcome(string(r.Code))+"  "+host.Safe(r.Summary))
	if r.Verification.Said != "" {
		p.row("evidence", host.Safe(r.Verification.Said))
	}
	if len(r.Scope.Violations) == 0 { // the first of them is why
		why(p, r.Why)
	}
	quote(p, r.PluginSays)
	if r.Commit != "" {
		p.row("commit", r.Commit)
	}
	if r.Salvage != "" {
		p.row("kept", host.Safe(r.Salvage)+"  (relay salvage "+r.RunID+")")
	}
}

// maxShown is how many violations are listed before the report has to be opened.
const maxShown = 10

func why(p *printer, text string) {
	if text != "" {
		p.row("why", host.Safe(text))
	}
}

// quote is what a plugin suggests, apart from what relay says.
func quote(p *printer, text string) {
	if text != "" {
		p.row("quote", host.Safe(text))
	}
}

func pointer(r *host.Report) string {
	if r.Pointers == nil {
		return ""
	}
	return host.Safe(r.Pointers.ReportMDPath)
}
