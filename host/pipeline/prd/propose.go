package prd

import (
	"fmt"
	"slices"
	"strings"
)

// Proposal is a task as somebody proposes it, with what the task in front of it has to
// bring about: the checks that will decide about this one.
type Proposal struct {
	Task
	ChecksFirst []string
}

// The task that makes a task's checks has an id and a title of this form.
const (
	checksID    = "validate-"
	checksTitle = "VALIDATE: "
)

// Propose takes proposals over into a list. In front of each stands a task that makes
// its checks, as a blocker. A task that has begun, or is over, stays as it is, and so
// does whatever the proposals don't name.
func Propose(all []Proposal) Edit {
	return func(list *List) ([]byte, error) {
		l := *list // a reading never changes
		for _, t := range l.withChecks(all) {
			old := l.Find(t.ID)
			var e Edit
			switch {
			case old == nil:
				e = Add(t)
			case old.Status != Pending:
				continue
			default:
				e = Set(t.ID, old.changes(t))
			}
			if err := l.put(e); err != nil {
				return nil, err
			}
		}
		if len(l.Tasks) == 0 {
			return indent(l.raw)
		}
		return l.raw, nil
	}
}

// Kept says of which proposals the list would keep its own task, and which of its tasks
// that are not over nobody proposes any more; both as sentences.
func (l *List) Kept(all []Proposal) (notes []string) {
	proposed := map[string]bool{}
	for _, t := range l.withChecks(all) {
		proposed[t.ID] = true
		if old := l.Find(t.ID); old != nil && old.Status != Pending {
			notes = append(notes, fmt.Sprintf("%s is %s and stays as it is", t.ID, strings.ReplaceAll(string(old.Status), "_", " ")))
		}
	}
	for _, t := range l.Tasks {
		of, checks := strings.CutPrefix(t.ID, checksID)
		if !proposed[t.ID] && !t.Status.over() && !(checks && proposed[of]) {
			notes = append(notes, t.ID+" is not proposed any more and stays; `relay task skip "+t.ID+"` takes it out of the way")
		}
	}
	return notes
}

// withChecks puts the tasks of the checks among the proposals: one in front of each that
// has not begun. A model that saw the list may propose them itself: ours are remade.
func (l *List) withChecks(all []Proposal) []Task {
	mine := map[string]bool{}
	for _, p := range all {
		mine[checksID+p.ID] = true
	}
	isChecks := func(id string) bool { return mine[id] }
	var out []Task
	for _, p := range all {
		if isChecks(p.ID) {
			continue
		}
		t := p.Task
		if old := l.Find(t.ID); old != nil && old.Status != Pending {
			out = append(out, t)
			continue
		}
		after := slices.DeleteFunc(slices.Clone(t.DependsOn), isChecks)
		checks := Task{ID: checksID + t.ID, Title: checksTitle + t.Title, Status: Pending, Priority: t.Priority, DependsOn: after, AcceptanceCriteria: p.ChecksFirst,
			Description: "Make the checks that will decide about the task " + t.ID + ", and nothing of what it is to bring about."}
		t.Status, t.DependsOn = Pending, append([]string{checks.ID}, after...)
		out = append(out, checks, t)
	}
	return out
}

// changes are the fields in which a proposal differs.
func (t *Task) changes(p Task) map[string]any {
	out := map[string]any{}
	if t.Title != p.Title {
		out["title"] = p.Title
	}
	if t.Description != p.Description {
		out["description"] = p.Description
	}
	if t.Priority != p.Priority {
		out["priority"] = p.Priority
	}
	if !slices.Equal(t.DependsOn, p.DependsOn) {
		out["depends_on"] = empty(p.DependsOn)
	}
	if !slices.Equal(t.AcceptanceCriteria, p.AcceptanceCriteria) {
		out["acceptance_criteria"] = empty(p.AcceptanceCriteria)
	}
	if !slices.Equal(t.Validation.Command, p.Validation.Command) {
		out["validation.command"] = p.Validation.Command
	}
	return out
}

// put makes one edit of several. The result is checked when all are made: on the way
// there, a blocker may not be there yet.
func (l *List) put(e Edit) error {
	b, err := e(l)
	if err == nil {
		l.raw = b
	}
	return err
}
