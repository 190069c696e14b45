package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/durable"
	"github.com/paxiom/relay/host/internal/modelcall"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/pluginhost"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/prompts"
	"github.com/paxiom/relay/sdk/pluginpb"
)

// building is one step that a builder does, in as many fresh processes as it takes.
type building struct {
	role   string
	round  int
	limit  time.Duration // cap of one process
	schema []byte
	told   func(r *prompts.Resume, c prompts.Call) (prompts.Data, error)
	// read takes what it says of its work: why that is not valid, and what it left open.
	read func(raw []byte, s *Session) (open string, invalid error)
	// left says what is still to be done, for a fresh process.
	left func() string
}

// build lets a builder work until it says that it is done. One that was ended at its cap,
// or left something open, is followed by a fresh process that is told how git stands.
func (a *taskRun) build(f durable.Flow, b building) error {
	most := a.p.env.Config.Pipeline.MaxResumeAttempts
	for n := 1; ; n++ {
		name := fmt.Sprintf("%s-%d-%d", b.role, b.round, n)
		s, err := do(a, f, name, func(ctx context.Context, at durable.Attempt) (Session, error) {
			return a.session(ctx, at, name, n, b)
		})
		if s.Name != "" { // of one that the judge stopped, too
			a.record.Sessions = append(a.record.Sessions, s)
			a.record.Judged = &s.Judged
		}
		if err != nil {
			return err
		}
		a.deal(s)
		a.leave(sessionLine(s))
		if s.End == endDone {
			return nil
		}
		if n > most {
			return a.giveUp(f, a.tooLong(b, s, most))
		}
	}
}

func sessionLine(s Session) string {
	if s.End == endDone {
		return s.Builder + ": " + s.Summary
	}
	return s.Builder + ": " + s.Why
}

// tooLong ends a task whose step does not come to its end.
func (a *taskRun) tooLong(b building, s Session, most int) *Problem {
	tries := "one process"
	if most > 0 {
		tries = fmt.Sprintf("%d processes", most+1)
	}
	p := &Problem{Code: judge.StopBuilderTimeout, What: "the " + b.role + " did not finish in " + tries, Why: s.Why,
		Fix: "split the task into smaller ones in " + TasksFile + ", then `relay task retry " + a.record.TaskID + "`"}
	if s.End != endCap {
		p.Code = judge.StopBuilderOutputInvalid
	}
	return p
}

// sessionFile is what is kept of one process. What one that was done said is with the
// answers.
type sessionFile struct {
	Session Session `json:"session"`
	// Standing is how far it came, for the next one.
	Standing *change.Standing `json:"standing,omitempty"`
}

func (a *taskRun) sessionPath(name string) string { return a.dir("session-" + name + ".json") }

// callID is that of a process of a builder among the answers of the attempt.
func (a *taskRun) callID(name string) string { return a.record.Attempt + "-" + name }

// session is one process of a builder and the judge's look at what it left. One that had
// ended before relay did is not run again.
func (a *taskRun) session(ctx context.Context, at durable.Attempt, name string, n int, b building) (Session, error) {
	if _, err := a.open(ctx); err != nil {
		return Session{}, err
	}
	kept, err := workspace.ReadJSON[sessionFile](a.sessionPath(name), 16<<20, json.Unmarshal)
	if err != nil {
		return Session{}, err
	}
	said, err := a.said(name)
	if err != nil {
		return Session{}, err
	}
	if said != nil && a.fresh {
		return Session{}, lost("its box is gone")
	}
	if kept == nil {
		kept = &sessionFile{Session: Session{Name: name, Step: b.role, Round: b.round}}
		if said == nil {
			r, err := a.resume(ctx, at, n, b)
			if err != nil {
				return Session{}, err
			}
			if err := a.hands(ctx, name, b, r, kept); err != nil {
				return Session{}, a.salvage(ctx, err)
			}
			a.fresh = false
			if said, err = a.said(name); err != nil {
				return Session{}, err
			}
		}
	}
	if said != nil {
		kept.Session.Builder, kept.Session.Model, kept.Session.MS = said.Provider, said.Model, said.MS
	}
	return a.weigh(ctx, name, b, kept, said)
}

// said is what a process that was done said of its work; nil when there is none.
func (a *taskRun) said(name string) (*modelcall.Answer, error) {
	ans, err := a.calls().Answers.Read(a.callID(name))
	if err != nil || ans == nil || !ans.Answered {
		return nil, err
	}
	return ans, nil
}

// salvage keeps what a builder had done that failed for good.
func (a *taskRun) salvage(ctx context.Context, err error) error {
	flt, ok := diag.As(err)
	if !ok || ctx.Err() != nil || flt.Code.Outcome() != judge.OutcomeStop {
		return err
	}
	p := &Problem{Code: flt.Code, What: flt.What, Why: flt.Why, Fix: flt.Fix, PluginSays: flt.Says}
	if _, err := a.Judge(ctx); err != nil {
		return p
	}
	return a.reject(ctx, p)
}

// resume is what a fresh process is told of those before it; nil for the first.
func (a *taskRun) resume(ctx context.Context, at durable.Attempt, n int, b building) (*prompts.Resume, error) {
	why := ""
	switch {
	case n > 1:
		why = a.record.Sessions[len(a.record.Sessions)-1].Why
	case at.Again:
		why = "relay itself was ended in the middle of it"
	default:
		return nil, nil
	}
	s, err := a.Change.Standing(ctx)
	if err != nil {
		return nil, pluginenv.BoxFault(err)
	}
	return &prompts.Resume{Attempt: max(n-1, 1), Reason: why, Log: s.Log, Status: s.Status, DiffStat: s.DiffStat, Left: b.left()}, nil
}

// hands lets a builder work in the box, and whom its fallback names while one after the
// other meets a limit. What it came to is on disk before anything else is done.
func (a *taskRun) hands(ctx context.Context, name string, b building, r *prompts.Resume, kept *sessionFile) error {
	began, met := a.p.now(), false
	err := a.by(ctx, b.role, func(ctx context.Context, l *pluginenv.Lineup) (*pluginhost.Failure, error) {
		return a.calls().Through(ctx, l, func(ctx context.Context, c pluginenv.Choice) (*pluginhost.Failure, error) {
			if met { // somebody else has worked here before it
				s, err := a.Change.Standing(ctx)
				if err != nil {
					return nil, pluginenv.BoxFault(err)
				}
				r = &prompts.Resume{Attempt: 1, Reason: "it could not continue", Log: s.Log, Status: s.Status, DiffStat: s.DiffStat, Left: b.left()}
			}
			return a.worker(ctx, c, name, b, r, kept, &met)
		}, nil)
	})
	if err != nil {
		return err
	}
	if kept.Session.End == "" { // it was done, and what it said is kept
		return nil
	}
	kept.Session.MS = a.p.now().Sub(began).Milliseconds()
	if err := a.Change.Sync(); err != nil {
		return pluginenv.BoxFault(err)
	}
	return workspace.WriteJSON(a.sessionPath(name), kept)
}

// worker is one process of one builder. A failure that is its own or its vendor's comes
// apart; being ended at the cap is an end like being done.
// began is set when it was let into the box.
func (a *taskRun) worker(ctx context.Context, c pluginenv.Choice, name string, b building, r *prompts.Resume, kept *sessionFile, began *bool) (*pluginhost.Failure, error) {
	system, user, err := a.words(b.role, "", func(c prompts.Call) (prompts.Data, error) { return b.told(r, c) })
	if err != nil {
		return nil, diag.Wrap(err, judge.BlockedMissingConfig, "the prompt of the "+b.role+" can't be made", "`ls -l "+diag.Word(a.p.env.WS.Prompts())+"` has texts of your own")
	}
	defer a.Close(ctx)
	if err := a.Open(ctx, a.pluginEnv(), c.Name, change.Options{}); err != nil {
		return nil, err
	}
	task, err := a.taskJSON(b)
	if err != nil {
		return nil, err
	}
	req := &pluginpb.BuildRequest{TaskJson: task, System: system, Prompt: user, Model: c.Model, ResultSchemaJson: b.schema}
	s := &kept.Session
	s.Builder, s.Model = c.Name, c.Model
	_, f, late, err := a.Build(ctx, a.calls(), c, modelcall.Work{ID: a.callID(name), Role: b.role, Request: req, MaxUSD: a.p.env.Config.Pipeline.MaxSessionUSD, Limit: b.limit,
		Began: func() { *began = true }})
	switch {
	case err != nil:
		return nil, err
	case f == nil:
		return nil, nil
	case late || capped(f):
		s.End, s.Why = endCap, fmt.Sprintf("%s was ended at its cap of %s", c, b.limit)
		if !late {
			s.Why = fmt.Sprintf("%s came to its own cap: %s", c, f.Summary)
		}
		return nil, nil
	case f.Cause == pluginhost.Reported && f.Reason == pluginpb.Failure_REASON_BAD_OUTPUT:
		s.End, s.Why = endInvalid, "its result is not valid: "+f.Summary
		return nil, nil
	}
	return f, nil
}

// capped says that a builder ended by a limit of its own on turns, time or dollars: a
// fresh process can continue.
func capped(f *pluginhost.Failure) bool {
	return f.Cause == pluginhost.Reported && (f.Reason == pluginpb.Failure_REASON_LIMIT_REACHED || f.Reason == pluginpb.Failure_REASON_TIMEOUT)
}

// weigh reads what a process says of its work and has the judge read what it did.
// said is nil where it was ended.
func (a *taskRun) weigh(ctx context.Context, name string, b building, kept *sessionFile, said *modelcall.Answer) (Session, error) {
	s := &kept.Session
	if said != nil {
		s.End, s.Outcomes = endDone, nil
		open, invalid := b.read([]byte(said.Text), s)
		switch {
		case invalid != nil:
			s.End, s.Why = endInvalid, "its result is not valid: "+invalid.Error()
		case open != "":
			s.End, s.Why = endOpen, open
		}
	}
	var err error
	if s.Judged, err = a.look(ctx); err != nil {
		return *s, err
	}
	s.Commits = a.Change.OwnCommits()
	if s.End != endDone && kept.Standing == nil {
		st, err := a.Change.Standing(ctx)
		if err != nil {
			return *s, pluginenv.BoxFault(err)
		}
		kept.Standing = &st
	}
	return *s, workspace.WriteJSON(a.sessionPath(name), kept)
}

// taskJSON is the task as a builder may read it.
func (a *taskRun) taskJSON(b building) ([]byte, error) {
	t, s := a.record.Task, a.request()
	raw, err := json.Marshal(map[string]any{"task_id": t.ID, "milestone_id": tabName, "task_kind": "execute", "intent": oneLine(t.Title), "step": b.role, "round": b.round,
		"scope":               map[string]any{"allowed_globs": s.Allowed, "forbidden_globs": s.Forbidden, "allow_new_files": s.NewFiles, "allow_lockfile_changes": s.LockfileChanges},
		"acceptance_criteria": t.AcceptanceCriteria, "validation": map[string]any{"command": t.Validation.Command}})
	if err != nil {
		return nil, diag.Internal(err)
	}
	return raw, nil
}

// untouched are the files that the plan names and the change does not have.
func (a *taskRun) untouched() []string {
	if a.record.Plan == nil {
		return nil
	}
	var out []string
	for _, f := range a.record.Plan.Files {
		if a.record.Judged == nil || !slices.Contains(a.record.Judged.Paths, strings.TrimPrefix(f, "./")) {
			out = append(out, f)
		}
	}
	return out
}
