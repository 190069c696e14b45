package clitool

import (
	"path/filepath"

	"github.com/paxiom/relay/sdk"
)

// Event is something that happened inside a run, for people to see. One field is set.
type Event struct {
	Text    string
	Usage   *sdk.Usage
	Notice  string
	Command *sdk.Command
	File    string
}

// Shell is a command of the model, as programs run it; exit is nil while it runs.
func Shell(line string, exit *int) *sdk.Command {
	return &sdk.Command{Argv: []string{"sh", "-c", line}, ExitCode: exit}
}

// Report tells the event to the host. Dir is where the program works; in a build a text is
// said on the way, otherwise it is the answer.
func (e Event) Report(out sdk.Events, program, dir string, build bool) {
	switch {
	case e.Text != "" && build:
		out.Progress(sdk.Progress{Phase: "message", Text: Clip(e.Text, 500)})
	case e.Text != "":
		out.Text(e.Text)
	case e.Usage != nil:
		out.Usage(*e.Usage)
	case e.Notice != "":
		out.Notice(program + ": " + Clip(e.Notice, 500))
	case e.Command != nil:
		out.Command(*e.Command)
	case e.File != "":
		path := e.File
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
			path = rel
		}
		out.File(path)
	}
}
