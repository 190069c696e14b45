package change

import (
	"context"
	"io"
	"time"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/verify"
)

// Checks are the verification commands of a change and their limits.
type Checks struct {
	Commands   []verify.Command
	Fast, Slow time.Duration // timeouts; 0 means verify's defaults
	Env        []string      // the whole environment of a command
	Log        io.Writer     // nil for none
}

// Verify runs the commands one after another, each in a fresh box that holds the
// real tree and exactly the judged change.
func (c *Change) Verify(ctx context.Context, k Checks) ([]verify.Result, judge.Code) { panic("todo") }
