package pluginhost

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/broker"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/keys"
	"github.com/paxiom/relay/host/internal/launch"
	"github.com/paxiom/relay/host/internal/redact"
	"github.com/paxiom/relay/judge/program"
	"github.com/paxiom/relay/schemas"
	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/pluginpb"
)

// Spec says which plugin to open and what to give it. Only Entry is required.
type Spec struct {
	Entry catalog.Entry
	// Config is the plugin's configuration block, JSON; nil means {}. Its "keys" say
	// where the plugin's keys are and stay here; the rest is checked against the
	// plugin's schema before the plugin is started, or before Configure when the pin
	// holds only the schema's hash.
	Config []byte
	// StateDir is private to the plugin and kept between runs; "" gives it none.
	StateDir    string
	RunID       string
	HostVersion string
	// EnvFile may have the keys that the plugin asks for, when neither Config nor the
	// environment has them.
	EnvFile keys.EnvFile
	// Broker, which may be nil, has the keys in the plugin's place: the plugin gets some
	// that are worth nothing.
	Broker *broker.Broker
	// Env is added to the allow-listed and granted environment: NAME=value.
	Env []string
	// Secrets, which may be nil, are further values to mask, beyond the plugin's keys. They
	// are asked for when it first says something. Known says which may be told.
	Secrets func() []string
	Known   func(form string) bool
	// Stderr and StderrPath are where all of standard error goes, normally the
	// history folder; may be nil and "".
	Stderr     io.Writer
	StderrPath string
	// Trespass, which may be nil, says what the plugin was ended for when it had used
	// what it was not granted; nil for any other end.
	Trespass func() *diag.Error
	// OutputLimit is how much the plugin may write in all, in bytes; 0 is any amount.
	OutputLimit int64
	// Start and SocketDir put the plugin into a box; see package launch.
	Start     launch.Starter
	SocketDir string
	// Dir is the plugin's working folder; "" is an empty private one.
	Dir    string
	Limits Limits
}

// Limits bound what a plugin may do to its host. Zero fields mean the default.
type Limits struct {
	Start   time.Duration // to the handshake; 10 s
	Info    time.Duration // of GetInfo and of Configure; 10 s
	Silent  time.Duration // without an event during a call, and of Health without deep; 30 s
	Linger  time.Duration // from the final event to the end of the stream; 2 s
	Events  int           // events a second, over ten seconds; 5,000
	Bytes   int64         // of all events of one call; 64 MiB
	Message int           // of one message to the plugin; sdk.MaxMessage
	Answer  int           // of one message from it; sdk.MaxAnswer
	Grace   time.Duration // for Drain in Close; 2 s
	Stderr  int64         // bytes kept of standard error; 16 MiB
}

func (l Limits) withDefaults() Limits {
	return Limits{
		Start: cmp.Or(l.Start, 10*time.Second), Info: cmp.Or(l.Info, 10*time.Second), Silent: cmp.Or(l.Silent, 30*time.Second),
		Linger: cmp.Or(l.Linger, 2*time.Second), Events: cmp.Or(l.Events, 5000), Bytes: cmp.Or(l.Bytes, 64<<20),
		Message: cmp.Or(l.Message, sdk.MaxMessage), Answer: cmp.Or(l.Answer, sdk.MaxAnswer), Grace: cmp.Or(l.Grace, 2*time.Second), Stderr: l.Stderr,
	}
}

// Plugin is an open plugin. It is safe for concurrent use; calls to a plugin without
// the capability "concurrent" wait for each other.
type Plugin struct {
	spec     Spec
	secrets  *redact.Set
	masked   sync.Map // results in which something was masked
	back     func()   // ends what was lent to it; nil when nothing was
	client   *launch.Client
	info     *pluginpb.GetInfoResponse
	base     pluginpb.BaseClient
	provider pluginpb.ProviderClient
	builder  pluginpb.BuilderClient
	slot     chan struct{} // nil: calls may run at the same time
}

// open starts a plugin, compares its GetInfo with the catalog's entry and configures
// it. Nothing is left of the plugin where that fails. The end of ctx cancels open;
// afterwards it has no meaning for the plugin.
func open(ctx context.Context, spec Spec) (*Plugin, *Failure) {
	spec.Limits = spec.Limits.withDefaults()
	if len(bytes.TrimSpace(spec.Config)) == 0 {
		spec.Config = []byte("{}")
	}
	ring, f := spec.takeKeys(ctx)
	if f != nil {
		return nil, f
	}
	opened := false
	defer func() {
		if ring.back != nil && !opened {
			ring.back()
		}
	}()
	if f := spec.checkConfig(spec.Entry.ConfigSchema); f != nil {
		return nil, f
	}
	p, f := start(ctx, spec, ring)
	if f != nil {
		return nil, f
	}
	p.back = ring.back
	if f = p.introduce(ctx); f == nil {
		f = p.configure(ctx)
	}
	if f != nil {
		p.client.Stop(0, nil)
		return nil, f
	}
	if !p.info.GetCapabilities().GetConcurrent() {
		p.slot = make(chan struct{}, 1)
	}
	opened = true
	return p, nil
}

// start starts the process and connects.
func start(ctx context.Context, spec Spec, ring *ring) (*Plugin, *Failure) {
	// An agent's program is given the key: it is not taken from what a change can write.
	env := program.Boxed(launch.Env(ring.grants, slices.Concat([]string{"RELAY_RUN_ID=" + spec.RunID}, ring.env, spec.Env)), spec.EnvFile.Root)
	p := &Plugin{spec: spec, secrets: redact.New(slices.Concat(ring.secrets, passwords(env))...)}
	if spec.Secrets != nil {
		p.secrets = p.secrets.With(spec.Secrets, spec.Known)
	}
	client, err := launch.Start(ctx, launch.Config{
		Name: strings.TrimSpace(spec.Entry.Name + " " + spec.Entry.Version), Path: spec.Entry.Path, Base: spec.Entry.Base, SHA256: spec.Entry.SHA256, Reinstall: spec.Entry.Reinstall(), Attach: spec.Entry.Attach,
		Env: env,
		Dir: spec.Dir, SocketDir: spec.SocketDir, Stderr: spec.Stderr, StderrLimit: spec.Limits.Stderr, OutputLimit: spec.OutputLimit, Secrets: p.secrets,
		Start: spec.Start, Handshake: sdk.Handshake, Versions: sdk.PluginMap(), StartTimeout: spec.Limits.Start, MaxMessage: spec.Limits.Answer,
	})
	if err != nil {
		return nil, spec.startFailure(err)
	}
	p.client = client
	p.base, p.provider, p.builder = pluginpb.NewBaseClient(client.Conn()), pluginpb.NewProviderClient(client.Conn()), pluginpb.NewBuilderClient(client.Conn())
	return p, nil
}

// Ask starts a plugin of which only the file and its hash are known, asks what it is,
// and ends it. It is not configured and gets no key. The error is a *Failure.
func Ask(ctx context.Context, spec Spec) (info *pluginpb.GetInfoResponse, protocol int, err error) {
	spec.Limits = spec.Limits.withDefaults()
	p, f := start(ctx, spec, &ring{})
	if f != nil {
		return nil, 0, f
	}
	defer p.client.Stop(0, nil)
	if info, f = p.getInfo(ctx, p.spec.Limits.Info); f != nil {
		return nil, 0, f
	}
	return info, p.client.Protocol(), nil
}

func (p *Plugin) getInfo(ctx context.Context, limit time.Duration) (*pluginpb.GetInfoResponse, *Failure) {
	return unary(ctx, p, "GetInfo", limit, func(ctx context.Context) (*pluginpb.GetInfoResponse, error) {
		return p.base.GetInfo(ctx, &pluginpb.GetInfoRequest{HostVersion: p.spec.HostVersion, Host: &pluginpb.HostCapabilities{TextDelta: true}})
	})
}

// introduce asks who the plugin is and holds it to what is pinned.
func (p *Plugin) introduce(ctx context.Context) *Failure {
	info, f := p.getInfo(ctx, p.spec.Limits.Info)
	if f != nil {
		return f
	}
	p.info = info
	what := differs(p.spec.Entry, catalog.FromResponse(info))
	if pinned, speaks := p.spec.Entry.Protocol, p.client.Protocol(); pinned > speaks {
		what = fmt.Sprintf("it speaks protocol %d; pinned is %d, and going back is how old faults are brought back", speaks, pinned)
	}
	if what != "" {
		return p.spec.failure(NotStarted, "GetInfo", fmt.Sprintf("plugin %s is not what is pinned", p.spec.Entry.Name), what, p.spec.Entry.Reinstall())
	}
	if p.spec.Entry.ConfigSchema == nil {
		return p.spec.checkConfig(info.GetConfigSchemaJson())
	}
	return nil
}

func (p *Plugin) configure(ctx context.Context) *Failure {
	work := p.client.Private() + "/tmp" // it goes when the plugin is closed
	r, f := unary(ctx, p, "Configure", p.spec.Limits.Info, func(ctx context.Context) (*pluginpb.ConfigureResponse, error) {
		return p.base.Configure(ctx, &pluginpb.ConfigureRequest{ConfigJson: p.spec.Config, StateDir: p.spec.StateDir, WorkDir: work, RunId: p.spec.RunID})
	})
	if f == nil && r.GetFailure() != nil {
		f = p.reported("Configure", r.GetFailure())
	}
	return f
}

// differs says in what a plugin is not the pinned one; "" when it is. What it wants
// may be less than what is pinned, never more.
func differs(pinned, says catalog.Entry) string {
	called := pinned.Name
	if pinned.Pin != nil {
		called = pinned.Pin.Called(called)
	}
	switch {
	case called != says.Name:
		return fmt.Sprintf("it calls itself %q", says.Name)
	case pinned.Version != says.Version:
		return fmt.Sprintf("it says that it is version %q; pinned is %q", says.Version, pinned.Version)
	case !sameSet(pinned.Kinds, says.Kinds):
		return fmt.Sprintf("it says that it is %v; pinned is %v", says.Kinds, pinned.Kinds)
	case pinned.ConfigSchema != nil && !bytes.Equal(pinned.ConfigSchema, says.ConfigSchema):
		return "the schema of its configuration is another"
	case pinned.Pin != nil && !says.Asks().Beyond(pinned.Pin.Declared).Empty():
		return "it asks for more than is pinned: " + strings.Join(says.Asks().Beyond(pinned.Pin.Declared).Words(), ", ")
	case pinned.SchemaSHA256 != "" && pinned.SchemaSHA256 != catalog.SchemaHash(says.ConfigSchema):
		return "the schema of its configuration is another"
	}
	return ""
}

func sameSet[T cmp.Ordered](a, b []T) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// badConfig is a configuration with which the plugin can't be started.
func (s *Spec) badConfig(why string) *Failure {
	return s.failure(NotStarted, "Configure", fmt.Sprintf("the configuration of plugin %s does not fit", s.Entry.Name), why,
		fmt.Sprintf("`relay config show plugins` shows it; correct plugins.%s", s.Entry.Name))
}

// checkConfig holds the configuration to the plugin's schema, when there is one.
func (s *Spec) checkConfig(schema []byte) *Failure {
	var doc any
	dec := json.NewDecoder(bytes.NewReader(s.Config))
	dec.UseNumber()
	if err := dec.Decode(&doc); err != nil {
		return s.badConfig(err.Error())
	}
	if _, object := doc.(map[string]any); !object {
		return s.badConfig("it must be an object")
	}
	if len(schema) == 0 {
		return nil
	}
	if len(schema) > sdk.MaxConfigSchema {
		return s.failure(NotStarted, "GetInfo", fmt.Sprintf("the configuration schema of plugin %s is too large", s.Entry.Name),
			fmt.Sprintf("it has %d bytes; the limit is %d", len(schema), sdk.MaxConfigSchema), reportIt)
	}
	compiled, err := schemas.Compile(schema)
	if err != nil {
		return s.failure(NotStarted, "GetInfo", fmt.Sprintf("the configuration schema of plugin %s is not valid", s.Entry.Name), err.Error(), reportIt)
	}
	if err := compiled.Validate(doc); err != nil {
		return s.badConfig(schemas.Explain(err).Error())
	}
	return nil
}

// Info is what the plugin said about itself; it is the caller's to read only.
func (p *Plugin) Info() *pluginpb.GetInfoResponse { return p.info }

// Pid is the plugin's process id.
func (p *Plugin) Pid() int { return p.client.Pid() }

// Alive reports whether the process is still there.
func (p *Plugin) Alive() bool {
	select {
	case <-p.client.Gone():
		return false
	default:
		return true
	}
}

// hurry is what Drain gets when the caller's context is over.
const hurry = 300 * time.Millisecond

// Close ends the plugin within bounded time, a second or so beyond its grace, and
// says how many processes it had left behind, which are ended too. It may be called
// more than once.
func (p *Plugin) Close(ctx context.Context) (left int) {
	grace := p.spec.Limits.Grace
	if d, ok := ctx.Deadline(); ok {
		grace = max(hurry, min(grace, time.Until(d)))
	}
	if ctx.Err() != nil {
		grace = hurry
	}
	if p.back != nil {
		defer p.back()
	}
	return p.client.Stop(grace, func(ctx context.Context) error {
		_, err := p.base.Drain(ctx, &pluginpb.DrainRequest{Grace: durationpb.New(grace - grace/10)})
		return err
	})
}
