package main

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
)

type logsOptions struct {
	app  *app
	id   string
	tail bool
	day  string
}

func newLogsCmd(a *app) *cobra.Command {
	o := &logsOptions{app: a}
	cmd := &cobra.Command{
		Use:   "logs [CYCLE]",
		Short: "The log of audit cycles",
		Long: "Prints today's log: every call, transition and decision, one line each, with time and cycle.\n" +
			"The files are .relay/logs/YYYY-MM-DD.log.",
		Example: "relay audit logs\nrelay audit logs --tail\nrelay audit logs bf3c91 --day 2026-04-28",
		Args:    oneArg(&o.id, "cycle"),
		RunE:    inRepo(a, o, runLogs),

		ValidArgsFunction: completeCycles(a),
	}
	cmd.Flags().BoolVarP(&o.tail, "tail", "f", false, "follow what is added, across midnight")
	cmd.Flags().StringVar(&o.day, "day", "", "the log of `DATE`, such as 2026-04-28")
	return cmd
}

func runLogs(ctx context.Context, repo *host.Repo, o *logsOptions) error {
	var day time.Time
	if o.day != "" {
		var err error
		if day, err = time.ParseInLocation(time.DateOnly, o.day, time.Local); err != nil {
			return usageError{what: "--day " + o.day + " is not a date", why: "it is a date such as 2026-04-28", fix: "`relay audit logs --day 2026-04-28`"}
		}
	}
	if o.tail && (o.app.json || o.day != "") {
		return usageError{what: "--tail goes with neither --json nor --day", why: "a log that is followed has no end", fix: "`relay audit logs --tail`"}
	}
	if !o.app.json {
		w := &counting{w: o.app.out}
		if err := repo.Logs(ctx, w, day, o.id, o.tail); err != nil || w.n > 0 || o.tail {
			return err
		}
		o.app.printer(o.app.err, o.app.errTTY).advise("", "No lines from that day. This is the log of audit cycles; `relay history list` lists the runs.")
		return nil
	}
	doc, err := logLines(ctx, repo, day, o.id)
	return o.app.done(doc, err, func(*printer) {})
}

// counting counts what is written.
type counting struct {
	w io.Writer
	n int
}

func (c *counting) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += n
	return n, err
}
