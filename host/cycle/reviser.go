package cycle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/paxiom/relay/host/cycle/audit"
	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/crew"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/pluginhost"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/prompts"
	"github.com/paxiom/relay/schemas"
	"github.com/paxiom/relay/sdk/pluginpb"
)

// built is a builder plugin with its request: it carries out what a provider answered
// as whole files, or the plan itself.
type built struct {
	plugin *crew.Plugin
	spec   pluginhost.Spec
	binds  []box.Bind
	req    *pluginpb.BuildRequest
	paid   bool // it asks a model
}

// builder prepares who changes the files. nil: the model answered with conflicts only.
func (p *passage) builder(ctx context.Context) (*built, error) {
	c := p.c
	if _, err := c.env.Catalog.Find(c.rec.Reviser, catalog.Provider); err != nil {
		if _, berr := c.env.Catalog.Find(c.rec.Reviser, catalog.Builder); berr != nil {
			return nil, err
		}
		return p.byBuilder()
	}
	files, err := p.askReviser(ctx)
	if err != nil || len(files) == 0 {
		return nil, err
	}
	patch, err := p.patch(files)
	if err != nil || len(patch) == 0 {
		return nil, err
	}
	b, err := p.open("patch")
	if err != nil {
		return nil, err
	}
	b.req.Patch = string(patch)
	return b, nil
}

func (p *passage) open(name string) (*built, error) {
	plugin, spec, err := p.c.crewEnv().Find(name, catalog.Builder)
	if err != nil {
		return nil, err
	}
	return &built{plugin: plugin, spec: spec, binds: []box.Bind{{Path: spec.SocketDir, Writable: true}},
		req: &pluginpb.BuildRequest{CallId: p.runID(), ResultSchemaJson: schemas.Bytes(schemas.BuilderResult)}}, nil
}

func (p *passage) reviseData() prompts.ReviseData {
	s := p.c.rec.ConfigSnapshot.Scope
	return prompts.ReviseData{Service: p.c.service(p.seen), Plan: p.plan, Code: p.seen.code, Allowed: s.AllowedGlobs, Forbidden: p.forbidden(),
		AllowNewFiles: s.AllowNewFiles, MaxFiles: s.MaxFilesTouched, MaxLines: s.MaxLinesChanged, ResultSchema: schemas.Bytes(schemas.BuilderResult)}
}

// model is the reviser's: the service's own choice, or that of its audit.
func (p *passage) model() string {
	s := &p.c.rec.ConfigSnapshot
	for name, m := range s.Models.Revision.Models {
		if catalog.Canonical(name) == catalog.Canonical(p.c.rec.Reviser) {
			return m
		}
	}
	for _, a := range s.Auditors() {
		if catalog.Canonical(a.Provider) == catalog.Canonical(p.c.rec.Reviser) {
			return a.Model
		}
	}
	return ""
}

// askReviser gets whole files: one question, and one more when the answer has not its
// form.
func (p *passage) askReviser(ctx context.Context) ([]audit.File, error) {
	data := p.reviseData()
	var err error
	if data.Override, err = p.c.override("revise"); err != nil {
		return nil, err
	}
	q := ask{role: "revision", provider: p.c.rec.Reviser, model: p.model()}
	for q.try = 1; ; q.try++ {
		if q.system, q.user, err = prompts.Revise(data); err != nil {
			return nil, promptFault(err)
		}
		s, err := p.c.call(ctx, q)
		if err != nil {
			return nil, err
		}
		r, perr := p.readAnswer(s)
		p.out.Calls = append(p.out.Calls, formed(s.Facts, perr == nil))
		p.out.Facts.Model = q.model
		if s.Facts != nil && s.Facts.Model != "" {
			p.out.Facts.Model = s.Facts.Model
		}
		if perr == nil {
			p.claims, p.out.Facts.Conflicts = r.Claims, clip(r.Conflicts, 4000)
			return r.Files, nil
		}
		if q.try == 2 {
			return nil, &fault.Fault{Code: judge.StopBuilderOutputInvalid, What: "the revision by " + q.provider + " has not the form that was asked for, twice", Why: perr.Error(),
				Fix: fmt.Sprintf("`relay show %s`; `relay rotate %s` has another model revise from the next cycle on, `relay abort %s` ends this one", Short(p.c.rec.UUID), p.c.rec.ServiceID, Short(p.c.rec.UUID)), Err: perr}
		}
		data.RetryReason = perr.Error()
		p.c.note(fmt.Sprintf("the revision by %s has not the form that was asked for (%s); it is asked once more", q.provider, perr))
	}
}

// readAnswer reads whole files out of an answer that came to its end.
func (p *passage) readAnswer(s *stored) (*audit.Revision, error) {
	switch s.Stop {
	case "max_tokens", "length", "max_output_tokens", "MAX_TOKENS":
		return nil, errors.New("the answer was cut off at the model's limit")
	}
	r, err := audit.ParseRevision(s.Text)
	if err != nil {
		return nil, err
	}
	for i := range r.Files {
		if err := p.restore(&r.Files[i]); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// restore gives a file what the prompt could not show: its kind of line ends. What the
// prompt had to mask can't be restored.
func (p *passage) restore(f *audit.File) error {
	old, err := p.old(f.Path)
	if err != nil || old == nil {
		return err
	}
	if strings.ContainsRune(f.Content, '\uFFFD') && !bytes.ContainsRune(old, '\uFFFD') {
		return fmt.Errorf("the file %q holds invisible characters that a model is not shown, so it can't be written as a whole", f.Path)
	}
	if n := bytes.Count(old, []byte("\r\n")); n > 0 && n == bytes.Count(old, []byte("\n")) {
		f.Content = strings.ReplaceAll(f.Content, "\n", "\r\n")
	}
	return nil
}

// old reads a file of the work tree; nil when there is none.
func (p *passage) old(path string) ([]byte, error) {
	root, err := os.OpenRoot(p.c.git.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	fi, err := root.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("the file %q can't be there: %w", path, err)
	case !fi.Mode().IsRegular():
		return nil, fmt.Errorf("%q is no plain file", path)
	}
	b, err := root.ReadFile(path)
	if b == nil {
		b = []byte{}
	}
	return b, err
}

// patch makes one patch of whole files, for the builder of that name: what is written
// is then judged like any other builder's work.
func (p *passage) patch(files []audit.File) ([]byte, error) {
	var out bytes.Buffer
	for _, f := range files {
		old, err := p.old(f.Path)
		if err != nil {
			return nil, fault.Wrap(err, judge.StopBuilderOutputInvalid, "the revision can't be written", "`relay show "+Short(p.c.rec.UUID)+"`")
		}
		was, is := fs.FileMode(0), fs.FileMode(0o644)
		if old != nil {
			if was = 0o644; p.executable(f.Path) {
				was = 0o755
			}
			is = was
		}
		if f.Delete {
			if old == nil {
				continue
			}
			out.Write(judge.UnifiedDiff(f.Path, old, nil, was, 0))
			continue
		}
		if old != nil && string(old) == f.Content {
			continue // said again, and not changed
		}
		out.Write(judge.UnifiedDiff(f.Path, old, []byte(f.Content), was, is))
	}
	return out.Bytes(), nil
}

func (p *passage) executable(path string) bool {
	root, err := os.OpenRoot(p.c.git.Root)
	if err != nil {
		return false
	}
	defer root.Close()
	fi, err := root.Lstat(path)
	return err == nil && fi.Mode()&0o100 != 0
}

// byBuilder has a builder plugin carry out the plan in the files themselves.
func (p *passage) byBuilder() (*built, error) {
	data := p.reviseData()
	var err error
	if data.Override, err = p.c.override("revise_builder"); err != nil {
		return nil, err
	}
	system, user, err := prompts.ReviseBuilder(data)
	if err != nil {
		return nil, promptFault(err)
	}
	b, err := p.open(p.c.rec.Reviser)
	if err != nil {
		return nil, err
	}
	s, cfg := p.c.rec.ConfigSnapshot, p.c.env.Config
	task, err := json.Marshal(map[string]any{"task_id": p.runID(), "milestone_id": p.c.rec.ServiceID, "task_kind": "execute", "intent": "carry out the approved plan",
		"scope":   map[string]any{"allowed_globs": s.Scope.AllowedGlobs, "forbidden_globs": p.forbidden(), "allow_new_files": s.Scope.AllowNewFiles, "allow_lockfile_changes": s.Scope.AllowLockfileChanges},
		"builder": map[string]any{"mode": p.c.rec.Reviser, "instructions": p.plan}})
	if err != nil {
		b.plugin.Close(context.Background())
		return nil, fault.Internal(err)
	}
	b.paid = true
	b.req.System, b.req.Prompt, b.req.TaskJson, b.req.Model = system, user, task, p.model()
	b.req.MaxTurns, b.req.MaxCostMicrousd = int32(cfg.Builder.ClaudeCode.MaxTurns), int64(s.Cycle.MaxCallUSD*1e6)
	b.req.IdleTimeout = durationpb.New(time.Duration(cfg.Builder.IdleTimeoutSeconds) * time.Second)
	return b, nil
}

// work lets the builder change the files of the box. When it returns nil the box is
// quiet.
func (p *passage) work(ctx context.Context, b *built) error {
	c := p.c
	limit := time.Duration(c.rec.ConfigSnapshot.Cycle.TimeoutSeconds) * time.Second
	b.req.Timeout = durationpb.New(limit)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errors.New("the reviser did not end within cycle.timeout_seconds"))
	defer cancel()
	b.spec.Start = crew.InBox(p.change.Box(), b.plugin.Plan)
	b.plugin.Lazy = pluginhost.NewLazy(b.spec)
	defer b.plugin.Close(context.WithoutCancel(ctx))
	open, err := b.plugin.Lazy.Get(ctx)
	if err != nil {
		return notOpened(err)
	}
	var hold *ledger.Hold
	if b.paid {
		if hold, err = c.tab.Reserve(ledger.Call{ID: b.req.CallId, RunID: c.rec.UUID, Role: "revision", Provider: b.plugin.Entry.Name, Model: b.req.Model, MaxUSD: c.rec.ConfigSnapshot.Cycle.MaxCallUSD}); err != nil {
			return err
		}
		c.log("call " + b.req.CallId + " revision " + b.plugin.Entry.Name + " asked")
	}
	began := c.env.now()
	done, f := open.Build(ctx, b.req, func(e *pluginpb.BuildEvent) { p.onBuild(b, e) })
	if b.paid {
		s, model, usage, outcome := &stored{ID: b.req.CallId}, done.GetModel(), done.GetUsage(), "ok"
		if f != nil {
			model, usage, outcome = "", crew.Bought(f), "failed"
		}
		if err := c.settle(hold, b.plugin, s, ask{role: "revision", provider: c.rec.Reviser}, model, usage, outcome, c.env.now().Sub(began).Milliseconds()); err != nil {
			return err
		}
		p.out.Calls = append(p.out.Calls, s.Facts)
		p.out.Facts.Model = s.Facts.Model
		p.heed(done.GetResultJson())
	}
	switch {
	case f == nil:
		return nil
	case ctx.Err() != nil && f.Cause == pluginhost.Cancelled:
		f.Detail = context.Cause(ctx).Error()
	}
	return f.Fault()
}

// heed takes from a builder's own account what it says it could not do. Nothing else
// of it counts.
func (p *passage) heed(raw []byte) {
	var said struct {
		Notes any `json:"notes"`
	}
	if json.Unmarshal(raw, &said) != nil {
		return
	}
	text := fmt.Sprint(said.Notes)
	if _, conflicts, ok := strings.Cut(text, "Plan conflicts:"); ok {
		p.out.Facts.Conflicts = clip(strings.Trim(strings.TrimSpace(conflicts), "[]"), 4000)
	}
}

func (p *passage) onBuild(b *built, e *pluginpb.BuildEvent) {
	text := ""
	switch ev := e.Event.(type) {
	case *pluginpb.BuildEvent_Progress:
		text = strings.TrimSpace(ev.Progress.GetPhase() + " " + ev.Progress.GetText())
	case *pluginpb.BuildEvent_Command:
		text = "runs " + strings.Join(ev.Command.GetArgv(), " ")
	case *pluginpb.BuildEvent_File:
		text = "edits " + ev.File.GetPath()
	case *pluginpb.BuildEvent_Notice:
		text = ev.Notice.GetText()
	}
	if text != "" {
		p.c.observe(progress.Event{Kind: progress.Plugin, Plugin: b.plugin.Entry.Name, Text: text})
	}
}

func decodeFacts(b []byte, out *revisionResult) error { return json.Unmarshal(b, out) }
