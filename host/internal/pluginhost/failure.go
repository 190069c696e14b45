package pluginhost

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/launch"
	"github.com/paxiom/relay/judge/program"
	"github.com/paxiom/relay/sdk/pluginpb"
)

// Cause is the coarse class of a failure.
type Cause string

// The causes.
const (
	Reported      Cause = "reported"      // the plugin said so, in band, or what it said can't be read
	NotStarted    Cause = "not started"   // the configuration, the launch, or GetInfo
	NoKey         Cause = "no key"        // a key that is configured can't be had
	Crashed       Cause = "crashed"       // the process ended during a call
	Trespassed    Cause = "trespassed"    // it was ended: it used what it was not granted
	Protocol      Cause = "protocol"      // a breach of the protocol
	Unimplemented Cause = "unimplemented" // an RPC that the plugin should have
	Cancelled     Cause = "cancelled"     // by the caller's context; Err says how
	OurLimit      Cause = "our limit"     // not sent: the message is too large
)

// Failure is why a call did not end well. All texts have secrets masked.
type Failure struct {
	Cause   Cause
	Plugin  string // name
	Version string // may be ""
	RPC     string // "Start", "GetInfo", "Configure", "Complete", "Build", "Health"
	// Reason and the facts after it are the plugin's when Cause is Reported.
	// Otherwise Reason is unspecified, and Effect is what the host knows.
	Reason  pluginpb.Failure_Reason
	Effect  pluginpb.Failure_Effect
	Summary string // what happened: one sentence
	Detail  string // why
	Fix     string // what to do, in relay's words; a command first where there is one
	// Says is what the plugin itself suggests: a quotation, never a command of relay's.
	Says string
	// Sent is the failure as the plugin sent it; nil unless Cause is Reported.
	Sent *pluginpb.Failure

	RetryAfter        time.Duration
	ResetAt           time.Time // zero: not known
	LimitName         string
	UpstreamCode      string
	UpstreamRequestID string
	// Usage is the last that was seen in the call; nil: nothing is known.
	Usage *pluginpb.Usage
	// Events is how many events came after started.
	Events int
	// Exit says how the process ended, for example "exit status 2"; "" while it lives.
	Exit string
	// Panic is the first line of a panic and Stack the goroutine below it, from
	// standard error; Tail is its last lines when the process ended.
	Panic, Stack, Tail string
	// StderrPath names the file with all of standard error; may be "".
	StderrPath string
	// Err is the cause, for errors.Is and errors.As; may be nil.
	Err error
}

// Error gives what, why and fix on one line.
func (f *Failure) Error() string { return f.Diagnostic().Error() }

// Word is the reason in one word: the plugin's own, or what the host saw.
func (f *Failure) Word() string {
	if f.Cause == Reported {
		return f.Reason.String()
	}
	return string(f.Cause)
}

// Unwrap gives the cause.
func (f *Failure) Unwrap() error { return f.Err }

// Diagnostic is the failure as a person reads it, under the code that [Decide] gives.
func (f *Failure) Diagnostic() *diag.Error {
	if known, ok := diag.As(f.Err); ok { // a box that can't be made has better words
		return known
	}
	why := f.Detail
	if f.StderrPath != "" && (f.Cause == Crashed || f.Cause == NotStarted || f.Cause == Protocol) {
		why = joinText(why, "all that it wrote is in "+f.StderrPath)
	}
	fix := cmp.Or(f.Fix, "`relay doctor` checks what the plugin needs; `relay show` has the details of the run")
	return &diag.Error{Code: Decide(f).Code, What: f.Summary, Why: why, Fix: fix, Says: f.Says, Err: f}
}

func joinText(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// label names a plugin in texts.
func (s *Spec) label() string {
	if s.Entry.Version == "" {
		return "plugin " + s.Entry.Name
	}
	return "plugin " + s.Entry.Name + " " + s.Entry.Version
}

func (s *Spec) failure(cause Cause, rpc, summary, detail, fix string) *Failure {
	return &Failure{Cause: cause, Plugin: s.Entry.Name, Version: s.Entry.Version, RPC: rpc, Effect: pluginpb.Failure_EFFECT_NONE,
		Summary: summary, Detail: detail, Fix: fix, StderrPath: s.StderrPath}
}

// startFailure is what launch says.
func (s *Spec) startFailure(err error) *Failure {
	var e *launch.Error
	if !errors.As(err, &e) {
		return s.failure(NotStarted, "Start", s.label()+" was not started", err.Error(), "")
	}
	if f := s.trespassed("Start"); f != nil {
		return f
	}
	f := s.failure(NotStarted, "Start", e.What, e.Why, e.Fix)
	f.Exit, f.Panic, f.Stack, f.Tail, f.Err = e.Exit, e.Panic, e.Stack, e.Tail, e
	if e.Kind == launch.Cancelled {
		f.Cause = Cancelled
	}
	return f
}

// LeftInPath says why a file that PATH leads to was not taken for a program.
func LeftInPath(file string) string {
	return fmt.Sprintf("PATH leads to %s, and relay takes no program from the repository or by a relative folder of PATH: a change could put another one there", file)
}

const reportIt = "`relay plugin list` shows where the plugin comes from; report it to its author"

// breach is a breach of the protocol. The plugin can't be trusted to keep to it
// afterwards: its process is ended.
func (p *Plugin) breach(rpc, what string) *Failure {
	p.client.Kill()
	f := p.spec.failure(Protocol, rpc, fmt.Sprintf("%s broke the plugin protocol during %s", p.spec.label(), rpc), what, reportIt)
	f.Effect = pluginpb.Failure_EFFECT_UNKNOWN
	return f
}

// reported is what the plugin says of its failure. Its words are marked as its own.
func (p *Plugin) reported(rpc string, w *pluginpb.Failure) *Failure {
	f := p.spec.failure(Reported, rpc, "", "", advice(p.spec.Entry.Name, w.GetReason()))
	f.Reason, f.Effect, f.Sent = w.GetReason(), w.GetEffect(), w
	if says := quoted(w.GetSummary(), saysSummary); says != "" {
		f.Summary = p.spec.label() + " says: " + says
	}
	if says := quoted(w.GetDetail(), saysDetail); says != "" {
		f.Detail = "it says: " + says
	}
	own := f.Reason == pluginpb.Failure_REASON_TOOL_MISSING && installs[p.spec.Entry.Name] != "" // then relay's words say the same
	if says := quoted(w.GetFix(), saysFix); says != "" && !own {
		f.Says = p.spec.label() + " suggests: " + says
	}
	if f.Reason == pluginpb.Failure_REASON_TOOL_MISSING {
		for _, name := range p.spec.Entry.Programs {
			if left := program.Left(name, os.Getenv("PATH"), p.spec.EnvFile.Root); left != "" && strings.Contains(f.Summary, name) {
				f.Detail = LeftInPath(left)
			}
		}
	}
	if f.Effect == pluginpb.Failure_EFFECT_UNSPECIFIED {
		f.Effect = pluginpb.Failure_EFFECT_UNKNOWN
	}
	if f.Summary == "" {
		f.Summary = fmt.Sprintf("%s failed and did not say how", p.spec.label())
	}
	if w.GetRetryAfter().IsValid() {
		f.RetryAfter = max(0, w.GetRetryAfter().AsDuration())
	}
	if w.GetResetAt().IsValid() {
		f.ResetAt = w.GetResetAt().AsTime()
	}
	f.LimitName, f.UpstreamCode, f.UpstreamRequestID = quoted(w.GetLimitName(), 100), quoted(w.GetUpstreamCode(), 100), quoted(w.GetUpstreamRequestId(), 200)
	f.Usage = w.GetUsage()
	return f
}

// exitWait is how long the end of the process may trail the end of the connection.
const exitWait = time.Second

// broken says what a status other than OK means: our own cancel, the end of the
// process, or a fault of the plugin.
func (p *Plugin) broken(ctx context.Context, rpc string, err error) *Failure {
	code := status.Code(err)
	switch {
	case ctx.Err() != nil:
		return p.cancelled(ctx, rpc)
	case code == codes.Unimplemented:
		return p.spec.failure(Unimplemented, rpc, fmt.Sprintf("%s does not have %s", p.spec.label(), rpc),
			"it says that it is of a kind that must have it", reportIt)
	case code == codes.Internal && unreadable(status.Convert(err).Message()):
		return p.garbled(rpc, status.Convert(err).Message())
	case code == codes.ResourceExhausted:
		return p.breach(rpc, fmt.Sprintf("it sent a message of more than %s", mib(p.spec.Limits.Answer)))
	case code == codes.Unavailable || code == codes.Canceled || code == codes.Internal || code == codes.Unknown:
		select {
		case <-p.client.Gone():
			return p.crashed(rpc)
		case <-ctx.Done():
			return p.cancelled(ctx, rpc)
		case <-time.After(exitWait):
		}
	}
	if code == codes.Unavailable {
		return p.breach(rpc, "it closed the connection and kept running")
	}
	return p.breach(rpc, fmt.Sprintf("it answered with the gRPC status %s: %s", code, p.secrets.String(status.Convert(err).Message())))
}

// unreadable reports whether gRPC itself could not write or read a message: a text that
// is not UTF-8, above all. Its two sides say so in these words.
func unreadable(said string) bool {
	signs := []string{"failed to unmarshal", "failed to marshal", "error while marshaling", "error unmarshalling", "Failed to serialize response"}
	return slices.ContainsFunc(signs, func(sign string) bool { return strings.Contains(said, sign) })
}

// garbled is an answer that can't be read. It says nothing about the call's effect, and is
// treated as what a model answered wrongly.
func (p *Plugin) garbled(rpc, said string) *Failure {
	f := p.spec.failure(Reported, rpc, fmt.Sprintf("the answer of %s can't be read", p.spec.label()), quoted(p.secrets.String(said), saysDetail), reportIt)
	f.Reason, f.Effect = pluginpb.Failure_REASON_BAD_OUTPUT, pluginpb.Failure_EFFECT_UNKNOWN
	f.Sent = &pluginpb.Failure{Reason: f.Reason, Effect: f.Effect, Summary: f.Summary, Detail: f.Detail}
	return f
}

func (p *Plugin) cancelled(ctx context.Context, rpc string) *Failure {
	what := fmt.Sprintf("%s of %s was canceled", rpc, p.spec.label())
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		what = fmt.Sprintf("%s of %s ran out of time", rpc, p.spec.label())
	}
	f := p.spec.failure(Cancelled, rpc, what, "", "`relay show` has what was done so far")
	f.Effect, f.Err = pluginpb.Failure_EFFECT_UNKNOWN, ctx.Err()
	return f
}

// trespassed is the failure of a plugin that was ended since it used what it was not
// granted; nil when it was not.
func (s *Spec) trespassed(rpc string) *Failure {
	if s.Trespass == nil {
		return nil
	}
	t := s.Trespass()
	if t == nil {
		return nil
	}
	f := s.failure(Trespassed, rpc, t.What, t.Why, t.Fix)
	f.Effect, f.Err = pluginpb.Failure_EFFECT_UNKNOWN, t
	return f
}

// crashed tells of a process that is gone.
func (p *Plugin) crashed(rpc string) *Failure {
	if f := p.spec.trespassed(rpc); f != nil {
		return f
	}
	f := p.spec.failure(Crashed, rpc, fmt.Sprintf("%s crashed during %s: %s", p.spec.label(), rpc, p.client.Exit()), "",
		"`relay plugin list` shows where the plugin comes from; report it to its author with the text above")
	f.Effect = pluginpb.Failure_EFFECT_UNKNOWN
	f.Exit, f.Tail = p.client.Exit(), p.client.Tail(2<<10)
	if f.Panic, f.Stack = p.client.Panic(); f.Panic != "" {
		f.Detail = f.Panic
	} else if f.Tail != "" {
		f.Detail = "it wrote: " + f.Tail
	}
	return f
}

// mib writes a size in bytes for people.
func mib(n int) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%d MiB", (n+1<<20-1)>>20)
}
