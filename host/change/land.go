package change

import "context"

// Trailer is one "Key: value" line at the end of a commit message.
type Trailer struct{ Key, Value string }

// Message is a commit message. Texts may come from a model: they are made one
// paragraph each, and can't pass for a trailer.
type Message struct {
	Subject  string
	Body     []string // paragraphs
	Trailers []Trailer
}

// Landing says how a judged change lands.
type Landing struct {
	Message Message
	// Commit makes one commit on the current branch. Otherwise the changes stay in
	// the work tree and nothing is written into .git.
	Commit bool
}

// Landed is what Land did.
type Landed struct {
	Commit string   // "" when none was made
	Paths  []string // what was written in the work tree
	Notes  []string // what a person should know, one sentence each
}

// Land writes exactly what was judged into the work tree and commits it. If a file,
// HEAD or the index is no longer what it was when it was compared, nothing is written
// and the fault is STOP_HEAD_MOVED.
func (c *Change) Land(ctx context.Context, l Landing) (Landed, error) { panic("todo") }

// Rejected is where a rejected change was kept.
type Rejected struct {
	Ref   string // refs/relay/<run id>; "" when there was nothing to keep
	Notes []string
}

// Reject keeps what the builder left as a commit under refs/relay, without what has
// a hostile name, is no plain file or belongs to relay. The work tree is not touched.
func (c *Change) Reject(ctx context.Context, m Message) (Rejected, error) { panic("todo") }

// Patch gives what the builder left as a patch that git apply takes; what git can't
// express is named in a comment line.
func (c *Change) Patch() ([]byte, error) { panic("todo") }
