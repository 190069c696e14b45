package host

import (
	"time"

	"github.com/paxiom/relay/host/durable"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/telemetry"
	"github.com/paxiom/relay/host/internal/trust"
	"github.com/paxiom/relay/judge"
)

// Types of the core that the commands show.
type (
	// Report is REPORT.json.
	Report = report.Report
	// Blocked is BLOCKED.json.
	Blocked = report.Blocked
	// Event is one step of progress of a running workflow.
	Event = progress.Event
	// Usage is what an Event says of tokens and dollars; Now is what events add up to.
	Usage = progress.Usage
	Now   = progress.Now
	Doing = progress.Doing
	Act   = progress.Act
	Bound = progress.Bound
	// Observer watches a running workflow; see [ObserverFunc].
	Observer = progress.Observer
	// ObserverFunc is a function as an Observer.
	ObserverFunc = progress.Func
	// ConfigValue is one value of the configuration with its origin.
	ConfigValue = config.Value
	// Clock is the wall clock by which relay waits.
	Clock = durable.Clock
	// Widening is what a person has added to the ceiling of a repository for good.
	Widening = trust.Widening
	// Code is the stable name of an outcome.
	Code = judge.Code
)

// The kinds of an Event.
const (
	EventFinished = progress.Finished
	EventPlugin   = progress.Plugin
	EventNotice   = progress.Notice
	EventWaiting  = progress.Waiting
	EventLimit    = progress.Limit
)

// Doc names the document that a result is, for --json.
type Doc struct {
	Kind    string `json:"kind"`    // for example "relay.status"
	Version int    `json:"version"` // goes up when a field changes its meaning
}

// DocOf names a document.
func DocOf(kind string, version int) Doc { return Doc{kind, version} }

// Options are how relay was called. Zero fields mean the process's own.
type Options struct {
	Set        []string // --set key=value, lowest first
	Env        []string // as os.Environ
	Version    string   // of relay
	Clock      Clock    // nil is the machine's
	Executable string   // the relay binary: what boxes execute again, and where plugins lie beside
	// Unpinned are plugins that a developer brings for this one call.
	Unpinned []Unpinned
}

// Now is the time by the clock that the options name.
func (r *Repo) Now() time.Time {
	if r.Options.Clock != nil {
		return r.Options.Clock.Now()
	}
	return time.Now()
}

// Repo is one repository as relay sees it. Opening it starts no process; what is
// wrong with it is the error of the method that needs it.
type Repo struct {
	Dir      string
	Options  Options
	unpinned func() ([]catalog.Entry, error) // made once, when it is needed

	spans *telemetry.Tracer // nil while nothing is traced
}

// Watched lets the spans of a workflow, where they are wanted, be made of what its
// observer is told.
func (r *Repo) Watched(workflow string, c *config.Config, obs Observer) Observer {
	if obs == nil || c == nil { // nothing is under way
		return obs
	}
	if r.spans == nil {
		r.spans = telemetry.Open(r.Traced(c))
	}
	return r.spans.Watch(workflow, obs)
}

// Traced says where the spans of this repository go.
func (r *Repo) Traced(c *config.Config) telemetry.Options {
	return telemetry.Options{Config: c.Telemetry, Version: r.Options.Version, Getenv: r.Getenv}
}

// Close lets go of the repository. lost says why telemetry did not arrive, "" when it did
// or nothing is traced.
func (r *Repo) Close() (lost string) { return r.spans.Close() }
