package pipelines

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/pipeline/prd"
	"github.com/paxiom/relay/judge"
)

// Tasks gives the task list in the order in which it would be worked through.
func Tasks(_ context.Context, r *host.Repo) (*TasksResult, error) {
	_, l, err := r.TaskList()
	if err != nil {
		return nil, err
	}
	res := &TasksResult{Doc: host.DocOf("relay.task.list", 1), Tasks: []TaskLine{}, Counts: map[string]int{}}
	line := taskLines(l, r.OpenTasks(l))
	for i := range l.Tasks {
		res.Tasks = append(res.Tasks, line(&l.Tasks[i]))
		res.Counts[string(l.Tasks[i].Status)]++
	}
	for _, t := range l.Ready() {
		if line(t).Ready {
			res.Ready = append(res.Ready, t.ID)
		}
	}
	return res, nil
}

// taskLines gives how to show the tasks of a list. One that was begun is not ready: it is
// at a step, or waits for the operator.
func taskLines(l *prd.List, open []*host.TaskAttempt) func(*prd.Task) TaskLine {
	held, ready, begun := l.Held(), map[string]bool{}, map[string]*host.TaskAttempt{}
	for _, t := range l.Ready() {
		ready[t.ID] = true
	}
	for _, t := range open {
		begun[t.TaskID] = t
	}
	return func(t *prd.Task) TaskLine {
		out := TaskLine{ID: t.ID, Title: t.Title, Status: string(t.Status), Priority: t.Priority, DependsOn: t.DependsOn,
			Waits: l.Waits(t), HeldBy: held[t.ID], Ready: ready[t.ID] && begun[t.ID] == nil}
		if a := begun[t.ID]; a != nil {
			if out.Step = a.Step; a.Waiting != nil {
				out.Step, out.Asked = "", a.Waiting.Text
			}
		}
		return out
	}
}

// Task gives one task with all that is known of it.
func Task(_ context.Context, r *host.Repo, id string) (*TaskResult, error) {
	f, l, err := r.TaskList()
	if err != nil {
		return nil, err
	}
	t := l.Find(id)
	if t == nil {
		return nil, noTask(id)
	}
	res := &TaskResult{Doc: host.DocOf("relay.task", 1), TaskLine: taskLines(l, r.OpenTasks(l))(t), Description: t.Description,
		Criteria: t.AcceptanceCriteria, Validation: t.Validation.Command, CompletedAt: t.CompletedAt, Scope: t.Scope}
	if t.Notes != nil {
		res.Notes = *t.Notes
	}
	res.Attempts = r.Trails(id)
	at := map[string]string{}
	if repo, err := r.Open(); err == nil && len(res.Attempts) > 0 {
		at = res.Attempts[0].Artifacts(repo.WS)
	}
	for name, said := range map[string]*string{"plan": t.Artifacts.Plan, "review": t.Artifacts.Review} {
		if said != nil {
			at[name] = *said
		}
	}
	for _, name := range slices.Sorted(maps.Keys(at)) {
		res.Artifacts = append(res.Artifacts, filepath.Join(filepath.Dir(f.Path), filepath.FromSlash(at[name])))
	}
	for i := range l.Tasks {
		if slices.Contains(l.Tasks[i].DependsOn, id) {
			res.Blocks = append(res.Blocks, l.Tasks[i].ID)
		}
	}
	return res, nil
}

func noTask(id string) error {
	return diag.New("", "there is no task "+id, host.TasksFile+" has none with that id", "`relay task list`")
}

// edit changes the task list and gives the task as it is now.
func edit(ctx context.Context, r *host.Repo, id string, e prd.Edit) (*TaskResult, error) {
	f, _, err := r.TaskList()
	if err != nil {
		return nil, err
	}
	if err := f.Edit(e); err != nil {
		return nil, host.TasksFault(err)
	}
	return Task(ctx, r, id)
}

// AddTask puts a new task behind the others. Without an id one is made of the title.
func AddTask(ctx context.Context, r *host.Repo, n NewTask) (*TaskResult, error) {
	n.Title = strings.Join(strings.Fields(n.Title), " ")
	if n.ID == "" {
		n.ID = prd.IDOf(n.Title)
	}
	argv, err := prd.Split(n.Validation)
	if err != nil {
		return nil, diag.Wrap(err, judge.BlockedMissingConfig, "the validation command can't be used", "put it into a script, then `relay task add … --validate \"sh ./check.sh\"`")
	}
	return edit(ctx, r, n.ID, prd.Add(prd.Task{ID: n.ID, Title: n.Title, Priority: n.Priority, DependsOn: n.DependsOn,
		AcceptanceCriteria: n.Criteria, Validation: prd.Validation{Command: argv}}))
}

// DependTask makes a task wait for others, or no longer.
func DependTask(ctx context.Context, r *host.Repo, id string, on, off []string) (*TaskResult, error) {
	return edit(ctx, r, id, prd.Depend(id, on, off))
}

// EditTask changes single fields of a task; nil leaves one as it is.
func EditTask(ctx context.Context, r *host.Repo, id string, e TaskEdit) (*TaskResult, error) {
	fields := map[string]any{}
	if e.Title != nil {
		fields["title"] = strings.Join(strings.Fields(*e.Title), " ")
	}
	if e.Priority != nil {
		fields["priority"] = *e.Priority
	}
	if e.Notes != nil {
		fields["notes"] = *e.Notes
	}
	if e.Criteria != nil {
		fields["acceptance_criteria"] = e.Criteria
	}
	if e.Validation != nil {
		argv, err := prd.Split(*e.Validation)
		if err != nil {
			return nil, diag.Wrap(err, judge.BlockedMissingConfig, "the validation command can't be used", "put it into a script, then `relay task edit "+diag.Word(id)+" --validate \"sh ./check.sh\"`")
		}
		fields["validation.command"] = argv
	}
	if len(fields) == 0 {
		return nil, diag.New("", "there is nothing to change", "no field was named", "`relay task edit --help`")
	}
	return edit(ctx, r, id, prd.Set(id, fields))
}

// RetryTask makes a task pending again, whatever became of it; what was begun of it is
// not gone on with.
func RetryTask(ctx context.Context, r *host.Repo, id string) (*TaskResult, error) {
	defer r.NoteNeeds(false)
	if err := abandon(r, id, "you asked for a new attempt"); err != nil {
		return nil, err
	}
	return edit(ctx, r, id, prd.SetStatus(id, prd.Pending, time.Time{}, ""))
}

// SkipTask says that a task is not to be done; what waits for it continues, and what it
// asked is not asked any more.
func SkipTask(ctx context.Context, r *host.Repo, id, why string) (*TaskResult, error) {
	defer r.NoteNeeds(false)
	if _, err := edit(ctx, r, id, prd.SetStatus(id, prd.Skipped, time.Time{}, strings.TrimSpace(why))); err != nil {
		return nil, err
	}
	if err := abandon(r, id, "you left the task out"); err != nil {
		return nil, err
	}
	return Task(ctx, r, id)
}

// Graph draws the task list, as a tree or for Graphviz.
func Graph(_ context.Context, r *host.Repo, dot bool) (*GraphResult, error) {
	_, l, err := r.TaskList()
	if err != nil {
		return nil, err
	}
	if dot {
		return &GraphResult{Doc: host.DocOf("relay.task.graph", 1), Text: l.DOT()}, nil
	}
	return &GraphResult{Doc: host.DocOf("relay.task.graph", 1), Text: l.Tree(host.Safe)}, nil
}
