package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/durable"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/host/internal/queue"
	"github.com/paxiom/relay/host/internal/quota"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/stoprequest"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/tick"
)

// Waited is one wait of a loop that is over.
type Waited struct {
	quota.Wait
	Ended time.Time `json:"ended"` // when the wait was over
}

// wait sleeps until everything may be asked again: however often relay and the machine
// are restarted meanwhile, and shorter when the operator says so. A limit that lasts
// too long is the reason for which the loop stops.
func (l *Loop) wait(f durable.Flow, step int, limits []report.Limit) error {
	now, err := f.Now()
	if err != nil {
		return err
	}
	var long *quota.TooLong
	w, err := quota.Next(l.series, limits, now, l.longest())
	switch {
	case errors.As(err, &long):
		l.out.Reason, l.out.Why = LimitLasts, report.Tell(limits, report.Limit.MetUntil)+": "+long.Error()
		return nil
	case err != nil:
		return err
	}
	return l.await(f, fmt.Sprintf("wait-%d", step), w)
}

// await sleeps through one wait, unless the loop is to be over by then.
func (l *Loop) await(f durable.Flow, name string, w *quota.Wait) error {
	if !l.o.Until.IsZero() && !w.Until.Before(l.o.Until) {
		l.out.Reason, l.out.Why = UntilReached, report.Tell(w.Limits, report.Limit.MetUntil)+", and nothing can be asked again before "+l.o.Until.Local().Format(time.DateTime)
		return nil
	}
	l.series = w
	if err := l.sleep(f, name, w); err != nil {
		return err
	}
	now, err := f.Now()
	if err != nil {
		return err
	}
	l.out.Waits = append(l.out.Waits, Waited{*w, now})
	return nil
}

// sleep makes the wait visible while it lasts.
func (l *Loop) sleep(f durable.Flow, name string, w *quota.Wait) error {
	if !l.now().Before(w.Until) { // it is past: a loop that continues after it
		return errors.Join(f.SleepUntil(name, w.Until), queue.Drop(l.ws, "loop", l.id))
	}
	l.closeSession(f.Context()) // hours may pass
	p := l.progress(len(l.out.Ticks) + 1)
	p.Wait = w
	if err := l.show(f, p); err != nil {
		return err
	}
	what := report.Tell(w.Limits, report.Limit.MetUntil)
	if l.env.Observer != nil {
		l.env.Observer.Observe(progress.Event{Kind: progress.Waiting, At: l.now(), Until: w.Until, Text: what})
	}
	entry := queue.Entry{ID: l.id, Kind: "loop", Since: w.Since, Until: w.Until, What: what, Next: "`relay wake` asks again now, `relay stop` ends the loop"}
	if err := queue.Put(l.ws, entry); err != nil {
		return err
	}
	awake := l.endWhenDrained(name)
	err := f.SleepUntil(name, w.Until)
	awake()
	if err != nil { // cut off: it continues where it was
		entry.Next = "`relay loop --resume` continues the wait"
		return errors.Join(err, queue.Put(l.ws, entry))
	}
	return queue.Drop(l.ws, "loop", l.id)
}

// takeOver makes the wait of a loop that nobody resumed this loop's own: what it waits for
// lasts as long for the one as for the other, and to ask before would not begin it anew.
func (l *Loop) takeOver() error {
	s, err := Waiting(l.ws)
	if s == nil || s.Running || err != nil {
		return err
	}
	if l.now().Before(s.Wait.Until) && l.holds(s.Wait) {
		l.o.After = s.Wait
		if l.env.Observer != nil {
			l.env.Observer.Observe(progress.Event{Kind: progress.Notice, At: l.now(), Text: "the loop before this one waits for a limit, which holds for this one, too; `relay wake` asks again at once"})
		}
	}
	return queue.Drop(l.ws, "loop", s.ID)
}

// holds reports whether a wait of another loop is this loop's, too: nobody could be asked
// now who is not waited for.
func (l *Loop) holds(w *quota.Wait) bool {
	if l.env.Loaded == nil || len(w.Limits) == 0 {
		return false
	}
	for _, c := range tick.Askable(l.env.Loaded.Config, w.Limits[0].Role) {
		if !slices.ContainsFunc(w.Limits, func(m report.Limit) bool { return m.Provider == c.Name && m.Model == c.Model }) {
			return false
		}
	}
	return true
}

// drainCheck is how often a waiting loop looks whether it is to end.
const drainCheck = time.Second

// endWhenDrained ends the sleep when the operator asks for an end: no tick is under way
// that would have to be finished first.
func (l *Loop) endWhenDrained(name string) (stop func()) {
	if l.hooks.Drain == nil {
		return func() {}
	}
	return stoprequest.Every(drainCheck, func() bool {
		asked := l.hooks.Drain()
		if asked {
			_ = l.store.Answer(l.id, name, "drained") // a sleep that has just ended needs no end
		}
		return asked
	})
}

func (l *Loop) longest() time.Duration {
	if l.env.Loaded == nil {
		return 0
	}
	return l.env.Loaded.Config.Limits.LongestWait()
}

func (l *Loop) now() time.Time {
	if l.hooks.Clock != nil {
		return l.hooks.Clock.Now()
	}
	return time.Now()
}

// taskOf is the task of a tick that a limit ended before it could be built; nil when
// another run has put its own there since, and the orchestrator is asked once more.
func (l *Loop) taskOf(t Tick) []byte {
	if !t.Again {
		return nil
	}
	raw, err := workspace.ReadFile(l.ws.Task(), 2<<20)
	if err != nil || !tick.IsTask(raw, t.TaskID, t.Intent) {
		return nil
	}
	return raw
}

// closeSession ends the plugins that ran between ticks.
func (l *Loop) closeSession(ctx context.Context) {
	if left := l.session.Close(ctx); left > 0 && l.env.Observer != nil {
		l.env.Observer.Observe(progress.Event{Kind: progress.Notice, At: l.now(), Text: fmt.Sprintf("the providers had left %d processes behind; they were ended", left)})
	}
}

// Waiting gives the loop of the workspace that waits for a limit to end, in a process or
// to be resumed; nil when there is none.
func Waiting(ws *workspace.Workspace) (*Seen, error) {
	s, err := Last(ws)
	if s == nil || s.Wait == nil || !s.Running && !s.CutOff {
		return nil, err
	}
	return s, nil
}

// Wake ends the wait: everything is asked again as soon as the loop continues. It gives
// the loop, nil when none waits.
func Wake(ws *workspace.Workspace) (*Seen, error) {
	s, err := Waiting(ws)
	if s == nil || err != nil {
		return nil, err
	}
	store, err := durable.NewFiles(Dir(ws), nil)
	if err == nil {
		err = store.Wake(s.ID)
	}
	if err != nil {
		return nil, diag.Internal(err)
	}
	return s, queue.Drop(ws, "loop", s.ID)
}
