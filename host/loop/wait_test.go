package loop

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/paxiom/relay/host/durable"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/queue"
	"github.com/paxiom/relay/host/internal/quota"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/tick"
)

// cutOff leaves a loop behind that was cut off in a wait.
func cutOff(t *testing.T, ws *workspace.Workspace, id string, w *quota.Wait) {
	t.Helper()
	store, err := durable.NewFiles(Dir(ws), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	_, err = store.Run(ctx, id, Kind, Version, func(f durable.Flow) error {
		l := &Loop{o: Options{Mode: Task}, begun: time.Now()}
		p := l.progress(1)
		p.Wait = w
		if err := l.show(f, p); err != nil {
			return err
		}
		cancel()
		return f.SleepUntil("wait-1", w.Until)
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if err := queue.Put(ws, queue.Entry{ID: id, Kind: "loop", Since: w.Since, Until: w.Until, What: "x", Next: "y"}); err != nil {
		t.Fatal(err)
	}
}

// later is the machine's clock put forward.
type later time.Duration

func (l later) Now() time.Time                         { return time.Now().Add(time.Duration(l)) }
func (l later) After(d time.Duration) <-chan time.Time { return time.After(d) }

const oldLoop = "20261121-010000-aaaaaaaa"

func limitOf(role, provider, model string) report.Limit {
	return report.Limit{Role: role, Provider: provider, Model: model, Reason: "QUOTA_EXHAUSTED", Until: time.Now().Add(time.Hour)}
}

// A new loop makes the wait of one that nobody resumed its own, with the time that it has
// lasted and the time at which it is given up, unless somebody else can be asked by now.
func TestWaitIsTakenOver(t *testing.T) {
	opus, sonnet, codex := limitOf("orchestrator", "claude", "opus"), limitOf("orchestrator", "claude", "sonnet"), limitOf("orchestrator", "codex", "")
	hands := limitOf("builder", "claude-code", "opus")
	for name, tc := range map[string]struct {
		limits   []report.Limit
		fallback []string
		later    time.Duration // when the new loop begins
		wake     bool
		taken    bool
	}{
		"nobody else can be asked":         {limits: []report.Limit{opus}, taken: true},
		"all have met a limit":             {limits: []report.Limit{opus, codex}, fallback: []string{"codex"}, taken: true},
		"another model was configured":     {limits: []report.Limit{sonnet}},
		"a fallback was configured":        {limits: []report.Limit{opus}, fallback: []string{"codex"}},
		"the builder's":                    {limits: []report.Limit{hands}, taken: true},
		"the builder's, and its fallback":  {limits: []report.Limit{hands}, fallback: []string{"codex-exec"}},
		"it is over":                       {limits: []report.Limit{opus}, later: 2 * time.Hour},
		"the operator has ended it before": {limits: []report.Limit{opus}, wake: true},
	} {
		t.Run(name, func(t *testing.T) {
			ws := newWorkspace(t)
			was := &quota.Wait{Since: time.Now().Add(-2 * time.Hour).UTC(), Try: 3, Until: time.Now().Add(time.Hour).UTC(), Cap: time.Now().Add(14 * time.Hour).UTC(), Limits: tc.limits}
			cutOff(t, ws, oldLoop, was)
			if tc.wake {
				if s, err := Wake(ws); s == nil || err != nil {
					t.Fatal(s, err)
				}
			}
			cfg := &config.Config{Orchestrator: config.Orchestrator{Provider: "anthropic"}, Builder: config.Builder{DefaultMode: "claude_code"},
				Models: config.Models{OrchestratorModel: "opus", BuilderModel: "opus"}, Fallback: config.Fallback{Orchestrator: tc.fallback, Builder: tc.fallback}}
			l := Begin(&tick.Env{Loaded: &config.Loaded{Config: cfg}}, ws, Options{Mode: Milestone}, Hooks{Clock: later(tc.later)})
			if err := l.takeOver(); err != nil {
				t.Fatal(err)
			}
			got := l.o.After
			if (got != nil) != tc.taken {
				t.Fatalf("taken over: %+v", got)
			}
			if got != nil && (got.Try != 3 || !got.Since.Equal(was.Since) || !got.Cap.Equal(was.Cap)) {
				t.Errorf("it starts over: %+v", got)
			}
			if left, err := queue.All(ws); err != nil || len(left) > 0 {
				t.Errorf("the queue has the old wait still: %+v, %v", left, err)
			}
			// What is met right after it continues with the same series.
			if got == nil {
				return
			}
			next, err := quota.Next(got, tc.limits[:1], time.Now(), 16*time.Hour)
			if err != nil || next.Try != 4 || !next.Since.Equal(was.Since) {
				t.Errorf("%+v, %v", next, err)
			}
		})
	}
}

// asked is the cause of a context that a person or a machine ended.
type asked struct{ person bool }

func (asked) Error() string      { return "asked" }
func (a asked) ByOperator() bool { return a.person }

// Who ended a loop is on record at once, for the service that comes after a reboot.
func TestWhoEndedIt(t *testing.T) {
	for name, cause := range map[string]error{"a person": asked{true}, "a machine": asked{false}, "something else": errors.New("x")} {
		t.Run(name, func(t *testing.T) {
			ws := newWorkspace(t)
			store, err := durable.NewFiles(Dir(ws), nil)
			if err != nil {
				t.Fatal(err)
			}
			ctx, end := context.WithCancelCause(context.Background())
			l := &Loop{o: Options{Mode: Task}, begun: time.Now()}
			_, err = store.Run(ctx, oldLoop, Kind, Version, func(f durable.Flow) error {
				defer l.noteEnd(f)()
				if err := l.show(f, l.progress(1)); err != nil {
					return err
				}
				end(cause)
				return ctx.Err()
			})
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			s, err := CutOff(ws)
			if err != nil || s == nil || s.ByOperator != (name == "a person") || s.Tick != 1 {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
}
