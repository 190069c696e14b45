package sdk

import (
	"encoding/json"
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/paxiom/relay/sdk/pluginpb"
)

// checkJSON holds an answer to what was asked: JSON exactly when a schema was given.
func checkJSON(c *Completion, wanted bool) error {
	switch {
	case wanted && !json.Valid(c.JSON):
		return Fail(BadOutput, "the model's answer is not the JSON that was asked for", EffectCharged, Spent(c.Usage))
	case !wanted:
		c.JSON = nil
	}
	return nil
}

// maxResult is the largest BuildResult.JSON, in bytes. It is far above what the host
// reads; without it a model that talks too much would look like a broken plugin.
const maxResult = 4 << 20

// checkResult refuses a result that would not fit into a message.
func checkResult(b *BuildResult) error {
	if n := len(b.JSON); n > maxResult {
		return Fail(BadOutput, fmt.Sprintf("the builder's result has %d bytes; the limit is %d", n, maxResult), EffectChanged, Spent(b.Usage))
	}
	return nil
}

func (c *Completion) done(sent Usage) any {
	return &pluginpb.CompleteDone{
		Text: valid(c.Text), OutputJson: c.JSON, StopReason: valid(c.StopReason), Model: valid(c.Model),
		Usage: sent.max(c.Usage).proto(),
	}
}

func (b *BuildResult) done(sent Usage) any {
	return &pluginpb.BuildDone{
		ResultJson: b.JSON, Session: valid(b.Session), StopReason: valid(b.StopReason), Model: valid(b.Model),
		Usage: sent.max(b.Usage).proto(),
	}
}

// completeEvent is a payload as an event of Provider.Complete; nil when it has none.
func completeEvent(seq uint64, payload any, deltas bool) proto.Message {
	ev := &pluginpb.CompleteEvent{Seq: seq}
	switch p := payload.(type) {
	case delta:
		if !deltas {
			return nil
		}
		ev.Event = &pluginpb.CompleteEvent_TextDelta{TextDelta: string(p)}
		return ev
	case Started:
		payload = &pluginpb.CompleteStarted{Model: valid(p.Model), UpstreamRequestId: valid(p.UpstreamRequestID), ToolVersion: valid(p.ToolVersion)}
	case Progress:
		payload = &pluginpb.Notice{Text: valid(strings.TrimSpace(p.Phase + " " + p.Text))}
	case Command:
		payload = &pluginpb.Notice{Text: valid(strings.Join(p.Argv, " "))}
	case file:
		payload = &pluginpb.Notice{Text: string(p)}
	}
	return with(ev, payload)
}

// buildEvent is a payload as an event of Builder.Build.
func buildEvent(seq uint64, payload any) proto.Message {
	switch p := payload.(type) {
	case Started:
		payload = &pluginpb.BuildStarted{Session: valid(p.Session), ToolVersion: valid(p.ToolVersion), Model: valid(p.Model)}
	case delta:
		payload = &pluginpb.Progress{Phase: "text", Text: valid(string(p))}
	case Progress:
		payload = &pluginpb.Progress{Phase: valid(p.Phase), Text: valid(p.Text), Fraction: p.Fraction}
	case Command:
		c := &pluginpb.CommandRun{}
		for _, a := range p.Argv {
			c.Argv = append(c.Argv, valid(a))
		}
		if p.ExitCode != nil {
			c.ExitCode = proto.Int32(int32(*p.ExitCode))
		}
		payload = c
	case file:
		payload = &pluginpb.FileTouched{Path: string(p)}
	}
	return with(&pluginpb.BuildEvent{Seq: seq}, payload)
}

// with puts a message into the one field of an event that is of its type.
func with(ev proto.Message, payload any) proto.Message {
	m, ok := payload.(proto.Message)
	if !ok {
		return ev
	}
	to, from := ev.ProtoReflect(), m.ProtoReflect()
	fields := to.Descriptor().Fields()
	for i := range fields.Len() {
		if f := fields.Get(i); f.Message() != nil && f.Message().FullName() == from.Descriptor().FullName() {
			to.Set(f, protoreflect.ValueOfMessage(from))
		}
	}
	return ev
}

// String is the text of a started that came too late to be the started event.
func (s Started) String() string {
	var parts []string
	for _, v := range []string{s.Model, s.ToolVersion, s.Session, s.UpstreamRequestID} {
		if v != "" {
			parts = append(parts, valid(v))
		}
	}
	return strings.Join(parts, ", ")
}
