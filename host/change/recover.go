package change

import "context"

// Recovery is what was done about one unfinished run.
type Recovery struct {
	RunID string
	// Did is one line: "discarded the box", "finished the apply", …
	Did string
	// Commit is what landed after all; "" when nothing did.
	Commit string
	// Conflict says why it can't be settled without the operator; "" when it is.
	Conflict string
}

// Recover settles every unfinished change: it discards boxes, and finishes an apply
// that had begun. Where a file was changed by somebody else in between it stops with
// Conflict and changes nothing, unless force: then that file stays as it is and
// relay's version of it is kept under refs/relay.
func Recover(ctx context.Context, env Env, force bool) ([]Recovery, error) { panic("todo") }

// Undone is a commit that takes a landed one back.
type Undone struct {
	Commit string
	Paths  []string
	Notes  []string
}

// Undo makes a commit that takes the landed commit back. It refuses when the commit
// is not HEAD, or when the work tree is not clean.
func Undo(ctx context.Context, env Env, runID, commit string, m Message) (Undone, error) {
	panic("todo")
}
