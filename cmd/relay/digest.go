package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/diag"
)

type reportOptions struct {
	app    *app
	since  string
	format string
	output string
	open   bool
}

func newReportCmd(a *app) *cobra.Command {
	o := &reportOptions{app: a}
	cmd := &cobra.Command{
		Use:   "report",
		Short: "The morning after: what landed, what stopped, what it cost, what waits",
		Long: "Sums up the runs of the last while. First comes what can't be trusted yet: changes that nothing\n" +
			"verified, weaker boxes, calls of unknown cost. Then what waits for you, with the command for each.\n" +
			"--format html makes one page with plots that needs nothing else and runs no script. Ends with exit\n" +
			"code 1 while something waits for you.",
		Example: "relay report\nrelay report --open              # as a page in the browser\nrelay report --since 7d --format markdown\nrelay report --since 12h --format html -o night.html",
		GroupID: groupLook,
		Args:    noArgs,
		RunE:    inRepo(a, o, runReport),
	}
	f := cmd.Flags()
	f.StringVar(&o.since, "since", "12h", "the runs of the last `DUR`: 12h, 7d")
	f.StringVar(&o.format, "format", "text", "`FORMAT`: text, markdown, html or json")
	f.StringVarP(&o.output, "output", "o", "", "write to `FILE`, not to standard output")
	f.BoolVar(&o.open, "open", false, "show the page of --format html in your browser")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"text", "markdown", "html", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// parseSince reads how far a command looks back.
func parseSince(command, text string) (time.Duration, error) {
	since, err := parseAge(text)
	if err != nil || since <= 0 {
		return 0, usageError{what: "--since " + strconv.Quote(text) + " is not a time", why: "it is a number with h or d, such as 12h or 7d", fix: "`" + command + " --since 12h`"}
	}
	return since, nil
}

func runReport(ctx context.Context, repo *host.Repo, o *reportOptions) error {
	since, err := parseSince("relay report", o.since)
	if err != nil {
		return err
	}
	if o.open && o.format == "text" {
		o.format = "html"
	}
	if o.format == "json" {
		o.app.json = true
	}
	render, ok := map[string]func(*host.DigestResult) ([]byte, error){
		"text": nil, "json": nil,
		"markdown": func(d *host.DigestResult) ([]byte, error) { return d.Markdown(), nil },
		"html":     (*host.DigestResult).HTML,
	}[o.format]
	switch {
	case !ok:
		return usageError{what: strconv.Quote(o.format) + " isn't a format of reports", why: "it is text, markdown, html or json", fix: "`relay report --format html -o night.html`"}
	case o.open && o.format != "html":
		return usageError{what: "--open goes with --format html", why: "a browser shows the page", fix: "`relay report --open`"}
	case o.output != "" && render == nil:
		return usageError{what: "-o goes with --format markdown or html", why: "text and JSON can be redirected by the shell", fix: "`relay report --format html -o night.html`"}
	}
	d, err := repo.Digest(ctx, since)
	if err != nil {
		return err
	}
	if render == nil {
		return o.app.end(d.ExitCode, d, func(p *printer) { digestText(p, d) })
	}
	page, err := render(d)
	if err != nil {
		return err
	}
	if o.open && o.output == "" {
		if o.output, err = repo.Scratch("report.html"); err != nil {
			return err
		}
	}
	if o.output == "" {
		return o.app.end(d.ExitCode, d, func(p *printer) { p.write(string(page)) })
	}
	if err := writeOutput(o.output, page); err != nil {
		return err
	}
	if o.open {
		if err := browse(ctx, o.app, host.OwnEnviron(os.Environ(), repo.Root()), o.output); err != nil {
			return err
		}
	}
	return o.app.end(d.ExitCode, d, func(p *printer) { p.linef("%s  %s", host.Safe(o.output), p.dim(size(int64(len(page))))) })
}

// browse shows a file in the browser: that of $BROWSER, or what the desktop opens pages with.
func browse(ctx context.Context, a *app, environ []string, file string) error {
	file, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	opener := own(a, environ, "BROWSER")
	if opener == "" {
		opener = map[string]string{"darwin": "open"}[runtime.GOOS]
	}
	opener = cmp.Or(opener, "xdg-open")
	cmd := shell(ctx, opener, environ, file)
	cmd.Stderr = a.err
	if err := cmd.Run(); err != nil {
		return diag.Wrap(err, "", "no browser could be opened", "`export BROWSER=firefox`, or open "+host.Safe(file)+" yourself")
	}
	return nil
}

// writeOutput writes a file that the person named: all of it or nothing.
func writeOutput(path string, b []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".relay-report-")
	if err == nil {
		defer os.Remove(tmp.Name())
		_, err = tmp.Write(b)
		if cerr := tmp.Chmod(0o644); err == nil {
			err = cerr
		}
		if cerr := tmp.Close(); err == nil {
			err = cerr
		}
		if err == nil {
			err = os.Rename(tmp.Name(), path)
		}
	}
	if err != nil {
		return diag.Wrap(err, "", path+" can't be written", "`ls -ld "+diag.Word(filepath.Dir(path))+"`")
	}
	return nil
}

// digestText is the digest on a terminal.
func digestText(p *printer, d *host.DigestResult) {
	p.linef("%s", p.bold(d.Headline()))
	p.linef("%s", p.dim(d.Span()))
	digestItems(p, "unverified", d.Doubts)
	digestItems(p, "waits for you", d.Waiting)
	digestItems(p, "accepted", d.Accepted)
	if len(d.Landed) > 0 {
		p.linef("\n%s", p.bold("landed"))
	}
	for i, r := range d.Landed {
		if i == 2*maxShown {
			p.linef("  and %d more: relay history list", len(d.Landed)-i)
			break
		}
		text := shorten(r.Intent, 60) + "  " + p.dim(r.Radius())
		if r.Undone {
			text += p.yellow("  taken back since")
		}
		p.hang(fmt.Sprintf("  %.12s  ", r.Commit), text)
	}
	if len(d.Stopped) > 0 {
		p.linef("\n%s", p.bold("stopped"))
	}
	for i, s := range d.Stopped {
		if i == maxShown {
			p.linef("  and %d more: relay history list", len(d.Stopped)-i)
			break
		}
		p.hang("  ", s.RunID+"  "+p.outcome(string(s.Code))+"  "+shorten(s.Intent, 50))
		if s.Why != "" {
			p.hang("    why: ", shorten(s.Why, 160))
		}
		p.advise("    ", host.Safe(s.Command))
	}
	p.linef("\n%s", p.bold("spent"))
	p.linef("  %s in %s", host.Money(d.Spend.Total), plural(d.Spend.Total.Calls, "call", "calls"))
	for _, one := range d.Spend.Providers {
		p.linef("  %s %s in %s", pad(host.Safe(one.Name), 14), host.Money(one.Sum), plural(one.Calls, "call", "calls"))
	}
	for _, c := range d.Spend.Caps {
		p.linef("  cap  %s", host.Safe(c.Text))
	}
	if len(d.States) > 0 {
		p.linef("\n%s", p.bold("where the time went"))
	}
	for _, s := range d.States {
		p.linef("  %s %s", pad(host.Safe(s.State), 14), duration(time.Duration(s.MS)*time.Millisecond))
	}
}

func digestItems(p *printer, title string, all []host.DigestItem) {
	if len(all) == 0 {
		return
	}
	p.linef("\n%s", p.bold(title))
	for _, i := range all {
		text := host.Safe(i.What)
		if i.Why != "" {
			text += ": " + host.Safe(i.Why)
		}
		p.hang("  "+p.yellow("!")+" ", text)
		if i.Command != "" {
			p.advise("    ", host.Safe(i.Command))
		}
		if n := len(i.Runs); n > 0 {
			p.linef("    %s", p.dim(joined(i.Runs[:min(n, 3)])))
		}
	}
}
