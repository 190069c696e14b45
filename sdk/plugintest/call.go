package plugintest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/pluginpb"
)

// call is one call of a plugin and all that came back.
type call struct {
	name   string // the case and what was done to it
	start  time.Time
	end    time.Time
	events []event
	err    error // the status at the end; nil: OK
	cut    bool  // canceled by us
	schema []byte
	p      *instance
}

// event is one event, of either service.
type event struct {
	at      time.Time
	seq     uint64
	kind    string // "started"; empty: none that this protocol knows
	usage   *pluginpb.Usage
	failure *pluginpb.Failure
	msg     proto.Message
}

func (e event) last() bool { return e.kind == "completed" || e.kind == "failure" }

func (c *call) failure() *pluginpb.Failure {
	if n := len(c.events); n > 0 {
		return c.events[n-1].failure
	}
	return nil
}

func (c *call) done() proto.Message {
	if n := len(c.events); n > 0 && c.events[n-1].kind == "completed" {
		return c.events[n-1].msg
	}
	return nil
}

// outcome is how a call ended, in a form that two calls can be compared by.
func (c *call) outcome() string {
	switch {
	case c.err != nil:
		return "status " + c.err.Error()
	case c.failure() != nil:
		return "failure " + c.failure().GetReason().String()
	case c.done() != nil:
		return "completed"
	}
	return "no last event"
}

// maxEvents bounds what is kept of one call.
const maxEvents = 100_000

// record reads a stream to its end.
func record[E proto.Message](c *call, st interface{ Recv() (E, error) }, err error) {
	for err == nil && len(c.events) < maxEvents {
		var msg E
		if msg, err = st.Recv(); err == nil {
			c.events = append(c.events, toEvent(msg))
		}
	}
	if !errors.Is(err, io.EOF) {
		c.err = err
	}
	if err == nil {
		c.err = fmt.Errorf("more than %d events", maxEvents)
	}
}

func toEvent(msg proto.Message) event {
	m := msg.ProtoReflect()
	e := event{at: time.Now(), msg: msg, seq: m.Get(m.Descriptor().Fields().ByName("seq")).Uint()}
	field := m.WhichOneof(m.Descriptor().Oneofs().ByName("event"))
	if field == nil {
		return e
	}
	e.kind = string(field.Name())
	if field.Message() == nil {
		return e
	}
	switch v := m.Get(field).Message().Interface().(type) {
	case *pluginpb.Usage:
		e.usage = v
	case *pluginpb.CompleteDone:
		e.usage, e.msg = v.GetUsage(), v
	case *pluginpb.BuildDone:
		e.usage, e.msg = v.GetUsage(), v
	case *pluginpb.Failure:
		e.failure = v
		e.usage = v.GetUsage()
	}
	return e
}

// how is what is done to a case's call.
type how struct {
	name      string
	env       []string
	grease    bool
	schema    bool          // ask for JSON
	padding   int           // bytes added to the prompt
	cancel    time.Duration // after that long; 0: never
	meanwhile func(*instance)
}

// call makes one call of a case with a fresh plugin.
func (s *Session) call(c Case, h how) (*call, error) {
	p, err := s.configured(c, h)
	if err != nil {
		return nil, err
	}
	out, err := s.callOn(p, c, h)
	if err == nil {
		s.calls = append(s.calls, out)
	}
	return out, err
}

// callOn makes one call of a case with a plugin that is configured.
func (s *Session) callOn(p *instance, c Case, h how) (*call, error) {
	out := &call{name: c.Name, p: p}
	if h.name != "" {
		out.name += ", " + h.name
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.cfg.Timeout)
	defer cancel()
	if h.grease {
		ctx = metadata.AppendToOutgoingContext(ctx, "x-grease", "a header of a newer host")
	}
	if h.cancel > 0 {
		out.cut = true
		defer time.AfterFunc(h.cancel, cancel).Stop()
	}
	if h.meanwhile != nil {
		out.cut = true
		go h.meanwhile(p)
	}
	out.start = time.Now()
	switch {
	case c.Complete != nil:
		r := completeRequest(c.Complete, h)
		out.schema = r.OutputSchemaJson
		st, err := p.provider.Complete(ctx, r)
		record(out, st, err)
	case c.Build != nil:
		r, err := buildRequest(c, p.dirs.workspace, h)
		if err != nil {
			return nil, err
		}
		st, err := p.builder.Build(ctx, r)
		record(out, st, err)
	default:
		return nil, fmt.Errorf("the case %q has neither Complete nor Build", c.Name)
	}
	out.end = time.Now()
	return out, nil
}

// configured starts a plugin and configures it for a case.
func (s *Session) configured(c Case, h how) (*instance, error) {
	stub, err := s.standIn()
	if err != nil {
		return nil, err
	}
	p, err := s.start(slices.Concat(stub, s.cfg.Env, c.Env, h.env), false)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.cfg.Timeout)
	defer cancel()
	info := &pluginpb.GetInfoRequest{HostVersion: "conformance", Host: &pluginpb.HostCapabilities{TextDelta: true}}
	conf := &pluginpb.ConfigureRequest{ConfigJson: s.cfg.PluginConfig, StateDir: p.dirs.state, WorkDir: p.dirs.work, RunId: "conformance"}
	if c.PluginConfig != nil {
		conf.ConfigJson = c.PluginConfig
	}
	if h.grease {
		grease(info.ProtoReflect())
		grease(conf.ProtoReflect())
	}
	if _, err := p.base.GetInfo(ctx, info); err != nil {
		return nil, fmt.Errorf("GetInfo: %w", err)
	}
	r, err := p.base.Configure(ctx, conf)
	if err != nil {
		return nil, fmt.Errorf("Configure: %w", err)
	}
	if h.grease {
		s.unknown = p.conn.Invoke(ctx, "/relay.plugin.v1.Base/Grease", &emptypb.Empty{}, &emptypb.Empty{})
	}
	if f := r.GetFailure(); f != nil {
		s.failures = append(s.failures, namedFailure{"Configure", f, time.Now()})
		return nil, fmt.Errorf("the plugin refused the configuration of the case %q: %s: %s", c.Name, f.GetReason(), f.GetSummary())
	}
	return p, nil
}

// answerSchema is what rule S6 asks for when the case asks for nothing.
const answerSchema = `{"type":"object","properties":{"answer":{"type":"string"}},"required":["answer"],"additionalProperties":false}`

func completeRequest(c *sdk.CompleteRequest, h how) *pluginpb.CompleteRequest {
	r := &pluginpb.CompleteRequest{
		CallId: orDefault(c.CallID, "call-1"), Model: c.Model, FallbackModel: c.FallbackModel, System: c.System,
		OutputSchemaJson: c.OutputSchema, MaxOutputTokens: c.MaxOutputTokens, Temperature: c.Temperature, Effort: c.Effort,
		MaxCostMicrousd: c.MaxCostMicroUSD, IdleTimeout: durationpb.New(c.IdleTimeout), MaxTurns: int32(c.MaxTurns), Role: c.Role,
	}
	for _, x := range c.Contents {
		part := &pluginpb.Part{Cacheable: x.Cacheable, Part: &pluginpb.Part_Text{Text: x.Text}}
		if x.MediaType != "" {
			part.Part = &pluginpb.Part_Blob{Blob: &pluginpb.Blob{MediaType: x.MediaType, Data: x.Data}}
		}
		r.Parts = append(r.Parts, part)
	}
	if h.schema && len(r.OutputSchemaJson) == 0 {
		r.OutputSchemaJson = []byte(answerSchema)
	}
	if h.grease {
		r.Parts = append(r.Parts, &pluginpb.Part{}) // to be a kind of part that nobody knows
		grease(r.ProtoReflect())
	}
	if h.padding > 0 {
		r.Parts = append(r.Parts, &pluginpb.Part{Part: &pluginpb.Part_Text{Text: pad(h.padding)}})
		r.Parts[len(r.Parts)-1].Part = &pluginpb.Part_Text{Text: pad(h.padding - max(0, proto.Size(r)-h.padding))}
	}
	return r
}

func buildRequest(c Case, workspace string, h how) (*pluginpb.BuildRequest, error) {
	if c.Workspace != nil {
		if err := c.Workspace(workspace); err != nil {
			return nil, fmt.Errorf("the workspace of the case %q: %w", c.Name, err)
		}
	}
	b := c.Build
	r := &pluginpb.BuildRequest{
		CallId: orDefault(b.CallID, "call-1"), Workspace: workspace, TaskJson: b.Task, System: b.System, Prompt: b.Prompt, Patch: b.Patch,
		Model: b.Model, FallbackModel: b.FallbackModel, MaxTurns: int32(b.MaxTurns), ResumeSession: b.ResumeSession,
		MaxCostMicrousd: b.MaxCostMicroUSD, IdleTimeout: durationpb.New(b.IdleTimeout), Timeout: durationpb.New(b.Timeout),
		ResultSchemaJson: b.ResultSchema,
	}
	if h.grease {
		grease(r.ProtoReflect())
	}
	if h.padding > 0 {
		r.System = pad(h.padding)
		r.System = pad(h.padding - max(0, proto.Size(r)-h.padding))
	}
	return r, nil
}

// pad is a text of n bytes.
func pad(n int) string { return strings.Repeat("x", max(0, n)) }

func orDefault(s, def string) string {
	if s == "" {
		return def
	}
	return s
}

// greaseEnv is what a newer host adds to a plugin's environment.
func greaseEnv() []string {
	return []string{fmt.Sprintf("PLUGIN_PROTOCOL_VERSIONS=%d,15000", sdk.ProtocolVersion), "RELAY_GREASE=a variable of a newer host"}
}

// grease adds fields that no version of the protocol has, to a message and to those in
// it: a number, and bytes of random length. Enums get a value that none has.
func grease(m protoreflect.Message) {
	raw := append(protoreflect.RawFields{}, m.GetUnknown()...)
	raw = protowire.AppendTag(raw, protowire.Number(15000+rand.IntN(1000)), protowire.VarintType)
	raw = protowire.AppendVarint(raw, rand.Uint64())
	raw = protowire.AppendTag(raw, protowire.Number(16000+rand.IntN(1000)), protowire.BytesType)
	raw = protowire.AppendBytes(raw, make([]byte, rand.IntN(64)))
	m.SetUnknown(raw)
	for i := range m.Descriptor().Fields().Len() {
		if f := m.Descriptor().Fields().Get(i); f.Enum() != nil && !f.IsList() {
			m.Set(f, protoreflect.ValueOfEnum(15000))
		}
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Message() == nil || f.IsMap():
		case f.IsList():
			for i := range v.List().Len() {
				grease(v.List().Get(i).Message())
			}
		default:
			grease(v.Message())
		}
		return true
	})
}
