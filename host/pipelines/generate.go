package pipelines

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/beneath"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/modelcall"
	"github.com/paxiom/relay/host/internal/patch"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/pipeline/answer"
	"github.com/paxiom/relay/host/pipeline/prd"
	"github.com/paxiom/relay/host/templates"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
	"github.com/paxiom/relay/prompts"
	"github.com/paxiom/relay/schemas"
)

// GenerateOptions are one call of relay pipeline generate.
type GenerateOptions struct {
	DryRun   bool // only show what would be written
	Again    bool // ask the model although it has answered this question before
	Observer host.Observer
	// Agree is shown what would be written; an error leaves everything as it is. It is
	// not called for a dry run, nor when nothing would change.
	Agree func(*GenerateResult) error
}

// GenerateResult is a task list that a model made of AGENTS.md.
type GenerateResult struct {
	host.Doc
	Tasks    int      `json:"tasks"` // in the list that is proposed
	Diff     string   `json:"diff"`  // against prd.json as it is
	Notes    []string `json:"notes,omitempty"`
	Provider string   `json:"provider"`
	Model    string   `json:"model,omitempty"`
	CostUSD  *float64 `json:"cost_usd"` // null when unknown; 0 for a stored answer
	Wrote    []string `json:"wrote"`
	DryRun   bool     `json:"dry_run,omitempty"`
	Next     string   `json:"next,omitempty"`
}

// Generate has a provider make a task list of AGENTS.md. A list that is there is
// changed, never replaced, and nothing is written before Agree agrees.
func Generate(ctx context.Context, r *host.Repo, o GenerateOptions) (*GenerateResult, error) {
	repo, err := r.Open()
	if err != nil {
		return nil, err
	}
	if err := r.TrustStore().Check(repo.Loaded, r.Getenv); err != nil {
		return nil, err
	}
	o.Observer = r.Watched("generate", repo.Loaded.Config, o.Observer)
	g := &generation{r: r, repo: repo, o: o, res: &GenerateResult{Doc: host.DocOf("relay.pipeline.generate", 1), Wrote: []string{}, DryRun: o.DryRun}}
	if err := g.read(); err != nil {
		return nil, err
	}
	if err := g.ask(ctx); err != nil {
		return nil, err
	}
	return g.res, g.write()
}

// generation makes one task list.
type generation struct {
	r    *host.Repo
	repo *host.Opened
	o    GenerateOptions
	res  *GenerateResult

	agents string
	path   string    // of prd.json
	now    []byte    // prd.json as it is; nil when there is none
	list   *prd.List // that the proposals are taken over into
	next   []byte    // prd.json as proposed
}

// read gathers what is there.
func (g *generation) read() error {
	path := filepath.Join(g.repo.Root, AgentsFile)
	b, err := beneath.ReadFile(g.repo.Root, AgentsFile, 1<<20)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return diag.New(judge.BlockedMissingConfig, AgentsFile+" is missing", "the task list is made from its section on tasks", "`relay pipeline init` writes one to begin with")
	case err != nil:
		return workspace.Unreadable(path, err)
	case bytes.Equal(b, templates.Agents):
		return diag.New(judge.BlockedMissingConfig, AgentsFile+" is still the template", "the task list is made from what you write there", "`$EDITOR "+AgentsFile+"`: write down the tasks")
	}
	g.agents, g.path = string(b), filepath.Join(g.repo.Root, host.TasksFile)
	_, g.list, err = g.r.TaskList()
	if err == nil {
		g.now = g.list.Bytes()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if g.now == nil || bytes.Equal(g.now, templates.Tasks) {
		g.list, err = prd.Parse([]byte(`{"tasks":[]}`))
	}
	return err
}

// ask has the provider propose, twice when the first proposal is no task list.
func (g *generation) ask(ctx context.Context) error {
	git, err := git.Open(ctx, g.repo.Root)
	if err != nil {
		return host.BlockedConfig(err)
	}
	files, err := git.Run(ctx, nil, "ls-files")
	if err != nil {
		return host.BlockedConfig(err)
	}
	data := prompts.GenerateData{ProductName: g.repo.Loaded.Config.ProductName, Agents: g.agents, Tasks: string(g.list.Bytes()), Files: string(files),
		ResultSchema: schemas.Bytes(schemas.PipelineTasks)}
	if data.Override, err = prompts.RoleOverride(func(rel string, max int64) ([]byte, error) { return beneath.ReadFile(g.repo.Root, rel, max) }, g.repo.WS.Rel()+"/prompts", "generate"); err != nil {
		return diag.Wrap(err, judge.BlockedMissingConfig, "your own prompt can't be used", "`ls -l "+diag.Word(g.repo.WS.Prompts())+"`")
	}
	d, lineup, done, err := g.r.Caller(ctx, g.repo, git, "generate", filepath.Join(g.repo.WS.Dir(), "pipeline", "generate"), g.o.Observer, func(l ledger.Line) {
		g.res.Provider, g.res.Model = l.Provider, l.Model
		ledger.Plus(&g.res.CostUSD, l.CostUSD)
	})
	if err != nil {
		return err
	}
	defer done()
	for try := 1; ; try++ {
		text, err := g.consult(ctx, d, lineup, data)
		if err != nil {
			return err
		}
		refused := g.take(text)
		if refused == nil {
			return nil
		}
		if try == 2 {
			return diag.Wrap(refused, judge.BlockedOrchestrator, "the model returned no valid task list, twice", "`relay pipeline generate --again`, or write "+host.TasksFile+" yourself: `relay task add --help`")
		}
		data.RetryReason = refused.Error()
		d.Show(progress.Event{Kind: progress.Notice, Text: "the answer is not a task list (" + refused.Error() + "); relay asks once more"})
	}
}

// take makes a task list of an answer.
func (g *generation) take(text []byte) error {
	all, err := answer.ReadTasks(text)
	if err != nil {
		return err
	}
	next, err := prd.Propose(all)(g.list)
	if err != nil {
		return err
	}
	l, err := prd.Parse(next)
	if err != nil {
		return err
	}
	if err := schemas.Validate(schemas.TaskList, next); err != nil {
		return err
	}
	g.next, g.res.Tasks, g.res.Notes = next, len(l.Tasks), append(g.list.Kept(all), l.Doubts()...)
	return nil
}

// write shows the difference, and writes the list where that is wanted.
func (g *generation) write() error {
	mode := fs.FileMode(0o644)
	was := mode
	if g.now == nil {
		was = 0
	}
	if bytes.Equal(g.now, g.next) {
		g.res.Next = "`relay task list`"
		return nil
	}
	g.res.Diff = string(patch.Unified(host.TasksFile, g.now, g.next, was, mode))
	if g.o.DryRun {
		g.res.Next = "`relay pipeline generate` writes it; the answer is kept, so it costs nothing more"
		return nil
	}
	if g.o.Agree != nil {
		if err := g.o.Agree(g.res); err != nil {
			return err
		}
	}
	if err := g.put(); err != nil {
		return err
	}
	g.res.Wrote, g.res.Next = append(g.res.Wrote, host.TasksFile), "`relay task graph`, then `git add "+host.TasksFile+"`"
	return nil
}

// put writes the list over exactly what was shown.
func (g *generation) put() error {
	edited := diag.New(judge.BlockedLockHeld, host.TasksFile+" was changed meanwhile", "it would no longer become the list you were shown", "`relay pipeline generate`: the answer is kept, so it costs nothing more")
	if g.now == nil {
		if _, err := os.Lstat(g.path); err == nil {
			return edited
		}
		return workspace.WriteFile(g.path, g.next)
	}
	f := &prd.File{Path: g.path}
	err := f.Edit(func(l *prd.List) ([]byte, error) {
		if !bytes.Equal(l.Bytes(), g.now) {
			return nil, edited
		}
		return g.next, nil
	})
	if err != nil {
		return host.TasksFault(err)
	}
	return nil
}

// consult asks, or finds the answer that the same question got before.
func (g *generation) consult(ctx context.Context, d *modelcall.Caller, l *pluginenv.Lineup, data prompts.GenerateData) ([]byte, error) {
	cfg := g.repo.Loaded.Config
	system, user, err := prompts.Render(data)
	if err != nil {
		return nil, diag.Wrap(err, judge.BlockedMissingConfig, "the prompt can't be made", "`ls "+diag.Word(g.repo.WS.Prompts())+"` shows texts of your own; docs/reference/prompts.md names the placeholders")
	}
	sum := sha256.Sum256([]byte(system + "\x00" + user))
	q := modelcall.Question{ID: "generate-" + hex.EncodeToString(sum[:8]), Role: "generate", System: system, User: user, Schema: data.ResultSchema,
		MaxUSD: cfg.Pipeline.MaxCallUSD, Limit: time.Duration(cfg.Pipeline.CallTimeoutSeconds) * time.Second, LimitKey: "pipeline.call_timeout_seconds"}
	if g.o.Again {
		if err := os.Remove(filepath.Join(d.Answers.Dir, q.ID+".json")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, diag.Internal(err)
		}
	}
	a, f, err := d.Ask(ctx, l, q)
	var limited *modelcall.Limited
	switch {
	case errors.As(err, &limited):
		return nil, limited.Diagnostic(func(when string) string { return fmt.Sprintf("`relay pipeline generate` %s", when) })
	case err != nil:
		return nil, err
	case f != nil:
		return nil, f.Diagnostic()
	}
	if g.res.Provider == "" { // it was kept
		g.res.Provider, g.res.Model, g.res.CostUSD = a.Provider, a.Model, new(float64)
	}
	return []byte(strings.TrimSpace(a.Text)), nil
}
