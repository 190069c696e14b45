package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/paxiom/relay/host"
)

// showDiff shows a change file by file, each with the rules that it broke: in the
// operator's pager on a terminal, otherwise below what was printed.
func showDiff(ctx context.Context, a *app, p *printer, files []host.FileDiff) {
	p.linef("")
	if !page(ctx, a, p, files) {
		diffText(p, files)
	}
}

// diffText prints a diff with its lines coloured. What stands in it comes from a model.
func diffText(p *printer, files []host.FileDiff) {
	for i, f := range files {
		if i > 0 {
			p.linef("")
		}
		p.linef("%s  %s", p.bold(host.Safe(f.Path)), p.dim(fmt.Sprintf("+%d/-%d, file %d of %d", f.Added, f.Deleted, i+1, len(files))))
		for _, h := range f.Rules {
			p.hang(p.red("✗")+" ", host.Safe(h.Rule)+"  "+p.dim(host.Safe(h.Code)))
		}
		for line := range strings.Lines(f.Text) {
			p.linef("%s", diffLine(p, host.SafeLine(strings.TrimSuffix(line, "\n"))))
		}
	}
}

// diffLine colors one line of a diff; its first sign says the same without color.
func diffLine(p *printer, line string) string {
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "diff "):
		return p.bold(line)
	case strings.HasPrefix(line, "+"):
		return p.green(line)
	case strings.HasPrefix(line, "-"):
		return p.red(line)
	case strings.HasPrefix(line, "@@"):
		return p.dim(line)
	}
	return line
}

// page shows a diff in the operator's pager, on a terminal. false: there is none.
func page(ctx context.Context, a *app, p *printer, files []host.FileDiff) bool {
	f := a.outFile()
	if f == nil || !a.outTTY || !a.capable() || a.getenv("CI") != "" {
		return false
	}
	environ, pager := host.OwnEnviron(os.Environ(), "."), "less"
	for _, name := range []string{"PAGER", "GIT_PAGER"} {
		if v := own(a, environ, name); v != "" {
			pager = v
		}
	}
	if pager == "cat" {
		return false
	}
	var b strings.Builder
	diffText(&printer{w: &b, color: a.colorOn(true), width: p.width}, files)
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", pager)
	cmd.Env = environ
	if a.getenv("LESS") == "" { // as git does: colors, and no pager for what fits the screen
		cmd.Env = append(cmd.Env, "LESS=FRX")
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(b.String()), f, a.err
	return cmd.Run() == nil
}
