package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/modelcall"
	"github.com/paxiom/relay/host/internal/queue"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/pipeline/memory"
	"github.com/paxiom/relay/host/pipeline/prd"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// settle writes the end of a task into the list and the memory, and commits both. It can
// be done again: what is written already stays.
func (p *Pipeline) settle(ctx context.Context, t *Record, where *git.Repo) error {
	if t.Lost != "" && t.Code == "" {
		t.Code, t.Summary, t.Why, t.Next = judge.StopInterrupted, "the work of the task was lost again and again", t.Lost, "`relay task retry "+t.TaskID+"`"
	}
	if t.Key != "" {
		return p.handOver(ctx, t, where)
	}
	if err := p.mark(ctx, t); err != nil {
		return err
	}
	journal.Reached("pipeline.marked")
	if t.Code == judge.Success {
		if err := p.remember(t); err != nil {
			return err
		}
	}
	commit, err := p.commitRecords(ctx, p.endMessage(t), t)
	if err != nil {
		return err
	}
	journal.Reached("pipeline.recorded")
	if err := p.close(t, where); err != nil {
		return err
	}
	if err := p.release(ctx, t.TaskID); err != nil {
		return err
	}
	p.over(t)
	if p.o.After != nil {
		return p.o.After(ctx, t, cmp.Or(commit, t.Commit))
	}
	return nil
}

// close says that the attempt's end is on record, throws away what it has left, and puts
// it into the history. Nothing of it waits any more.
func (p *Pipeline) close(t *Record, where *git.Repo) error {
	if err := queue.Drop(p.env.WS, QueueKind, t.TaskID); err != nil {
		return diag.Internal(err)
	}
	if err := p.discardLeft(context.Background(), t, where); err != nil {
		return diag.Internal(err)
	}
	p.keepRun(context.Background(), t)
	p.mu.Lock()
	t.Settled, t.Waiting = true, nil
	delete(p.begun, t.TaskID)
	p.mu.Unlock()
	return t.write(p)
}

// mark writes how the task stands into the list. A task that the operator has cut out
// meanwhile stays out, and one that was skipped stays skipped unless it has landed.
func (p *Pipeline) mark(ctx context.Context, t *Record) error {
	l, err := p.tasks(ctx)
	if err != nil {
		return err
	}
	switch now := l.Find(t.TaskID); {
	case now == nil:
		p.notice(t.TaskID + " is not in " + TasksFile + " any more: its end is not written there")
		return nil
	case now.Status == prd.Skipped && t.Code != judge.Success:
		p.notice(t.TaskID + " was skipped meanwhile and stays so")
		return nil
	}
	fields := map[string]any{"status": endOf(t), "completed_at": nil}
	if now := l.Find(t.TaskID); p.ownNotes(now) == "" {
		fields["notes"] = noteOf(t)
	}
	if t.Code == judge.Success {
		fields["completed_at"] = t.EndedAt.UTC().Truncate(1e9)
	}
	for name, file := range t.Artifacts(p.env.WS) {
		if _, err := p.place.Run(ctx, nil, "check-ignore", "-q", "--", file); err != nil { // others have the list, and not what git ignores
			fields["artifacts."+name] = file
		}
	}
	err = p.list.Edit(prd.Set(t.TaskID, fields))
	if _, broken := p.list.Read(); broken != nil || errors.Is(err, prd.ErrEdited) {
		return p.mark(ctx, t) // it is being saved
	}
	return err
}

// ended reports whether a task of the list needs no word of how its attempt ended.
func ended(now *prd.Task, t *Record) bool {
	return now == nil || now.Status == endOf(t) || now.Status == prd.Skipped && t.Code != judge.Success
}

// Artifacts are the files of an attempt's plan and review, relative to the repository.
func (t *Record) Artifacts(ws *workspace.Workspace) map[string]string {
	files := map[string]string{}
	if t.From != "" { // they are where it was made
		return files
	}
	if t.Plan != nil {
		files["plan"] = t.Plan.File
	}
	if len(t.Reviews) > 0 {
		files["review"] = ws.Rel() + "/" + rootDir + "/" + plansDir + "/" + t.TaskID + "_review.md"
	}
	return files
}

// noteOf is what the list says of how an attempt ended.
func noteOf(t *Record) string {
	text := t.Summary
	if t.Code != judge.Success {
		text = fmt.Sprintf("%s: %s. %s", t.Code, t.Summary, t.Why)
	}
	return format.Clip(oneLine(text), 1000)
}

const takenBack = "its change was taken back by "

// ownNotes are the operator's notes on a task; "" where relay wrote what is there, about an
// earlier attempt.
func (p *Pipeline) ownNotes(t *prd.Task) string {
	if t.Notes == nil || strings.HasPrefix(*t.Notes, takenBack) {
		return ""
	}
	attempts, _ := Attempts(p.env.WS, t.ID) // where they can't be read the notes stay
	if slices.ContainsFunc(attempts, func(a *Record) bool { return noteOf(a) == *t.Notes }) {
		return ""
	}
	return *t.Notes
}

// endOf is the status of a task whose attempt has ended.
func endOf(t *Record) prd.Status {
	if t.Code == judge.Success {
		return prd.Completed
	}
	return prd.Failed
}

// remember adds the task to what later ones are told.
func (p *Pipeline) remember(t *Record) error {
	path := p.dir(memoryFile)
	c, err := memory.Read(path)
	if err != nil {
		return err
	}
	c.Add(memory.Entry{TaskID: t.TaskID, Title: t.Task.Title, Done: t.Summary, Commits: t.Commits, At: t.EndedAt.UTC()}, t.Memory)
	return c.Write(path)
}

func (p *Pipeline) endMessage(t *Record) change.Message {
	return change.Message{Subject: fmt.Sprintf("chore: %s %s", t.TaskID, endOf(t)),
		Trailers: []change.Trailer{{Key: "Relay-Task", Value: t.TaskID}, {Key: "Relay-Record", Value: t.RunID}, {Key: "Relay-Code", Value: string(t.Code)}}}
}

// tidy commits what the operator has edited, so that no builder takes it along, and
// refuses a checkout with other changes where a box would show them.
func (p *Pipeline) tidy(ctx context.Context, where *git.Repo) error {
	if where.Root == p.place.Root {
		if _, err := p.commitRecords(ctx, change.Message{Subject: "chore: update the task list", Trailers: []change.Trailer{{Key: "Relay-Record", Value: p.rec.RunID}}}, nil); err != nil {
			return err
		}
	}
	status, err := p.in(where, "").Filtering().Decide(where).Status(ctx)
	if err != nil {
		return diag.Git(err)
	}
	owned := p.in(where, "").Owned()
	var dirty []string
	for _, e := range status {
		if judge.Match(p.records(), e.Path) || p.env.WS.Holds(e.Path) || e.Index == '?' && judge.Match(owned, strings.TrimSuffix(e.Path, "/")) {
			continue
		}
		dirty = append(dirty, e.Path)
	}
	if len(dirty) > 0 && where.Root == p.place.Root && p.env.Config.Worktree.MayBeDirty(true) {
		env, err := p.in(where, "").Boxes(ctx)
		if err != nil {
			return err
		}
		if dirty, err = env.Shown(ctx, dirty); err != nil {
			return diag.Git(err)
		}
	}
	if len(dirty) == 0 {
		return nil
	}
	return diag.Dirty(dirty)
}

// keptUsage gives what a call used whose answer an open attempt has kept; see
// ledger.OpenReservations.
func (p *Pipeline) keptUsage(hold string) *ledger.Usage {
	for _, t := range p.begun {
		if u := (modelcall.Answers{Dir: p.dir(tasksDir, t.Attempt, callsDir)}).Kept(hold); u != nil {
			return u
		}
	}
	return nil
}
