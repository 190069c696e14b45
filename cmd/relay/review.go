package main

import (
	"context"
	"os"
	"os/exec"
	"slices"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/cycles"
)

type reviewOptions struct {
	app *app
	id  string
}

func newReviewCmd(a *app) *cobra.Command {
	o := &reviewOptions{app: a}
	return &cobra.Command{
		Use:   "review CYCLE",
		Short: "Gate 1: read and edit the plan",
		Long: "Opens the plan of a cycle in your editor: $VISUAL, $EDITOR, git's core.editor, or vi. What you\n" +
			"save is the plan. A block at the top tells what you should know; it is taken out again. Nothing\n" +
			"runs before relay audit continue.",
		Example: "relay audit review bf3c91\nEDITOR=\"code --wait\" relay audit review bf3c91",
		Args:    needArg(&o.id, "cycle", "relay queue"),
		RunE:    inRepo(a, o, runReview),

		ValidArgsFunction: completeCycles(a),
	}
}

// reviewDoc is the document of relay audit review.
type reviewDoc struct {
	host.Doc
	Outcome string `json:"outcome"`
	Why     string `json:"why,omitempty"`
	Items   int    `json:"items"` // entries of the plan
	File    string `json:"file"`
	Next    string `json:"next"`
}

func runReview(ctx context.Context, repo *host.Repo, o *reviewOptions) error {
	editor, err := repo.Editor(ctx)
	if err != nil {
		return err
	}
	r, err := cycles.Review(ctx, repo, o.id, func(path string) error {
		return edit(ctx, o.app, editor, host.OwnEnviron(os.Environ(), repo.Root()), path)
	})
	if err != nil {
		return err
	}
	doc := reviewDoc{Doc: host.Doc{Kind: "relay.review", Version: 1}, Outcome: string(r.Outcome), Why: r.Why, Items: r.Items, File: r.File, Next: "`relay audit continue " + host.Safe(o.id) + "`"}
	code := host.ExitWaiting // the plan waits, whatever was done to it
	if doc.Outcome == "unparsable" || doc.Outcome == "emptied" {
		doc.Next = "`relay audit review " + host.Safe(o.id) + "`"
	}
	return o.app.end(code, doc, func(p *printer) {
		switch doc.Outcome {
		case "changed":
			p.linef("%s the plan has %s now", p.green("saved:"), plural(doc.Items, "entry", "entries"))
		case "unchanged":
			p.linef("the plan is unchanged, with %s", plural(doc.Items, "entry", "entries"))
		case "emptied":
			p.linef("%s nothing was saved; the plan is unchanged", p.yellow("emptied:"))
		default:
			p.linef("%s the text is kept, but it can't be carried out", p.red("unparsable:"))
			why(p, doc.Why)
		}
		p.row("plan", host.Safe(doc.File))
		p.next(doc.Next)
	})
}

// edit runs the editor like git does: by a shell, since it may have arguments, with the
// terminal.
func edit(ctx context.Context, a *app, editor string, environ []string, path string) error {
	cmd := shell(ctx, editor, environ, path)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, a.err, a.err
	if f := a.outFile(); f != nil && !a.json {
		cmd.Stdout = f
	}
	return cmd.Run()
}

// own is a variable that names a program of the operator's: one in the repository is none,
// since a change can rewrite it, and is not in environ any more.
func own(a *app, environ []string, name string) string {
	if v := a.getenv(name); slices.Contains(environ, name+"="+v) {
		return v
	}
	return ""
}

// shell starts a program of the operator's, which may have arguments, for a file.
func shell(ctx context.Context, program string, environ []string, file string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", program+` "$@"`, program, file)
	cmd.Env = environ
	return cmd
}
