package host

import (
	"context"
	"strings"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
	"github.com/paxiom/relay/judge/program"
)

// Editor is the operator's editor as a shell command, found like git does: $VISUAL,
// $EDITOR, core.editor, vi. One that lies in the repository is refused: a change could
// have written it.
func (r *Repo) Editor(ctx context.Context) (string, error) {
	editor, from := "vi", ""
	for _, name := range []string{"EDITOR", "VISUAL"} {
		if e := strings.TrimSpace(r.Getenv(name)); e != "" {
			editor, from = e, "$"+name
		}
	}
	if from == "" {
		if git, err := git.Open(ctx, r.Dir); err == nil {
			if out, err := git.Run(ctx, nil, "config", "--get", "core.editor"); err == nil && strings.TrimSpace(string(out)) != "" {
				editor, from = strings.TrimSpace(string(out)), "git's core.editor"
			}
		}
	}
	tree := program.Tree(r.Dir)
	if program.Named([]string{"", editor}, r.Dir, tree) != "" || program.Named([]string{"", editor}, tree, tree) != "" {
		return "", diag.New(judge.BlockedMissingConfig, "the editor is in the repository", from+" names it ("+editor+"), and a change can rewrite it",
			"`export VISUAL=vi`, or another editor outside of the repository")
	}
	return editor, nil
}

// OwnEnviron is the operator's environment for what the operator starts from a screen of
// relay's: nothing in it leads to code in the work tree that dir is in.
func OwnEnviron(environ []string, dir string) []string {
	return program.Environ(environ, program.Tree(dir))
}
