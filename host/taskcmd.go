package host

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/pipeline/prd"
	"github.com/paxiom/relay/judge"
)

// TasksFile is the task list of a repository, in its root.
const TasksFile = workspace.TasksFile

// taskList opens the task list. Its methods need no configuration: a list can be
// written before relay is set up.
func (r *Repo) taskList() (*prd.File, *prd.List, error) {
	root, err := workspace.FindRoot(r.dir)
	if err != nil {
		return nil, nil, err
	}
	f := &prd.File{Path: filepath.Join(root, TasksFile)}
	l, err := f.Read()
	if err != nil {
		return nil, nil, tasksFault(err)
	}
	return f, l, nil
}

// tasksFault says what is wrong with the task list, and how to mend it.
func tasksFault(err error) error {
	var bad *prd.Error
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.New("", "there is no task list here", TasksFile+" is not in the repository's root",
			"`relay pipeline init` writes one to begin with")
	case errors.Is(err, prd.ErrBreaks):
		return fault.Wrap(err, "", TasksFile+" can't be changed that way", "`relay task graph` draws what waits for what")
	case errors.As(err, &bad):
		return fault.Wrap(err, "", TasksFile+" is not a task list", "fix it, then `relay pipeline check`")
	case errors.Is(err, prd.ErrEdited):
		return fault.Wrap(err, "", TasksFile+" could not be written", "save it in your editor, then do it again")
	}
	if f, ok := fault.As(err); ok {
		return f
	}
	return fault.Wrap(err, "", TasksFile+" can't be changed that way", "`relay task list`")
}

// Tasks gives the task list in the order in which it would be worked through.
func (r *Repo) Tasks(context.Context) (*TasksResult, error) {
	_, l, err := r.taskList()
	if err != nil {
		return nil, err
	}
	res := &TasksResult{Doc: Doc{"relay.task.list", 1}, Tasks: []TaskLine{}, Counts: map[string]int{}}
	line := taskLines(l, r.openTasks(l))
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
func taskLines(l *prd.List, open []*TaskTrail) func(*prd.Task) TaskLine {
	held, ready, begun := l.Held(), map[string]bool{}, map[string]*TaskTrail{}
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
func (r *Repo) Task(_ context.Context, id string) (*TaskResult, error) {
	f, l, err := r.taskList()
	if err != nil {
		return nil, err
	}
	t := l.Find(id)
	if t == nil {
		return nil, noTask(id)
	}
	res := &TaskResult{Doc: Doc{"relay.task", 1}, TaskLine: taskLines(l, r.openTasks(l))(t), Description: t.Description,
		Criteria: t.AcceptanceCriteria, Validation: t.Validation.Command, CompletedAt: t.CompletedAt, Scope: t.Scope}
	if t.Notes != nil {
		res.Notes = *t.Notes
	}
	res.Attempts = r.trails(id)
	at := map[string]string{}
	if repo, err := r.open(); err == nil && len(res.Attempts) > 0 {
		at = res.Attempts[0].Artifacts(repo.ws)
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
	return fault.New("", "there is no task "+id, TasksFile+" has none with that id", "`relay task list`")
}

// edit changes the task list and gives the task as it is now.
func (r *Repo) edit(ctx context.Context, id string, e prd.Edit) (*TaskResult, error) {
	f, _, err := r.taskList()
	if err != nil {
		return nil, err
	}
	if err := f.Edit(e); err != nil {
		return nil, tasksFault(err)
	}
	return r.Task(ctx, id)
}

// TaskAdd puts a new task behind the others. Without an id one is made of the title.
func (r *Repo) TaskAdd(ctx context.Context, n NewTask) (*TaskResult, error) {
	if n.ID == "" {
		n.ID = prd.IDOf(n.Title)
	}
	argv, err := prd.Split(n.Validation)
	if err != nil {
		return nil, fault.Wrap(err, judge.BlockedMissingConfig, "the validation command can't be used", "put it into a script, then `relay task add … --validate \"sh ./check.sh\"`")
	}
	return r.edit(ctx, n.ID, prd.Add(prd.Task{ID: n.ID, Title: n.Title, Priority: n.Priority, DependsOn: n.DependsOn,
		AcceptanceCriteria: n.Criteria, Validation: prd.Validation{Command: argv}}))
}

// TaskDepend makes a task wait for others, or no longer.
func (r *Repo) TaskDepend(ctx context.Context, id string, on, off []string) (*TaskResult, error) {
	return r.edit(ctx, id, prd.Depend(id, on, off))
}

// TaskEdit changes single fields of a task; nil leaves one as it is.
func (r *Repo) TaskEdit(ctx context.Context, id string, e TaskEdit) (*TaskResult, error) {
	fields := map[string]any{}
	if e.Title != nil {
		fields["title"] = *e.Title
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
			return nil, fault.Wrap(err, judge.BlockedMissingConfig, "the validation command can't be used", "put it into a script, then `relay task edit "+fault.Word(id)+" --validate \"sh ./check.sh\"`")
		}
		fields["validation.command"] = argv
	}
	if len(fields) == 0 {
		return nil, fault.New("", "nothing is to be changed", "no field was named", "`relay task edit --help`")
	}
	return r.edit(ctx, id, prd.Set(id, fields))
}

// TaskRetry makes a task pending again, whatever became of it; what was begun of it is
// not gone on with.
func (r *Repo) TaskRetry(ctx context.Context, id string) (*TaskResult, error) {
	defer r.noteNeeds(false)
	if err := r.abandon(id, "you asked for a new attempt"); err != nil {
		return nil, err
	}
	return r.edit(ctx, id, prd.SetStatus(id, prd.Pending, time.Time{}, ""))
}

// TaskSkip says that a task is not to be done; what waits for it goes on, and what it
// asked is not asked any more.
func (r *Repo) TaskSkip(ctx context.Context, id, why string) (*TaskResult, error) {
	defer r.noteNeeds(false)
	if _, err := r.edit(ctx, id, prd.SetStatus(id, prd.Skipped, time.Time{}, strings.TrimSpace(why))); err != nil {
		return nil, err
	}
	if err := r.abandon(id, "you left the task out"); err != nil {
		return nil, err
	}
	return r.Task(ctx, id)
}

// TaskGraph draws the task list, as a tree or for Graphviz.
func (r *Repo) TaskGraph(_ context.Context, dot bool) (*GraphResult, error) {
	_, l, err := r.taskList()
	if err != nil {
		return nil, err
	}
	if dot {
		return &GraphResult{Doc: Doc{"relay.task.graph", 1}, Text: l.DOT()}, nil
	}
	return &GraphResult{Doc: Doc{"relay.task.graph", 1}, Text: l.Tree(Safe)}, nil
}
