package pipeline

import (
	"cmp"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/durable"
	"github.com/paxiom/relay/host/internal/attest"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/host/internal/queue"
	"github.com/paxiom/relay/host/internal/quota"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/stoprequest"
	"github.com/paxiom/relay/host/internal/workspace"
)

// QueueKind is that of tasks in the operator's queue.
const QueueKind = "task"

// consult asks the operator. While there is no answer the attempt is parked.
func (a *taskRun) consult(f durable.Flow, q Question) (Decision, error) {
	now, err := f.Now()
	if err != nil {
		return Decision{}, err
	}
	q.Since = now.UTC()
	d, err := durable.Ask[Decision](f, q.Name, q)
	if durable.Parked(err) {
		a.record.Waiting = &q
	}
	return d, err
}

// park puts a task that waits for the operator into the queue.
func (p *Pipeline) park(t *Record) error {
	p.mu.Lock()
	p.out.Tasks = append(p.out.Tasks, t)
	p.mu.Unlock()
	if p.o.OnTask != nil {
		p.o.OnTask(t)
	}
	return queue.Put(p.env.WS, queue.Entry{ID: t.TaskID, Kind: QueueKind, Since: t.Waiting.Since, What: t.Waiting.Kind + ": " + oneLine(t.Waiting.Text), Next: t.Waiting.Next(t.TaskID)})
}

// YesNo says that it is answered with yes or no.
func (q *Question) YesNo() bool { return q.Kind != "plan" }

// Next is the command with which the operator answers.
func (q *Question) Next(task string) string {
	if q.YesNo() {
		return "`relay task answer " + task + " yes` or `relay task answer " + task + " no`, then `relay pipeline run`"
	}
	return "`relay task answer " + task + " \"…\"`, then `relay pipeline run`"
}

// Answer gives the operator's answer to a task that waits. The next run continues it.
// approve makes an approval of a yes to what was built.
func Answer(ws *workspace.Workspace, task string, yes bool, text string, now time.Time, approve func(*Record) *attest.Approval) (*Record, error) {
	t, err := newest(ws, task)
	if err != nil {
		return nil, err
	}
	if t == nil || t.Settled || t.Waiting == nil {
		return nil, diag.New("", "task "+task+" does not wait for an answer", "nothing was asked", "`relay pipeline status`")
	}
	store, err := durable.NewFiles(dir(ws, tasksDir), nil)
	if err == nil {
		d := Decision{Question: t.Waiting.Text, Kind: t.Waiting.Kind, Yes: yes, Text: text, At: now.UTC()}
		if yes && d.Kind == "policy" {
			d.Approval = approve(t)
		}
		err = store.Answer(t.Attempt, t.Waiting.Name, d)
	}
	answered := errors.Is(err, durable.ErrAnswered)
	if err != nil && !answered {
		return nil, diag.Wrap(err, "", "the answer could not be given", "`relay pipeline status`")
	}
	question := t.Waiting.Name
	t.Waiting = nil
	if err := workspace.WriteJSON(dir(ws, tasksDir, t.Attempt, trailFile), t); err != nil {
		return nil, err
	}
	if err := queue.Drop(ws, QueueKind, task); err != nil {
		return nil, err
	}
	if answered {
		return nil, answeredBefore(store, t, question)
	}
	return t, nil
}

// answeredBefore says which answer stands: the first one does, from another terminal or
// from a relay that was killed before it could note it.
func answeredBefore(store *durable.Files, t *Record, question string) error {
	why := "the first answer holds, and the next run uses it"
	if raw, at, err := store.Given(t.Attempt, question); err == nil && raw != nil {
		var d Decision
		if json.Unmarshal(raw, &d) == nil {
			why = at.Local().Format(time.DateTime) + ": " + d.words() + "; " + why
		}
	}
	return diag.New("", "task "+t.TaskID+" has its answer already", why, "`relay pipeline run`")
}

func (d Decision) kind() string { return cmp.Or(d.Kind, "criteria") }

// words is an answer as it was given.
func (d Decision) words() string {
	said := ""
	if d.Yes {
		said = "yes"
	}
	if d.Text != "" {
		said = strings.TrimSpace(said + " " + strconv.Quote(d.Text))
	}
	return cmp.Or(said, "no")
}

// Abandon says why the attempt at a task that has not ended is not to be gone on with: a
// pending task is begun anew by the next run, and of another one nothing waits any more.
func Abandon(ws *workspace.Workspace, task, why string) error {
	t, err := newest(ws, task)
	if err != nil || t == nil || t.Settled || t.Code != "" {
		return err
	}
	t.Lost, t.Waiting = why, nil
	if err := workspace.WriteJSON(dir(ws, tasksDir, t.Attempt, trailFile), t); err != nil {
		return err
	}
	return queue.Drop(ws, QueueKind, task)
}

// wait sleeps until everything may be asked again, however often relay and the machine are
// restarted meanwhile. A limit that lasts too long ends the run; the attempt continues
// with the next one.
func (a *taskRun) wait(f durable.Flow, name string, limits []report.Limit) error {
	now, err := f.Now()
	if err != nil {
		return err
	}
	a.record.Limits = append(a.record.Limits, limits...)
	w, err := quota.Next(a.series, limits, now, a.p.env.Config.Limits.LongestWait())
	if long, ok := errors.AsType[*quota.TooLong](err); ok {
		stop := &tooLong{long}
		a.stop(stop)
		return stop
	}
	if err != nil {
		return err
	}
	a.series = w
	given, _, err := a.p.store.Given(a.record.Attempt, name)
	if err != nil {
		return err
	}
	if given == nil && a.p.now().Before(w.Until) { // not one that `relay wake` has ended
		a.record.Wait = w
		if err := a.record.write(a.p); err != nil {
			return err
		}
		a.observe(progress.Event{Kind: progress.Waiting, Until: w.Until, Text: report.Tell(limits, report.Limit.MetUntil)})
		journal.Reached("pipeline.waits")
		entry := queue.Entry{ID: a.record.TaskID, Kind: QueueKind, Since: w.Since, Until: w.Until, What: report.Tell(limits, report.Limit.MetUntil), Next: "`relay wake` asks again now, `relay stop` ends the run"}
		if err := queue.Put(a.p.env.WS, entry); err != nil {
			return err
		}
	}
	awake := a.endWhenDrained()
	err = f.SleepUntil(name, w.Until)
	awake()
	if err != nil {
		return err
	}
	a.record.Wait = nil
	if err := queue.Drop(a.p.env.WS, QueueKind, a.record.TaskID); err != nil {
		return err
	}
	if now, err = f.Now(); err != nil {
		return err
	}
	a.record.Waits = append(a.record.Waits, Waited{*w, now})
	return nil
}

// drainCheck is how often a task that waits looks whether the run is to end.
const drainCheck = time.Second

// endWhenDrained ends the wait when the operator asks for an end after the task: the task
// continues with the next run.
func (a *taskRun) endWhenDrained() (stop func()) {
	if a.p.o.Drain == nil {
		return func() {}
	}
	return stoprequest.Every(drainCheck, func() bool {
		asked := a.p.o.Drain()
		if asked {
			a.stop(errDrained)
		}
		return asked
	})
}

// tooLong is errLimit with what the limit is.
type tooLong struct{ *quota.TooLong }

func (t *tooLong) Is(err error) bool { return err == errLimit }

// Wake ends the waits for limits of all tasks: everything is asked again as soon as the
// pipeline continues. It gives the tasks.
func Wake(ws *workspace.Workspace) (tasks []string, err error) {
	open, err := Open(ws)
	if err != nil || len(open) == 0 {
		return nil, err
	}
	store, err := durable.NewFiles(dir(ws, tasksDir), nil)
	if err != nil {
		return nil, diag.Internal(err)
	}
	for _, t := range open {
		st, err := store.State(t.Attempt)
		if err != nil || st.Status != durable.Sleeping {
			continue
		}
		if err := store.Answer(t.Attempt, st.Waiting, "operator"); err != nil && !errors.Is(err, durable.ErrAnswered) {
			return tasks, diag.Internal(err)
		}
		tasks = append(tasks, t.TaskID)
		if err := queue.Drop(ws, QueueKind, t.TaskID); err != nil {
			return tasks, err
		}
	}
	return tasks, nil
}
