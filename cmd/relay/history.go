package main

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
)

func newHistoryCmd(a *app) *cobra.Command {
	return parent("history", "List and prune past runs", "relay history list\nrelay history prune --keep 50",
		groupLook, newHistoryListCmd(a), newHistoryPruneCmd(a))
}

type historyListOptions struct {
	app   *app
	limit int
}

func newHistoryListCmd(a *app) *cobra.Command {
	o := &historyListOptions{app: a}
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "Past runs, newest first",
		Example: "relay history list\nrelay history list --limit 0 --json   # all of them",
		Args:    noArgs,
		RunE:    inRepo(a, o, runHistoryList),
	}
	cmd.Flags().IntVarP(&o.limit, "limit", "n", 20, "at most `N` runs; 0 lists all")
	return cmd
}

func runHistoryList(ctx context.Context, repo *host.Repo, o *historyListOptions) error {
	if o.limit < 0 {
		return usageError{what: "--limit is negative", fix: "`relay history list --limit 0` lists all"}
	}
	l, err := repo.HistoryList(ctx, o.limit)
	return o.app.done(l, err, func(p *printer) {
		if len(l.Runs) == 0 {
			p.linef("No runs yet.")
			p.next("`relay run --goal \"...\"`")
			return
		}
		var rows [][]string
		for _, r := range l.Runs {
			code := cmp.Or(string(r.Code), "unfinished")
			rows = append(rows, []string{r.RunID, r.StartedAt.Local().Format("2006-01-02 15:04"), p.outcome(code), shorten(r.Intent, 50)})
		}
		p.table(rows)
		p.linef("%s", p.dim(plural(l.Total, "run", "runs")+" in all, "+size(l.Bytes)))
	})
}

type historyPruneOptions struct {
	app       *app
	cmd       *cobra.Command
	keep      int
	olderThan string
	maxSize   string
	dryRun    bool
}

func newHistoryPruneCmd(a *app) *cobra.Command {
	o := &historyPruneOptions{app: a}
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove old runs and what they kept",
		Long: "Removes past runs with their reports and patches; the newest run always stays. Without a flag the\n" +
			"50 newest stay. On a terminal it asks first. Until the next prune, a folder that it names has what\n" +
			"it removed; that prune also removes the refs of rejected changes and the files of their attempts.",
		Example: "relay history prune --keep 50\nrelay history prune --older-than 30d --dry-run",
		Args:    noArgs,
		RunE:    inRepo(a, o, runHistoryPrune),
	}
	o.cmd = cmd
	cmd.Flags().IntVar(&o.keep, "keep", 0, "keep the newest `N` runs")
	cmd.Flags().StringVar(&o.olderThan, "older-than", "", "remove runs that ended longer ago than `TIME`: 30d, 12h")
	cmd.Flags().StringVar(&o.maxSize, "max-size", "", "remove the oldest until all fit in `SIZE`: 200MB")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "only say what would go")
	return cmd
}

const defaultKeep = 50

func runHistoryPrune(ctx context.Context, repo *host.Repo, o *historyPruneOptions) error {
	opts, err := o.prune()
	if err != nil {
		return err
	}
	if !o.dryRun && o.app.interactive() {
		opts.DryRun = true
		res, err := repo.HistoryPrune(ctx, opts)
		if err != nil {
			return err
		}
		p := o.app.printer(o.app.err, o.app.errTTY)
		prunedRuns(p, "would remove", res)
		if len(res.Runs) == 0 {
			return nil
		}
		if err := o.app.agreed(p, "Remove them?", usageError{what: "nothing was removed", why: "you did not say yes", fix: "`relay history prune --dry-run`"}); err != nil {
			return err
		}
		opts.DryRun = false
	}
	res, err := repo.HistoryPrune(ctx, opts)
	return o.app.done(res, err, func(p *printer) {
		if res.DryRun {
			prunedRuns(p, "would remove", res)
			return
		}
		prunedRuns(p, "removed", res)
		if res.Kept != "" {
			p.row("kept", res.Kept+"  until the next prune; a run that you move back beside it is in the history again")
		}
	})
}

func prunedRuns(p *printer, verb string, res *host.PruneResult) {
	p.linef("%s %s, %s", verb, plural(len(res.Runs), "run", "runs"), size(res.Bytes))
	for _, id := range res.Runs {
		p.linef("  %s", id)
	}
}

func (o *historyPruneOptions) prune() (host.PruneOptions, error) {
	p := host.PruneOptions{Keep: o.keep, DryRun: o.dryRun}
	var err error
	if o.olderThan != "" {
		if p.OlderThan, err = parseAge(o.olderThan); err != nil {
			return p, err
		}
	}
	if o.maxSize != "" {
		if p.MaxBytes, err = parseSize(o.maxSize); err != nil {
			return p, err
		}
	}
	if o.keep < 0 {
		return p, usageError{what: "--keep is negative", fix: "`relay history prune --keep 50`"}
	}
	if o.keep == 0 && o.cmd.Flags().Changed("keep") {
		p.Keep = 1 // the newest one always stays
	}
	if p.Keep == 0 && p.OlderThan == 0 && p.MaxBytes == 0 {
		p.Keep = defaultKeep
	}
	return p, nil
}

// parseAge reads Go's durations, and days.
func parseAge(s string) (time.Duration, error) {
	bad := usageError{what: "--older-than " + strconv.Quote(s) + " is not a time", fix: "`relay history prune --older-than 30d`"}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.ParseFloat(days, 64)
		if err != nil || n <= 0 || n > 36500 {
			return 0, bad
		}
		return time.Duration(n * 24 * float64(time.Hour)), nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0, bad
	}
	return d, nil
}

// parseSize reads a number with B, kB, MB or GB.
func parseSize(s string) (int64, error) {
	units := []struct {
		suffix string
		factor float64
	}{{"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1}, {"", 1}}
	for _, u := range units {
		number, ok := strings.CutSuffix(strings.ToUpper(s), u.suffix)
		if !ok {
			continue
		}
		if n, err := strconv.ParseFloat(strings.TrimSpace(number), 64); err == nil && n > 0 && n < 1e9 {
			return int64(n * u.factor), nil
		}
		break
	}
	return 0, usageError{what: "--max-size " + strconv.Quote(s) + " is not a size", fix: "`relay history prune --max-size 200MB`"}
}
