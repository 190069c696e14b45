package pluginhost

import (
	"time"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/sdk/pluginpb"
)

// Cause is the coarse class of a failure.
type Cause string

// The causes.
const (
	Reported      Cause = "reported"      // the plugin said so, in band
	NotStarted    Cause = "not started"   // launch, GetInfo or Configure
	Crashed       Cause = "crashed"       // the process ended during a call
	Protocol      Cause = "protocol"      // a breach of the protocol
	Unimplemented Cause = "unimplemented" // an RPC that it should have
	Cancelled     Cause = "cancelled"     // we did it
	OurLimit      Cause = "our limit"     // not sent: the message is too large
)

// Failure is why a call did not end well. All texts have secrets masked.
type Failure struct {
	Cause   Cause
	Plugin  string // name
	Version string // may be ""
	RPC     string // "Complete", "Build", "Configure", …
	// Reason and the facts after it are the plugin's when Cause is Reported;
	// otherwise the reason is unspecified and Effect is what the host knows.
	Reason            pluginpb.Failure_Reason
	Effect            pluginpb.Failure_Effect
	Summary           string // what happened: one sentence
	Detail            string // why
	Fix               string // what to do; a command first where there is one
	RetryAfter        time.Duration
	ResetAt           time.Time // zero: not known
	LimitName         string
	UpstreamCode      string
	UpstreamRequestID string
	// Usage is the largest that was seen in the call; nil: nothing is known.
	Usage *pluginpb.Usage
	// Events is how many events came after started.
	Events int
	// Exit says how the process ended, for example "exit status 2"; "" while it lives.
	Exit string
	// Panic is the first line of a panic and Stack the goroutine below it, from
	// standard error.
	Panic, Stack string
	// StderrPath names the file with all of standard error; may be "".
	StderrPath string
	// Err is the cause, for errors.Is and errors.As; may be nil.
	Err error
}

// Error gives what, why and fix on one line.
func (f *Failure) Error() string { return f.Summary }

// Unwrap gives the cause.
func (f *Failure) Unwrap() error { return f.Err }

// Fault is the failure as a person reads it, under the code that [Decide] gives.
func (f *Failure) Fault() *fault.Fault { return nil }

// Action is what follows from a failure.
type Action string

// The actions.
const (
	Again Action = "retry"
	Stop  Action = "stop"
	Block Action = "block"
)

// Decision is what follows from a failure.
type Decision struct {
	Action Action
	// Code is the outcome when the call is not repeated, or not any more.
	Code judge.Code
	// Times is how often the call may be repeated for this reason; 0 unless Action
	// is Again.
	Times int
	// After is how long to wait before that at least; 0: the caller's backoff.
	After time.Duration
	// ResetAt is when an exhausted limit is renewed; zero: not known.
	ResetAt time.Time
}

// Decide is the one table of what follows from a failure.
func Decide(f *Failure) Decision { return Decision{Action: Stop, Code: judge.StopInterrupted} }
