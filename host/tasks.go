package host

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/pipeline/prd"
	"github.com/paxiom/relay/host/templates"
)

// TaskList opens the task list. Its methods need no configuration: a list can be
// written before relay is set up.
func (r *Repo) TaskList() (*prd.File, *prd.List, error) {
	root, err := workspace.FindRoot(r.Dir)
	if err != nil {
		return nil, nil, err
	}
	f := &prd.File{Path: filepath.Join(root, TasksFile)}
	l, err := f.Read()
	if err != nil {
		return nil, nil, TasksFault(err)
	}
	return f, l, nil
}

// Begin is what to type to begin: with tasks of the operator's that can start, or without.
func (r *Repo) Begin() string {
	if f, l, err := r.TaskList(); err == nil && len(l.Ready()) > 0 {
		if b, err := workspace.ReadFile(f.Path, 1<<20); err == nil && !bytes.Equal(b, templates.Tasks) {
			return "`relay pipeline run`"
		}
	}
	return "`relay run --goal \"what you want\"`"
}

// TasksFile is the task list of a repository, in its root.
const TasksFile = workspace.TasksFile

// TasksFault says what is wrong with the task list, and how to mend it.
func TasksFault(err error) error {
	var bad *prd.Error
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return diag.New("", "this repository has no task list", TasksFile+" is not in the repository's root",
			"`relay pipeline init` writes one to begin with")
	case errors.Is(err, prd.ErrBreaks):
		return diag.Wrap(err, "", TasksFile+" can't be changed that way", "`relay task graph` draws what waits for what")
	case errors.As(err, &bad):
		return diag.Wrap(err, "", TasksFile+" is not a task list", "fix it, then `relay pipeline check`")
	case errors.Is(err, prd.ErrEdited):
		return diag.Wrap(err, "", TasksFile+" could not be written", "save it in your editor, then do it again")
	}
	if f, ok := diag.As(err); ok {
		return f
	}
	if errors.As(err, new(*fs.PathError)) {
		return diag.Internal(err)
	}
	return diag.Wrap(err, "", TasksFile+" can't be changed that way", "`relay task list`")
}

// TasksHaveCriteria reports whether a task of the list has acceptance criteria.
func (r *Repo) TasksHaveCriteria() bool {
	_, list, err := r.TaskList()
	return err == nil && slices.ContainsFunc(list.Tasks, func(t prd.Task) bool { return len(t.AcceptanceCriteria) > 0 })
}
