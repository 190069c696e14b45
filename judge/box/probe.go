package box

import "context"

// Support is what a machine allows.
type Support struct {
	// Means is the strongest means that works; "" when none does.
	Means  string
	Trials []Trial
}

// OK says that some means works.
func (s Support) OK() bool { return s.Means != "" }

// Trial is how one means did.
type Trial struct {
	Means string
	OK    bool
	// Why and Fix say, when it is not OK, what stood in the way and what to do.
	Why, Fix string
	// Gaps are what it does not stop, one sentence each.
	Gaps []string
}

// Probe tries each means for real in a throw-away folder below stateDir: it mounts,
// writes, deletes, renames and reads back. An error means that the trial itself
// could not be made (stateDir not writable); a means that is not allowed is no error.
func Probe(ctx context.Context, stateDir string) (Support, error) { return Support{}, nil }
