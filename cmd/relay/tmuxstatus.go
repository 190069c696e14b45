package main

import (
	"bytes"
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
)

type tmuxOptions struct{ app *app }

func newTmuxStatusCmd(a *app) *cobra.Command {
	o := &tmuxOptions{app: a}
	return &cobra.Command{
		Use:     "tmux-status",
		Short:   "One short line for a status bar",
		Long:    "Prints what waits for you, by name, until when a limit is waited for, and how much is at work, or\nan empty line. Call it often.",
		Example: "tmux set -g status-right '#(relay -C ~/project tmux-status)'",
		GroupID: groupLook,
		Args:    noArgs,
		RunE:    inRepo(a, o, runTmuxStatus),
	}
}

func runTmuxStatus(ctx context.Context, repo *host.Repo, o *tmuxOptions) error {
	line := repo.TmuxStatus(ctx)
	doc := tmuxDoc{host.Doc{Kind: "relay.tmux", Version: 1}, line}
	return o.app.done(doc, nil, func(p *printer) { p.linef("%s", line) })
}

// tmuxDoc is the document of relay tmux-status.
type tmuxDoc struct {
	host.Doc
	Line string `json:"line"`
}

// logDoc is the document of relay audit logs.
type logDoc struct {
	host.Doc
	Lines []string `json:"lines"` // newest last
}

func logLines(ctx context.Context, repo *host.Repo, day time.Time, match string) (*logDoc, error) {
	var b bytes.Buffer
	if err := repo.Logs(ctx, &b, day, match, false); err != nil {
		return nil, err
	}
	doc := &logDoc{Doc: host.Doc{Kind: "relay.logs", Version: 1}, Lines: []string{}}
	for line := range strings.Lines(b.String()) {
		doc.Lines = append(doc.Lines, strings.TrimSuffix(line, "\n"))
	}
	return doc, nil
}
