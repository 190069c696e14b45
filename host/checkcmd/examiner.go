package checkcmd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/beneath"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/modelcall"
	"github.com/paxiom/relay/host/internal/mutate"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/pipeline/answer"
	"github.com/paxiom/relay/host/pipeline/prd"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
	"github.com/paxiom/relay/prompts"
	"github.com/paxiom/relay/schemas"
)

// maxSources is how much of the repository's code the examiner is shown, in bytes.
const maxSources = 200 << 10

// Describe has a model write the draft of a hidden check, in the role examiner: in a
// call of its own, whose answer no builder can read.
func Describe(ctx context.Context, r *host.Repo, name, language, description string, watch host.Observer) (*NewResult, error) {
	repo, err := r.Open()
	if err != nil {
		return nil, err
	}
	if err := r.TrustStore().Check(repo.Loaded, r.Getenv); err != nil {
		return nil, err
	}
	res, err := New(ctx, r, name, language)
	if err != nil {
		return nil, err
	}
	watch = r.Watched("examiner", repo.Loaded.Config, watch)
	if err := askExaminer(ctx, r, repo, res, description, watch); err != nil {
		return nil, err
	}
	return res, workspace.WriteFile(filepath.Join(res.Folder, res.Files[0]), []byte(res.Text))
}

func askExaminer(ctx context.Context, r *host.Repo, repo *host.Opened, res *NewResult, description string, watch host.Observer) error {
	git, err := git.Open(ctx, repo.Root)
	if err != nil {
		return host.BlockedConfig(err)
	}
	files, err := git.Run(ctx, nil, "ls-files", "-z")
	if err != nil {
		return host.BlockedConfig(err)
	}
	names := strings.Split(strings.TrimSuffix(string(files), "\x00"), "\x00")
	skeleton, err := workspace.ReadFile(filepath.Join(res.Folder, res.Files[0]), 1<<20)
	if err != nil {
		return diag.Internal(err)
	}
	data := prompts.ExaminerData{ProductName: repo.Loaded.Config.ProductName, Description: description, Skeleton: string(skeleton),
		Files: strings.Join(names, "\n"), Sources: texts(repo.Root, names), ResultSchema: schemas.Bytes(schemas.Examiner)}
	if data.Override, err = prompts.RoleOverride(func(rel string, max int64) ([]byte, error) { return beneath.ReadFile(repo.Root, rel, max) }, repo.WS.Rel()+"/prompts", "examiner"); err != nil {
		return diag.Wrap(err, judge.BlockedMissingConfig, "your own prompt can't be used", "`ls -l "+diag.Word(repo.WS.Prompts())+"`")
	}
	d, lineup, done, err := r.Caller(ctx, repo, git, "examiner", filepath.Join(r.StateDir(), "examiner"), watch, func(l ledger.Line) {
		res.Provider, res.Model = l.Provider, l.Model
		ledger.Plus(&res.CostUSD, l.CostUSD)
	})
	if err != nil {
		return err
	}
	defer done()
	for try := 1; ; try++ {
		refused, err := written(ctx, r, repo, d, lineup, data, res)
		if err != nil || refused == nil {
			return err
		}
		if try == 2 {
			return diag.Wrap(refused, judge.BlockedOrchestrator, "the model returned no valid check, twice", "`${EDITOR:-vi} "+diag.Word(filepath.Join(res.Folder, res.Files[0]))+"`: the skeleton is there")
		}
		data.RetryReason = refused.Error()
		d.Show(progress.Event{Kind: progress.Notice, Text: "the answer is not a check (" + refused.Error() + "); relay asks once more"})
	}
}

// written asks once. refused is why the answer can't be used.
func written(ctx context.Context, r *host.Repo, repo *host.Opened, d *modelcall.Caller, lineup *pluginenv.Lineup, data prompts.ExaminerData, res *NewResult) (refused, err error) {
	cfg := repo.Loaded.Config
	system, user, err := prompts.Render(data)
	if err != nil {
		return nil, diag.Wrap(err, judge.BlockedMissingConfig, "the prompt can't be made", "`ls "+diag.Word(repo.WS.Prompts())+"` shows texts of your own; docs/reference/prompts.md names the placeholders")
	}
	sum := sha256.Sum256([]byte(system + "\x00" + user))
	a, f, err := d.Ask(ctx, lineup, modelcall.Question{ID: "examiner-" + hex.EncodeToString(sum[:8]), Role: "examiner", System: system, User: user, Schema: data.ResultSchema,
		MaxUSD: cfg.Pipeline.MaxCallUSD, Limit: time.Duration(cfg.Pipeline.CallTimeoutSeconds) * time.Second, LimitKey: "pipeline.call_timeout_seconds"})
	var limited *modelcall.Limited
	switch {
	case errors.As(err, &limited):
		return nil, limited.Diagnostic(func(when string) string {
			return "`relay check new " + filepath.Base(res.Folder) + " --hidden` with the same flags, " + when
		})
	case err != nil:
		return nil, err
	case f != nil:
		return nil, f.Diagnostic()
	}
	text, class, refused := answer.ReadCheck([]byte(strings.TrimSpace(a.Text)))
	switch {
	case refused != nil:
		return refused, nil
	case text == data.Skeleton:
		return errors.New("it is the skeleton"), nil
	}
	res.Text, res.Class = text, class
	if res.Provider == "" { // it was kept
		res.Provider, res.Model, res.CostUSD = a.Provider, a.Model, new(float64)
	}
	return nil, nil
}

// taskToExamine is a task of prd.json.
func taskToExamine(r *host.Repo, id string) (*prd.Task, error) {
	_, l, err := r.TaskList()
	if err != nil {
		return nil, err
	}
	t := l.Find(id)
	if t == nil {
		return nil, diag.New("", "there is no task "+host.Safe(id), "", "`relay task list`")
	}
	return t, nil
}

// DescribeTask is what a hidden check of a task is written from.
func DescribeTask(r *host.Repo, id string) (string, error) {
	t, err := taskToExamine(r, id)
	if err != nil {
		return "", err
	}
	return strings.Join(append([]string{t.Title, t.Description}, t.AcceptanceCriteria...), "\n"), nil
}

// askFor has a task ask for a hidden check.
func askFor(r *host.Repo, task, check string) error {
	f, l, err := r.TaskList()
	if err != nil {
		return err
	}
	all := l.Find(task).HiddenChecks
	if slices.Contains(all, check) {
		return nil
	}
	if err := f.Edit(prd.Set(task, map[string]any{"hidden_checks": append(all, check)})); err != nil {
		return host.TasksFault(err)
	}
	return nil
}

// Unexamined are the tasks of prd.json that are to be worked on, make something else than
// checks, and ask for no hidden check.
func Unexamined(r *host.Repo) (ids []string, err error) {
	_, l, err := r.TaskList()
	if err != nil {
		return nil, err
	}
	for _, t := range l.Tasks {
		if t.Status == prd.Pending && len(t.HiddenChecks) == 0 && !strings.HasPrefix(t.ID, "validate-") {
			ids = append(ids, t.ID)
		}
	}
	return ids, nil
}

// texts are the sources among the files, as far as they fit: each below its name.
func texts(root string, names []string) string {
	var b strings.Builder
	for _, name := range names {
		if !mutate.Known(name) || b.Len() > maxSources {
			continue
		}
		if text, err := beneath.ReadFile(root, name, maxSources/2); err == nil {
			fmt.Fprintf(&b, "=== %s\n%s\n", name, text)
		}
	}
	return b.String()
}
