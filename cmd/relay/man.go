package main

import (
	"context"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/paxiom/relay/host"
)

type manOptions struct {
	app *app
	dir string
}

// newManCmd is for who installs or packs relay, so the help does not list it.
func newManCmd(a *app, runF func(context.Context, *manOptions) error) *cobra.Command {
	o := &manOptions{app: a}
	cmd := &cobra.Command{
		Use:     "man DIR",
		Short:   "Write a man page for each command",
		Long:    "Writes relay.1 and a page for each command into DIR. make install does it.",
		Example: "relay man ~/.local/share/man/man1",
		Hidden:  true,
		Args:    neededArg(&o.dir, "folder", "`relay man ~/.local/share/man/man1`"),
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if runF != nil {
			return runF(cmd.Context(), o)
		}
		return runMan(o, cmd.Root())
	}
	return cmd
}

// manDoc is what `relay man --json` prints.
type manDoc struct {
	host.Doc
	Dir   string `json:"dir"`
	Pages int    `json:"pages"`
}

func runMan(o *manOptions, root *cobra.Command) error {
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return err
	}
	pages := 0
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		pages++
		c.DisableAutoGenTag = true
		for _, child := range c.Commands() {
			if child.IsAvailableCommand() && !child.IsAdditionalHelpTopicCommand() {
				visit(child)
			}
		}
	}
	visit(root)
	header := &doc.GenManHeader{Section: "1", Source: version().line(), Manual: "relay"}
	if made, err := time.Parse(time.RFC3339, version().Build.Time); err == nil { // the same pages for the same build
		header.Date = &made
	}
	if err := doc.GenManTree(root, header, o.dir); err != nil {
		return err
	}
	return o.app.done(manDoc{host.Doc{Kind: "relay.man", Version: 1}, o.dir, pages}, func(p *printer) {
		p.linef("wrote %s to %s", plural(pages, "page", "pages"), host.Safe(o.dir))
	})
}
