package modelcall

import (
	"context"
	"errors"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/pluginhost"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/sdk/pluginpb"
)

// Work is what a builder is asked to do. Its box is the caller's.
type Work struct {
	ID      string // as of a Question
	Role    string
	Request *pluginpb.BuildRequest
	MaxUSD  float64
	Limit   time.Duration // wall clock
	// Began is called before each request that is sent, Finished when the builder has
	// ended well: what it made has to be whole and on disk when that returns, for then its
	// result is kept like an answer, as [Answers.Read] finds it. Either may be nil.
	Began    func()
	Finished func() error
}

// buildGrace is how much longer than its own limit the host waits for a builder.
const buildGrace = 2 * time.Second

var errBuildTime = errors.New("the builder's time limit")

// Build has an open builder work: within its time, a short limit that was met before
// anything was done is waited for and asked again. late says that its time was over and
// that it was ended; ctx itself had time left.
func (d *Caller) Build(ctx context.Context, p *pluginenv.Plugin, c pluginenv.Choice, w Work) (done *pluginpb.BuildDone, f *pluginhost.Failure, late bool, err error) {
	a, err := d.openWork(w)
	if err != nil {
		return nil, nil, false, err
	}
	end := time.Now().Add(w.Limit)
	d.Show(progress.Event{Kind: progress.Limit, Plugin: p.Entry.Name, Text: "builder", Until: end})
	own, cancel := context.WithTimeoutCause(ctx, w.Limit+buildGrace, errBuildTime)
	defer cancel()
	timer := time.AfterFunc(w.Limit, cancel) // the plugin had its chance to end by itself
	defer timer.Stop()
	f = pluginhost.Retry(own, d.patience(c, false), func(ctx context.Context, _ int) (f *pluginhost.Failure) {
		w.Request.Timeout = durationpb.New(time.Until(end))
		done, f, err = d.build(ctx, p, c, w, a)
		if err != nil {
			return nil
		}
		return f
	})
	over := !timer.Stop()
	err = firstError(err, d.failed(ctx, a, f, err))
	return done, f, f != nil && over && own.Err() != nil && ctx.Err() == nil, err
}

// openWork is open for a builder. What it had finished lies in its box, which is the
// caller's: when that asks for more, the box is gone.
func (d *Caller) openWork(w Work) (*Answer, error) {
	a, err := d.open(Question{ID: w.ID, Role: w.Role, System: w.Request.System, User: w.Request.Prompt})
	if err == nil && a.Answered {
		d.Note("what the builder had finished for " + w.ID + " is gone; it builds again, and may be charged twice")
		a.Answered, a.Text, a.Line, a.Usage = false, "", nil, nil
	}
	return a, err
}

// build makes one request to a builder.
func (d *Caller) build(ctx context.Context, p *pluginenv.Plugin, c pluginenv.Choice, w Work, a *Answer) (done *pluginpb.BuildDone, f *pluginhost.Failure, err error) {
	open, err := p.Lazy.Get(ctx)
	if err != nil {
		return nil, nil, NotOpened(p, err)
	}
	began := d.now()
	one := call{question: w.ID, role: w.Role, model: w.Request.Model, maxUSD: w.MaxUSD, rpc: "Build", free: p.Entry.Name == "patch", next: d.nextOf(a, c),
		send: func(id string) (outcome, *pluginhost.Failure) {
			w.Request.CallId = id
			if w.Began != nil {
				w.Began()
			}
			done, f = open.Build(ctx, w.Request, func(e *pluginpb.BuildEvent) { d.onBuild(p, id, e) })
			journal.Reached(d.Workflow + ".built")
			return done, f
		},
		keep: func(h Hold, u ledger.Usage) error {
			if w.Finished != nil {
				if err := w.Finished(); err != nil {
					return err
				}
			}
			a.Answered, a.Text = true, string(done.GetResultJson())
			return d.keep(a, c, h, u, began)
		}}
	f, err = d.pay(ctx, p, one)
	return done, f, err
}

// onBuild shows what the builder is doing.
func (d *Caller) onBuild(p *pluginenv.Plugin, call string, e *pluginpb.BuildEvent) {
	text := ""
	switch ev := e.Event.(type) {
	case *pluginpb.BuildEvent_Progress:
		text = strings.TrimSpace(ev.Progress.GetPhase() + " " + ev.Progress.GetText())
	case *pluginpb.BuildEvent_Command:
		text = "runs " + strings.Join(ev.Command.GetArgv(), " ")
	case *pluginpb.BuildEvent_File:
		text = "edits " + ev.File.GetPath()
	case *pluginpb.BuildEvent_Notice:
		text = ev.Notice.GetText()
	case *pluginpb.BuildEvent_Usage:
		d.using(p, call, ev.Usage)
	}
	if text != "" {
		d.Show(progress.Event{Kind: progress.Plugin, Plugin: p.Entry.Name, Text: text})
	}
}
