package main

import (
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/paxiom/relay/host"
)

type manOptions struct {
	app    *app
	dir    string
	prefix bool
}

// newManCmd is for who installs or packs relay, so the help does not list it.
func newManCmd(a *app) *cobra.Command {
	o := &manOptions{app: a}
	cmd := &cobra.Command{
		Use:   "man DIR",
		Short: "Write a man page for each command",
		Long: "Writes relay.1 and a page for each command into DIR. With --prefix, DIR is what programs are\n" +
			"installed to: the pages go below its share, and completions to where each shell looks for\n" +
			"them. make install and make release do that.",
		Example: "relay man ~/.local/share/man/man1\nrelay man --prefix ~/.local",
		Hidden:  true,
		Args:    neededArg(&o.dir, "folder", "`relay man ~/.local/share/man/man1`"),
	}
	cmd.Flags().BoolVar(&o.prefix, "prefix", false, "DIR is a prefix; write completions, too")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return runMan(o, cmd.Root())
	}
	return cmd
}

// manDoc is what `relay man --json` prints.
type manDoc struct {
	host.Doc
	Dir         string   `json:"dir"`                   // where they were written
	Pages       int      `json:"pages"`                 // how many
	Completions []string `json:"completions,omitempty"` // files for shells
}

func runMan(o *manOptions, root *cobra.Command) error {
	m := manDoc{Doc: host.Doc{Kind: "relay.man", Version: 1}, Dir: o.dir}
	if o.prefix {
		m.Dir = filepath.Join(o.dir, "share", "man", "man1")
	}
	if err := os.MkdirAll(m.Dir, 0o755); err != nil {
		return err
	}
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		m.Pages++
		c.DisableAutoGenTag = true
		for _, child := range c.Commands() {
			if child.IsAvailableCommand() && !child.IsAdditionalHelpTopicCommand() {
				visit(child)
			}
		}
	}
	visit(root)
	header := &doc.GenManHeader{Section: "1", Source: version().line(), Manual: "relay"}
	if made, err := time.Parse(time.RFC3339, version().Time); err == nil { // the same pages for the same build
		header.Date = &made
	}
	if err := doc.GenManTree(root, header, m.Dir); err != nil {
		return err
	}
	if o.prefix {
		for _, c := range completions {
			if c.file == "" {
				continue
			}
			to := filepath.Join(o.dir, "share", c.file)
			if err := c.writeFile(root, to); err != nil {
				return err
			}
			m.Completions = append(m.Completions, to)
		}
	}
	return o.app.done(m, nil, func(p *printer) {
		p.linef("wrote %s to %s", plural(m.Pages, "page", "pages"), host.Safe(m.Dir))
		for _, c := range m.Completions {
			p.linef("wrote %s", host.Safe(c))
		}
	})
}
