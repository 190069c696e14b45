package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/internal/about"
)

// versionDoc is what relay knows about its own making; the version stands in the place
// of the document's own.
type versionDoc struct {
	host.Doc
	Version string `json:"version"`
	about.Build
}

func version() versionDoc {
	b := about.Read()
	return versionDoc{host.Doc{Kind: "relay.version", Version: 1}, b.Version, b}
}

// line is what --version prints.
func (v versionDoc) line() string { return "relay " + v.Build.String() }

type versionOptions struct{ app *app }

func newVersionCmd(a *app) *cobra.Command {
	o := &versionOptions{app: a}
	return &cobra.Command{
		Use:     "version",
		Short:   "Print relay's version, commit and platform",
		Example: "relay version\nrelay version --json",
		GroupID: groupSetup,
		Args:    noArgs,
		RunE:    runE(o, runVersion),
	}
}

func runVersion(_ context.Context, o *versionOptions) error {
	v := version()
	return o.app.done(v, func(p *printer) {
		p.linef("%s", v.line())
		p.linef("%s %s/%s", v.Go, v.OS, v.Arch)
	})
}
