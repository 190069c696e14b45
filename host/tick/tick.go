package tick

import (
	"context"
	"time"

	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/trust"
)

// Env is where ticks run: one repository on one machine. It is filled once and can
// serve many ticks.
type Env struct {
	// Dir is any folder of the repository; Root its top, "" when there is none.
	Dir, Root string
	// Loaded is the configuration; LoadErr why there is none.
	Loaded  *config.Loaded
	LoadErr error
	Catalog *catalog.Catalog
	Trust   *trust.Store
	// StateDir is relay's state on this machine, Home the user's home.
	StateDir, Home string
	Environ        []string
	Version        string
	Now            func() time.Time // nil means time.Now
	Observer       progress.Observer
}

// Options are one tick's.
type Options struct {
	Goal string
	// Task is a task's JSON that is judged with no orchestrator call; nil asks.
	Task []byte
	// TaskName names where Task came from, for texts.
	TaskName  string
	RecordDir string
}

// Outcome is how a tick ended.
type Outcome struct {
	Report  *report.Report
	Blocked *report.Blocked // set when the code is BLOCKED_*
	Patch   string          // file in the history; "" when there is none
}

// Run makes one tick. Whatever happens there is an Outcome with a report; an error is
// a fault that kept even that from being written.
func Run(ctx context.Context, env *Env, o Options) (*Outcome, error) { panic("todo") }

// Check is one row of the preflight.
type Check struct {
	ID      string
	Err     error // nil: passed
	Skipped bool  // not looked at, since an earlier row failed
	Found   string
}

// Preflight looks at everything that a tick needs, in the order of appendix A1, and
// changes and spends nothing.
func Preflight(ctx context.Context, env *Env) []Check { panic("todo") }
