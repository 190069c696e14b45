package pluginhost

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/paxiom/relay/sdk/pluginpb"
)

// Complete asks the model of a provider. on is called for each event, in order, from
// the caller's goroutine; it may be nil. Exactly one of the results is not nil.
func (p *Plugin) Complete(ctx context.Context, req *pluginpb.CompleteRequest, on func(*pluginpb.CompleteEvent)) (*pluginpb.CompleteDone, *Failure) {
	if f := p.fits("Complete", "the prompt", req); f != nil {
		return nil, f
	}
	open := func(ctx context.Context) (func() (*pluginpb.CompleteEvent, error), error) {
		st, err := p.provider.Complete(ctx, req)
		if err != nil {
			return nil, err
		}
		return st.Recv, nil
	}
	started := func(ev *pluginpb.CompleteEvent) bool { return ev.GetStarted() != nil }
	return follow(ctx, p, "Complete", open, started, (*pluginpb.CompleteEvent).GetCompleted, on)
}

// Masked reports, once, whether something in an answer was masked: then it is not what the
// model wrote.
func (p *Plugin) Masked(done *pluginpb.CompleteDone) bool {
	_, masked := p.masked.LoadAndDelete(done)
	return masked
}

// Build lets a builder work. on is called as for Complete.
func (p *Plugin) Build(ctx context.Context, req *pluginpb.BuildRequest, on func(*pluginpb.BuildEvent)) (*pluginpb.BuildDone, *Failure) {
	if f := p.fits("Build", "the task with its prompts", req); f != nil {
		return nil, f
	}
	open := func(ctx context.Context) (func() (*pluginpb.BuildEvent, error), error) {
		st, err := p.builder.Build(ctx, req)
		if err != nil {
			return nil, err
		}
		return st.Recv, nil
	}
	started := func(ev *pluginpb.BuildEvent) bool { return ev.GetStarted() != nil }
	return follow(ctx, p, "Build", open, started, (*pluginpb.BuildEvent).GetCompleted, on)
}

// Health asks whether the plugin could work now; deep may use the network and take
// as long as ctx lets it. A plugin that is not healthy answers with a failure. It may ask the
// vendor's program, which takes seconds to start on a busy machine, so it has as long as a
// call may be silent.
func (p *Plugin) Health(ctx context.Context, deep bool) (*pluginpb.HealthResponse, *Failure) {
	limit := p.spec.Limits.Silent
	if deep {
		limit = 0
	}
	r, f := unary(ctx, p, "Health", limit, func(ctx context.Context) (*pluginpb.HealthResponse, error) {
		return p.base.Health(ctx, &pluginpb.HealthRequest{Deep: deep})
	})
	if f == nil && r.GetFailure() != nil {
		f = p.reported("Health", r.GetFailure())
	}
	return r, f
}

// fits refuses a message that is too large before it is sent.
func (p *Plugin) fits(rpc, what string, m proto.Message) *Failure {
	size := proto.Size(m)
	if size <= p.spec.Limits.Message {
		return nil
	}
	f := p.spec.failure(OurLimit, rpc, fmt.Sprintf("%s is %s; the limit is %s", what, mib(size), mib(p.spec.Limits.Message)),
		"a message to a plugin can't be larger; nothing was sent", "`relay show` has the prompt; leave out large files and reports")
	f.Reason = pluginpb.Failure_REASON_TOO_LARGE
	return f
}

// unary makes a call with one answer within limit; 0 is no limit but ctx.
func unary[M proto.Message](ctx context.Context, p *Plugin, rpc string, limit time.Duration, call func(context.Context) (M, error)) (M, *Failure) {
	bounded := ctx
	if limit > 0 {
		var cancel context.CancelFunc
		bounded, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	r, err := call(bounded)
	if err == nil {
		p.secrets.Message(r)
		return r, nil
	}
	if bounded.Err() != nil && ctx.Err() == nil {
		f := p.breach(rpc, fmt.Sprintf("it did not answer within %s; it may be stopped or deadlocked", limit))
		f.Effect = pluginpb.Failure_EFFECT_NONE
		return r, f
	}
	f := p.broken(ctx, rpc, err)
	f.Effect = pluginpb.Failure_EFFECT_NONE
	return r, f
}
