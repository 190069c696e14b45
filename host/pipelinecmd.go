package host

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/loop"
	"github.com/paxiom/relay/host/pipeline"
	"github.com/paxiom/relay/host/pipeline/prd"
	"github.com/paxiom/relay/judge"
)

// AgentsFile tells agents about the project; pipelines are generated from its tasks.
const AgentsFile = "AGENTS.md"

var (
	//go:embed templates/AGENTS.md
	agentsTemplate []byte
	//go:embed templates/prd.json
	tasksTemplate []byte
)

// PipelineInit writes the two files that a pipeline begins with. A file that is there
// stays as it is.
func (r *Repo) PipelineInit(context.Context) (*PipelineFiles, error) {
	root, err := workspace.FindRoot(r.dir)
	if err != nil {
		return nil, err
	}
	res := &PipelineFiles{Doc: Doc{"relay.pipeline.init", 1}, Wrote: []string{}, Next: "`relay pipeline check`"}
	for _, f := range []struct {
		name string
		text []byte
	}{{AgentsFile, agentsTemplate}, {TasksFile, tasksTemplate}} {
		path := filepath.Join(root, f.name)
		if _, err := os.Lstat(path); err == nil {
			res.Kept = append(res.Kept, f.name)
			continue
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, fault.Wrap(err, "", path+" can't be looked at", "`ls -l "+fault.Word(path)+"`")
		}
		if err := workspace.WriteFile(path, f.text); err != nil {
			return nil, err
		}
		res.Wrote = append(res.Wrote, f.name)
	}
	return res, nil
}

// PipelineCheck reads the task list and says what a pipeline would stumble over.
func (r *Repo) PipelineCheck(context.Context) (*PipelineCheck, error) {
	_, l, err := r.taskList()
	if err != nil {
		return nil, err
	}
	res := &PipelineCheck{Doc: Doc{"relay.pipeline.check", 1}, Tasks: len(l.Tasks), Warnings: l.Doubts()}
	if f := r.untouched(); f != nil {
		res.Warnings = append(res.Warnings, f.What+" ("+f.Fix+")")
	}
	for _, t := range l.Ready() {
		res.Ready = append(res.Ready, t.ID)
	}
	if repo, err := r.open(); err == nil { // a list can be written before relay is set up
		for i := range l.Tasks {
			t := &l.Tasks[i]
			if beyond := pipeline.Beyond(repo.loaded.Config, t); len(beyond) > 0 && (t.Status == prd.Pending || t.Status == prd.InProgress) {
				res.Warnings = append(res.Warnings, fmt.Sprintf("%s names more than the ceiling gives: %s (`relay config show scope`)", t.ID, judge.Listed(beyond)))
			}
		}
		if res.Estimate, err = r.foresee(repo, ""); err != nil {
			return nil, err
		}
	}
	return res, nil
}

// maxForeign is the largest foreign task list that is read.
const maxForeign = 64 << 20

// PipelineImport makes a task list of another tool's file. kind "" guesses. A list that
// is there is never replaced, unless it is the template.
func (r *Repo) PipelineImport(_ context.Context, path, kind string, dry bool) (*PipelineFiles, error) {
	root, err := workspace.FindRoot(r.dir)
	if err != nil {
		return nil, err
	}
	b, err := workspace.ReadFile(path, maxForeign)
	if err != nil {
		return nil, fault.Wrap(err, "", path+" can't be read", "`ls -l "+fault.Word(path)+"`")
	}
	k := prd.Kind(kind)
	if k == "" {
		k = prd.Guess(path, b)
	}
	tasks, losses, err := prd.Import(k, b)
	if err != nil {
		return nil, fault.Wrap(err, "", path+" can't be brought in", fmt.Sprintf("`relay pipeline import %s --from %s`", fault.Word(path), kinds("|")))
	}
	text, err := prd.Format(tasks)
	if err != nil {
		return nil, tasksFault(err)
	}
	res := &PipelineFiles{Doc: Doc{"relay.pipeline.import", 1}, Wrote: []string{}, Tasks: len(tasks), Losses: losses, DryRun: dry, Next: "`relay task graph`"}
	if dry {
		res.Text = string(text)
		return res, nil
	}
	to := filepath.Join(root, TasksFile)
	if _, err := os.Lstat(to); err == nil && r.untouched() == nil {
		return nil, fault.New("", TasksFile+" is there already", "an import never replaces a task list",
			"`mv "+fault.Word(to)+" "+fault.Word(to+".old")+"`, then import again")
	}
	if err := workspace.WriteFile(to, text); err != nil {
		return nil, err
	}
	res.Wrote = append(res.Wrote, TasksFile)
	return res, nil
}

// untouched is what is wrong with a task list that is the template still; nil where it is not.
func (r *Repo) untouched() *fault.Fault {
	root, err := workspace.FindRoot(r.dir)
	if err != nil {
		return nil
	}
	if b, err := workspace.ReadFile(filepath.Join(root, TasksFile), maxForeign); err != nil || !bytes.Equal(b, tasksTemplate) {
		return nil
	}
	return fault.New(judge.BlockedMissingConfig, TasksFile+" is the template still", "its tasks are examples",
		"`relay pipeline generate` makes it of AGENTS.md, `relay pipeline import FILE` of another tool's list")
}

// ImportKinds are the kinds of files that can be imported.
func ImportKinds() []string {
	var all []string
	for _, k := range prd.Kinds() {
		all = append(all, string(k))
	}
	return all
}

func kinds(sep string) string { return strings.Join(ImportKinds(), sep) }

// begun gives the newest run. Where that has not ended and the call orders nothing else, the
// call goes on as it was begun.
func (r *Repo) begun(o *PipelineRunOptions) (before *pipeline.Seen, asBegun string, err error) {
	repo, err := r.open()
	if err != nil {
		return nil, "", nil // who opens it next says so
	}
	before, err = pipeline.Look(repo.ws, 0)
	if before == nil || before.Ended || err != nil || o.PipelineOrders != (PipelineOrders{}) {
		return before, "", err
	}
	asBegun = strings.TrimSpace(before.Orders.Flags() + loop.Flags(before.Set))
	o.PipelineOrders, r.opts.Set = before.Orders, slices.Concat(before.Set, r.opts.Set)
	return before, asBegun, nil
}
