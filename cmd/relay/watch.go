package main

import (
	"context"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/cmd/relay/internal/screen"
	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/pipelines"
)

type watchOptions struct {
	app  *app
	all  bool
	once bool
}

func newWatchCmd(a *app) *cobra.Command {
	o := &watchOptions{app: a}
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "One screen over all runs, cycles and tasks",
		Long: "Shows what needs you, what is at work, what was spent, and the log, and keeps it fresh. A key\n" +
			"answers a question, opens a diff or reviews a plan; ? lists them. It reads files only, so it can\n" +
			"stay open. Without a terminal, or with --once, it prints the same once.",
		Example: "relay watch\nrelay watch --all            # every repository that you trusted on this machine\nrelay watch --once; [ $? -eq 1 ] && echo \"something needs you\"",
		GroupID: groupLook,
		Args:    noArgs,
		RunE:    inRepo(a, o, runWatch),
	}
	cmd.Flags().BoolVar(&o.all, "all", false, "every repository that you trusted on this machine, and this one")
	cmd.Flags().BoolVar(&o.once, "once", false, "print once; exit code 1 if something needs you, 3 if nothing can be shown")
	return cmd
}

// watchDoc is the document of relay watch.
type watchDoc struct {
	host.Doc
	Repositories []*host.WatchResult `json:"repositories"`
}

// watched is a repository as the screen shows it and acts on it.
type watched struct{ *host.Repo }

func (w watched) Watch(ctx context.Context) (*host.WatchResult, error) { return w.Repo.Watch(ctx) }

func (w watched) WatchStamp() string { return w.Repo.WatchStamp() }

func (w watched) Diff(ctx context.Context, id string) (*host.DiffResult, error) {
	return w.Repo.Diff(ctx, id)
}

func (w watched) Answer(ctx context.Context, run, text string) (*host.AnswerResult, error) {
	return w.Repo.Answer(ctx, run, text)
}

func (w watched) TaskAnswer(ctx context.Context, id, asked, text string) (*pipelines.TaskResult, error) {
	return pipelines.AnswerTask(ctx, w.Repo, id, asked, text)
}

func runWatch(ctx context.Context, repo *host.Repo, o *watchOptions) error {
	sources := []screen.Source{watched{repo}}
	if o.all {
		sources = nil
		for _, root := range repo.Known() {
			r, err := host.Open(root, host.Options{Set: o.app.set, Version: version().Version, Clock: clock})
			if err != nil {
				return err
			}
			sources = append(sources, watched{r})
		}
	}
	now := time.Now
	if clock != nil {
		now = clock.Now
	}
	if o.once || o.app.json || !o.app.inTTY || !o.app.outTTY || !o.app.capable() || o.app.getenv("CI") != "" {
		return watchOnce(ctx, o, sources, now)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return screen.Watch(ctx, screen.WatchOptions{In: o.app.in, Out: o.app.outFile(), Color: o.app.colorOn(true), Sources: sources, Relay: self, Environ: os.Environ(), Now: now})
}

// plainWidth is how wide lines are that no terminal shows.
const plainWidth = 120

func watchOnce(ctx context.Context, o *watchOptions, sources []screen.Source, now func() time.Time) error {
	width := plainWidth
	if w, _ := o.app.size(); w > 0 && o.app.outTTY {
		width = w
	}
	lines, found, err := screen.Snapshot(ctx, sources, now, width)
	if err != nil {
		return err
	}
	doc := watchDoc{Doc: host.Doc{Kind: "relay.watch", Version: 1}, Repositories: found}
	code := host.ExitDone
	for _, r := range found {
		code = max(code, r.ExitCode)
	}
	return o.app.end(code, doc, func(p *printer) {
		for _, line := range lines {
			p.linef("%s", line)
		}
		for _, r := range found {
			if len(r.Needs) > 0 {
				p.next(r.Needs[0].Next)
			}
		}
	})
}
