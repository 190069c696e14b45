package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
)

type queueOptions struct {
	app *app
	all bool
}

func newQueueCmd(a *app) *cobra.Command {
	o := &queueOptions{app: a}
	cmd := &cobra.Command{
		Use:     "queue",
		Aliases: []string{"ask"}, // what waits is mostly questions
		Short:   "What waits for you, and the cycles in flight",
		Long:    "Lists the audit cycles in flight, the tasks and loops that wait, what a tick asks or ended at, and\nwhat a crash cut off. Ends with exit code 1 when something waits for you. All of it is\nin queue.md of the workspace, too, except what a crash cut off.",
		Example: "relay queue\nrelay queue --all              # relay ask is the same\nrelay queue; [ $? -eq 1 ] && echo \"something waits\"",
		GroupID: groupLook,
		Args:    noArgs,
		RunE:    inRepo(a, o, runQueue),
	}
	cmd.Flags().BoolVar(&o.all, "all", false, "ended ones too")
	return cmd
}

func runQueue(ctx context.Context, repo *host.Repo, o *queueOptions) error {
	q, err := repo.Queue(ctx, o.all)
	if err != nil {
		return err
	}
	return o.app.end(q.ExitCode, q, func(p *printer) {
		if len(q.Cycles)+len(q.Others) == 0 {
			p.advise("", "No cycles in flight, and nothing else waits. `relay status` has the last run.")
			return
		}
		cycleTable(p, q.Cycles)
		queueTable(p, q.Others)
		for _, c := range q.Cycles {
			if c.Waits {
				p.next(c.Next[0])
			}
		}
		for _, o := range q.Others {
			if o.Waits {
				p.next(o.Next)
			}
		}
	})
}

// queueTable lists tasks and loops that wait.
func queueTable(p *printer, all []host.QueueLine) {
	var rows [][]string
	for _, o := range all {
		mark, since := "  ", ago(o.Since)
		if o.Waits {
			mark = p.yellow("! ")
		} else {
			since = p.bold(countdown(time.Until(o.Until)) + " left")
		}
		rows = append(rows, []string{mark + o.Kind + " " + host.Safe(o.ID), since, shorten(o.What, 100)})
	}
	p.table(rows)
}

// cycleTable lists cycles like the seed's status.
func cycleTable(p *printer, cycles []host.CycleLine) {
	var rows [][]string
	for _, c := range cycles {
		mark := "  "
		if c.Waits {
			mark = p.yellow("! ")
		}
		detail := shorten(c.Detail, 60)
		if !c.Until.IsZero() {
			detail = p.bold(countdown(time.Until(c.Until))+" left") + "  " + shorten(c.Detail, 100)
		}
		rows = append(rows, []string{mark + host.Safe(c.Service), c.Short, string(c.State), ago(c.Since), detail})
	}
	p.table(rows)
}

// ago is how long something is past. A clock that was set back makes nothing come from the
// future.
func ago(t time.Time) string {
	if time.Since(t) < time.Second {
		return "just now"
	}
	return strings.Replace(duration(max(time.Since(t), 0).Truncate(time.Second)), ".0 s", " s", 1) + " ago"
}
