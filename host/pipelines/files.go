package pipelines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/loop"
	"github.com/paxiom/relay/host/pipeline"
	"github.com/paxiom/relay/host/pipeline/prd"
	"github.com/paxiom/relay/host/templates"
	"github.com/paxiom/relay/judge"
)

// AgentsFile tells agents about the project; pipelines are generated from its tasks.
const AgentsFile = "AGENTS.md"

// Init writes the two files that a pipeline begins with. A file that is there
// stays as it is.
func Init(_ context.Context, r *host.Repo) (*Files, error) {
	root, err := workspace.FindRoot(r.Dir)
	if err != nil {
		return nil, err
	}
	res := &Files{Doc: host.DocOf("relay.pipeline.init", 1), Wrote: []string{}, Next: "`relay pipeline check`"}
	for _, f := range []struct {
		name string
		text []byte
	}{{AgentsFile, templates.Agents}, {host.TasksFile, templates.Tasks}} {
		path := filepath.Join(root, f.name)
		if _, err := os.Lstat(path); err == nil {
			res.Kept = append(res.Kept, f.name)
			continue
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, diag.Wrap(err, "", path+" can't be read", "`ls -l "+diag.Word(path)+"`")
		}
		if err := workspace.WriteFile(path, f.text); err != nil {
			return nil, err
		}
		res.Wrote = append(res.Wrote, f.name)
	}
	return res, nil
}

// Check reads the task list and says what a pipeline would stumble over.
func Check(_ context.Context, r *host.Repo) (*CheckResult, error) {
	_, l, err := r.TaskList()
	if err != nil {
		return nil, err
	}
	res := &CheckResult{Doc: host.DocOf("relay.pipeline.check", 1), Tasks: len(l.Tasks), Warnings: l.Doubts()}
	if f := untouched(r); f != nil {
		res.Warnings = append(res.Warnings, f.What+" ("+f.Fix+")")
	}
	line := taskLines(l, r.OpenTasks(l))
	for _, t := range l.Ready() {
		if line(t).Ready {
			res.Ready = append(res.Ready, t.ID)
		}
	}
	if repo, err := r.Open(); err == nil { // a list can be written before relay is set up
		for i := range l.Tasks {
			t := &l.Tasks[i]
			if beyond := pipeline.Beyond(repo.Loaded.Config, t); len(beyond) > 0 && (t.Status == prd.Pending || t.Status == prd.InProgress) {
				res.Warnings = append(res.Warnings, fmt.Sprintf("%s names more than the ceiling gives: %s (`relay config show scope`)", t.ID, judge.Listed(beyond)))
			}
		}
		if res.Estimate, err = foresee(r, repo, ""); err != nil {
			return nil, err
		}
	}
	return res, nil
}

// maxForeign is the largest foreign task list that is read.
const maxForeign = 64 << 20

// Import makes a task list of another tool's file. kind "" guesses. A list that
// is there is never replaced, unless it is the template.
func Import(_ context.Context, r *host.Repo, path, kind string, dry bool) (*Files, error) {
	root, err := workspace.FindRoot(r.Dir)
	if err != nil {
		return nil, err
	}
	b, err := workspace.ReadFile(path, maxForeign)
	if err != nil {
		return nil, diag.Wrap(err, "", path+" can't be read", "`ls -l "+diag.Word(path)+"`")
	}
	k := prd.Kind(kind)
	if k == "" {
		k = prd.Guess(path, b)
	}
	tasks, losses, err := prd.Import(k, b)
	if err != nil {
		return nil, diag.Wrap(err, "", path+" can't be imported", fmt.Sprintf("`relay pipeline import %s --from %s`", diag.Word(path), kinds("|")))
	}
	text, err := prd.Format(tasks)
	if err != nil {
		return nil, host.TasksFault(err)
	}
	res := &Files{Doc: host.DocOf("relay.pipeline.import", 1), Wrote: []string{}, Tasks: len(tasks), Losses: losses, DryRun: dry, Next: "`relay task graph`"}
	if dry {
		res.Text = string(text)
		return res, nil
	}
	to := filepath.Join(root, host.TasksFile)
	if _, err := os.Lstat(to); err == nil && untouched(r) == nil {
		return nil, diag.New("", host.TasksFile+" already exists", "an import never replaces a task list",
			"`mv "+diag.Word(to)+" "+diag.Word(to+".old")+"`, then import again")
	}
	if err := workspace.WriteFile(to, text); err != nil {
		return nil, err
	}
	res.Wrote = append(res.Wrote, host.TasksFile)
	return res, nil
}

// untouched is what is wrong with a task list that is still the template; nil where it is not.
func untouched(r *host.Repo) *diag.Error {
	root, err := workspace.FindRoot(r.Dir)
	if err != nil {
		return nil
	}
	if b, err := workspace.ReadFile(filepath.Join(root, host.TasksFile), maxForeign); err != nil || !bytes.Equal(b, templates.Tasks) {
		return nil
	}
	return diag.New(judge.BlockedMissingConfig, host.TasksFile+" is still the template", "its tasks are examples",
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

// begun gives the newest run. Where that has not ended, or an attempt of it still waits, and the
// call orders nothing else, the call continues as it was started.
func begun(r *host.Repo, o *RunOptions) (before *pipeline.Seen, asBegun string, err error) {
	repo, err := r.Open()
	if err != nil {
		return nil, "", nil // who opens it next says so
	}
	before, err = pipeline.Look(repo.WS, 0)
	if before == nil || before.Ended && !before.Begun() || err != nil || o.PipelineOrders != (host.PipelineOrders{}) {
		return before, "", err
	}
	orders, set := before.Orders, before.Set
	if before.Ended { // the other tasks are free to begin, and what was to count once has counted
		orders.Only, orders.Key, orders.Join, set = "", "", "", nil
	}
	asBegun = strings.TrimSpace(orders.Flags() + loop.Flags(set))
	o.PipelineOrders, r.Options.Set = orders, slices.Concat(set, r.Options.Set)
	return before, asBegun, nil
}
