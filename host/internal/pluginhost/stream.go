package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
	"google.golang.org/protobuf/proto"

	"github.com/paxiom/relay/sdk/pluginpb"
)

// event is what both streams have in common.
type event interface {
	proto.Message
	GetSeq() uint64
	GetUsage() *pluginpb.Usage
	GetFailure() *pluginpb.Failure
}

// done is the result of a stream.
type done[T any] interface {
	*T
	GetUsage() *pluginpb.Usage
}

// follow makes one streaming call and gives its result. The plugin is held to the
// protocol event by event; whatever it does, follow ends: at the end of the stream,
// of ctx, or of the plugin's right to be silent.
func follow[E event, T any, D done[T]](ctx context.Context, p *Plugin, rpc string,
	open func(context.Context) (func() (E, error), error), started func(E) bool, completed func(E) D, on func(E),
) (result D, failure *Failure) {
	if f := p.turn(ctx, rpc); f != nil {
		return nil, f
	}
	defer p.release()
	// The plugin learns of the end of ctx by a cancel, never by a deadline of its own:
	// it would report that as a failure upstream.
	call, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	g := newGuard(p.spec.Limits)
	var overdue atomic.Bool
	timer := time.AfterFunc(p.spec.Limits.Silent, func() { overdue.Store(true); cancel() })
	defer timer.Stop()
	defer func() {
		if failure != nil {
			failure.Events = g.events
			if failure.Usage == nil {
				failure.Usage = g.usage
			}
			if failure.Cause == Crashed && g.events == 0 {
				failure.Effect = pluginpb.Failure_EFFECT_NONE
			}
		}
	}()
	recv, err := open(call)
	for err == nil {
		var ev E
		if ev, err = recv(); err != nil {
			break
		}
		timer.Stop()
		end, wire := completed(ev), ev.GetFailure()
		usage := ev.GetUsage()
		if end != nil {
			usage = end.GetUsage()
		}
		final := end != nil || wire != nil
		what := g.admit(ev.GetSeq(), proto.Size(ev), started(ev), final, usage)
		if what == "" {
			what = impossible(wire.GetUsage())
		}
		if what != "" {
			return nil, p.breach(rpc, what)
		}
		if p.secrets.Message(ev) && end != nil {
			p.masked.Store(end, true)
		}
		if on != nil {
			on(ev)
		}
		timer.Reset(p.spec.Limits.Silent)
		if final {
			result, failure = end, nil
			if wire != nil {
				failure = p.reported(rpc, wire)
			}
			timer.Reset(p.spec.Limits.Linger)
		}
	}
	switch {
	case g.final: // however the stream ended after it: all that was to be said was said
		return result, failure
	case errors.Is(err, io.EOF):
		return nil, p.breach(rpc, "it ended the call with neither a result nor a failure")
	case overdue.Load() && ctx.Err() == nil:
		return nil, p.breach(rpc, fmt.Sprintf("it was silent for %s, without a heartbeat; it may be stopped or deadlocked", p.spec.Limits.Silent))
	}
	return nil, p.broken(ctx, rpc, err)
}

// turn waits for the calls before, when the plugin can do only one at a time.
func (p *Plugin) turn(ctx context.Context, rpc string) *Failure {
	if p.slot == nil {
		return nil
	}
	select {
	case p.slot <- struct{}{}:
		return nil
	case <-ctx.Done():
		f := p.cancelled(ctx, rpc)
		f.Effect = pluginpb.Failure_EFFECT_NONE
		return f
	}
}

func (p *Plugin) release() {
	if p.slot != nil {
		<-p.slot
	}
}

// guard holds one stream to the protocol.
type guard struct {
	limits Limits
	rate   *rate.Limiter
	seq    uint64
	bytes  int64
	events int // after started
	final  bool
	usage  *pluginpb.Usage
}

func newGuard(l Limits) *guard {
	return &guard{limits: l, rate: rate.NewLimiter(rate.Limit(l.Events), 10*l.Events)}
}

// admit says what is wrong with the next event; "" when nothing is.
func (g *guard) admit(seq uint64, size int, started, final bool, usage *pluginpb.Usage) string {
	g.bytes += int64(size)
	switch {
	case g.final:
		return "it sent an event after its final one"
	case seq != g.seq+1:
		return fmt.Sprintf("it sent event number %d where %d was due", seq, g.seq+1)
	case started != (seq == 1):
		return "its first event, and no other, must be started"
	case g.bytes > g.limits.Bytes:
		return fmt.Sprintf("it flooded relay: its events have more than %s", mib(int(g.limits.Bytes)))
	case !g.rate.Allow():
		return fmt.Sprintf("it flooded relay: more than %d events a second", g.limits.Events)
	}
	if what := impossible(usage); what != "" {
		return what
	}
	if usage != nil {
		if field := sinks(g.usage, usage); field != "" {
			return fmt.Sprintf("its usage went down: %s", field)
		}
		g.usage = usage
	}
	g.seq = seq
	if !started {
		g.events++
	}
	g.final = final
	return ""
}

// maxCount is more than one call can use, in tokens and in millionths of a dollar.
const maxCount = 1 << 40

// impossible says which total no call can have used; "" for none. Sums of such would wrap, and
// nothing would be over a cap.
func impossible(u *pluginpb.Usage) string {
	for _, f := range totals(u) {
		if f.n != nil && (*f.n < 0 || *f.n > maxCount) {
			return fmt.Sprintf("its usage can't be: %s is %d", f.name, *f.n)
		}
	}
	return ""
}

type total struct {
	name string
	n    *int64
}

func totals(u *pluginpb.Usage) []total {
	if u == nil {
		return nil
	}
	return []total{{"input_tokens", u.InputTokens}, {"output_tokens", u.OutputTokens}, {"cache_read_tokens", u.CacheReadTokens},
		{"cache_write_tokens", u.CacheWriteTokens}, {"reasoning_tokens", u.ReasoningTokens}, {"cost_microusd", u.CostMicrousd}}
}

// sinks names the first total that is smaller than before, or that was known and is
// not any more. Both would make a call look cheaper than it was.
func sinks(before, now *pluginpb.Usage) string {
	after := totals(now)
	for i, was := range totals(before) {
		if was.n == nil {
			continue
		}
		if after[i].n == nil {
			return fmt.Sprintf("%s was %d and is not known any more", was.name, *was.n)
		}
		if *after[i].n < *was.n {
			return fmt.Sprintf("%s was %d and is %d", was.name, *was.n, *after[i].n)
		}
	}
	return ""
}
