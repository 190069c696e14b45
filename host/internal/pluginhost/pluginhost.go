package pluginhost

import (
	"context"
	"io"
	"time"

	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/launch"
	"github.com/paxiom/relay/sdk/pluginpb"
)

// Spec says which plugin to open and what to give it. Only Entry is required.
type Spec struct {
	Entry catalog.Entry
	// Config is the plugin's configuration block, JSON; nil means {}. It is checked
	// against the pinned schema before the plugin is started.
	Config []byte
	// StateDir is private to the plugin and kept between runs; "" gives it none.
	// WorkDir is removed by its owner after the run; "" means the plugin's private
	// folder, which goes when the plugin is closed.
	StateDir, WorkDir string
	RunID             string
	HostVersion       string
	// Env is added to the allow-listed and granted environment: NAME=value.
	Env []string
	// Secrets are further values to mask, beyond the granted secret variables and
	// the references (env:NAME, file:PATH) in Config.
	Secrets []string
	// Stderr and StderrPath are where all of standard error goes, normally the
	// history folder; may be nil and "".
	Stderr     io.Writer
	StderrPath string
	// Start and SocketDir put the plugin into a box; see package launch.
	Start     launch.Starter
	SocketDir string
	Dir       string
	Limits    Limits
}

// Limits bound what a plugin may do to its host. Zero fields mean the default.
type Limits struct {
	Start         time.Duration // to the handshake; 10 s
	Info          time.Duration // of GetInfo, and of Configure; 10 s
	Silent        time.Duration // without an event during a call; 30 s
	Linger        time.Duration // from the final event to the end of the stream; 2 s
	Events        int           // events a second, over ten seconds; 5,000
	Bytes         int64         // of all events of one call; 256 MiB
	Message       int           // of one message, either way; sdk.MaxMessage
	Grace         time.Duration // for Drain in Close; 2 s
	StderrMaximum int64         // bytes kept of standard error; 16 MiB
}

// Plugin is an open plugin. It is safe for concurrent use as far as the plugin's
// capability "concurrent" says.
type Plugin struct{}

// Open starts a plugin, compares its GetInfo with the catalog's entry and configures
// it. The error is a *Failure.
func Open(ctx context.Context, spec Spec) (*Plugin, error) { return &Plugin{}, nil }

// Info is what the plugin said about itself.
func (p *Plugin) Info() *pluginpb.GetInfoResponse { return nil }

// Complete asks the model of a provider. on is called for each event, in order, from
// the caller's goroutine; it may be nil.
func (p *Plugin) Complete(ctx context.Context, req *pluginpb.CompleteRequest, on func(*pluginpb.CompleteEvent)) (*pluginpb.CompleteDone, *Failure) {
	return nil, nil
}

// Build lets a builder work. on is called as for Complete.
func (p *Plugin) Build(ctx context.Context, req *pluginpb.BuildRequest, on func(*pluginpb.BuildEvent)) (*pluginpb.BuildDone, *Failure) {
	return nil, nil
}

// Health asks whether the plugin could work now; deep may use the network.
func (p *Plugin) Health(ctx context.Context, deep bool) (*pluginpb.HealthResponse, *Failure) {
	return nil, nil
}

// Alive says whether the process is still there.
func (p *Plugin) Alive() bool { return false }

// Close ends the plugin within bounded time and says how many processes it had left
// behind, which are ended too. It may be called more than once.
func (p *Plugin) Close(ctx context.Context) (left int) { return 0 }

// Lazy opens its plugin when it is first used, and once more when it has crashed.
// Several can be warmed in parallel. The zero Lazy is not usable; see [NewLazy].
type Lazy struct{}

// NewLazy names a plugin that may be needed.
func NewLazy(spec Spec) *Lazy { return &Lazy{} }

// Warm opens the plugin in the background.
func (l *Lazy) Warm(ctx context.Context) {}

// Get gives the open plugin, opening it when that has not happened. The error is a
// *Failure.
func (l *Lazy) Get(ctx context.Context) (*Plugin, error) { return nil, nil }

// Close ends the plugin if it was ever opened.
func (l *Lazy) Close(ctx context.Context) (left int) { return 0 }

// RetryOptions steer Retry.
type RetryOptions struct {
	// Allow is asked before each repetition, normally to reserve its cost; an error
	// ends the loop with the failure at hand. nil allows all.
	Allow func(*Failure, Decision) error
	// Notice is called when a repetition was decided, before the wait; may be nil.
	Notice func(*Failure, Decision, time.Duration)
	// MaxWait is the longest wait before one repetition; 0 means 60 s. A longer
	// retry_after ends the loop.
	MaxWait time.Duration
	// Sleep replaces the wait; for tests.
	Sleep func(context.Context, time.Duration) error
}

// Retry makes a call, and makes it again as often as Decide allows for each reason.
// attempt starts at 0. It gives the last failure, nil for success.
func Retry(ctx context.Context, o RetryOptions, call func(ctx context.Context, attempt int) *Failure) *Failure {
	return call(ctx, 0)
}
