package cycle

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/modelcall"
	"github.com/paxiom/relay/host/internal/patch"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/pluginhost"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/prompts"
	"github.com/paxiom/relay/schemas"
	"github.com/paxiom/relay/sdk/pluginpb"
)

// byPatch writes a provider's files by the builder of patches, which asks no model: what
// is written is then judged like any other builder's work.
func (p *revision) byPatch(ctx context.Context, patch string) error {
	defer p.Close(ctx)
	if err := p.open(ctx, "patch"); err != nil {
		return err
	}
	plugin, err := p.Builder.Lazy.Get(ctx)
	if err != nil {
		return modelcall.NotOpened(p.Builder, err)
	}
	req := &pluginpb.BuildRequest{CallId: p.RunID, Patch: patch, Workspace: p.Change.Box().Dir(), ResultSchemaJson: schemas.Bytes(schemas.BuilderResult)}
	ctx, cancel := modelcall.Timeout(ctx, p.limit(), "cycle.timeout_seconds")
	defer cancel()
	if _, f := plugin.Build(ctx, req, func(*pluginpb.BuildEvent) {}); f != nil {
		return f.Diagnostic()
	}
	p.Close(ctx) // the box is quiet from here on
	return p.judge(ctx)
}

// limit is the longest that one call may take.
func (p *revision) limit() time.Duration {
	return time.Duration(p.c.rec.ConfigSnapshot.Cycle.TimeoutSeconds) * time.Second
}

// byBuilder has a builder carry out the plan in the files themselves, and whom its
// fallback names, each in a fresh box, while one after the other meets a limit.
func (p *revision) byBuilder(ctx context.Context) error {
	req, err := p.buildRequest()
	if err != nil {
		return err
	}
	defer p.Close(ctx)
	f, err := p.c.caller.Through(ctx, p.c.lineup(p.ask()), func(ctx context.Context, c pluginenv.Choice) (*pluginhost.Failure, error) {
		if err := p.open(ctx, c.Name); err != nil {
			return nil, err
		}
		req.Model = c.Model
		return p.run(ctx, c, req)
	}, func() error { return p.drop(ctx) })
	if f != nil {
		err = f.Diagnostic()
	}
	if err != nil {
		return err
	}
	p.c.alert()
	ans, err := p.c.answers().Read(p.c.callID(p.ask()))
	if err != nil {
		return err
	}
	p.took(ans)
	return p.judge(ctx)
}

// open prepares a builder with a box of its own.
func (p *revision) open(ctx context.Context, name string) error {
	os.Remove(p.c.programsFile(p.c.rec.Iteration - 1))
	if err := p.Open(ctx, p.c.pluginEnv(), name, p.changeOptions()); err != nil {
		return err
	}
	return p.Change.Enter(string(RevisionRunning))
}

// run lets the builder change the files of the box.
func (p *revision) run(ctx context.Context, c pluginenv.Choice, req *pluginpb.BuildRequest) (*pluginhost.Failure, error) {
	_, f, late, err := p.Build(ctx, p.c.caller, c, modelcall.Work{ID: p.c.callID(p.ask()), Role: "revision", Request: req,
		MaxUSD: p.c.rec.ConfigSnapshot.Cycle.MaxCallUSD, Limit: p.limit()})
	if late {
		return nil, diag.New(judge.StopBuilderTimeout, fmt.Sprintf("%s did not end within %v", p.Builder.Entry.Name, p.limit()), "it was stopped, with everything that it had started",
			"`relay audit resume "+Short(p.c.rec.UUID)+"` starts it over; cycle.timeout_seconds of the service is for new cycles")
	}
	return f, err
}

// drop throws the box of a builder away that met a limit. What it had done is kept: the
// next one starts over, and nothing is ever lost.
func (p *revision) drop(ctx context.Context) error {
	if p.Change == nil {
		return nil
	}
	if _, err := p.Attempt.Judge(ctx); err == nil && len(p.Change.Touched().Changes) > 0 {
		patch, err := patch.Bytes(p.Change.Left)
		name := fmt.Sprintf("unfinished-%d-%s.patch", p.c.rec.Iteration, p.key[:8])
		if err == nil {
			err = workspace.WriteFile(p.c.path(name), patch)
		}
		if err == nil {
			p.c.note("what a builder had done when it met its limit is kept as " + name)
		}
	}
	return p.Discard()
}

// buildRequest is what a builder is asked.
func (p *revision) buildRequest() (*pluginpb.BuildRequest, error) {
	data := p.reviseData()
	var err error
	if data.Override, err = p.c.override("revise_builder"); err != nil {
		return nil, err
	}
	system, user, err := prompts.Render(prompts.ReviseBuilderData{ReviseData: data})
	if err != nil {
		return nil, promptFault(err)
	}
	s := p.c.rec.ConfigSnapshot
	task, err := json.Marshal(map[string]any{"task_id": p.RunID, "milestone_id": p.c.rec.ServiceID, "task_kind": "execute", "intent": "carry out the approved plan",
		"scope":   map[string]any{"allowed_globs": s.Scope.AllowedGlobs, "forbidden_globs": p.forbidden(), "allow_new_files": s.Scope.AllowNewFiles, "allow_lockfile_changes": s.Scope.AllowLockfileChanges},
		"builder": map[string]any{"mode": p.c.rec.Reviser, "instructions": p.plan}})
	if err != nil {
		return nil, diag.Internal(err)
	}
	return &pluginpb.BuildRequest{System: system, Prompt: user, TaskJson: task, ResultSchemaJson: schemas.Bytes(schemas.BuilderResult),
		MaxTurns: int32(p.c.env.Config.Builder.ClaudeCode.MaxTurns)}, nil
}

// took takes a builder's finished work as this revision's own.
func (p *revision) took(ans *modelcall.Answer) {
	p.built = true
	a := p.c.answerOf(ans, p.ask())
	p.heed([]byte(a.text))
	p.out.Calls = append(p.out.Calls, a.facts)
	p.out.Facts.By, p.out.Facts.Model = a.facts.Provider, a.facts.Model
}

// heed takes from a builder's own account what it says it could not do. Nothing else
// of it counts.
func (p *revision) heed(raw []byte) {
	var said struct {
		Notes any `json:"notes"`
	}
	if json.Unmarshal(raw, &said) != nil {
		return
	}
	text := fmt.Sprint(said.Notes)
	if _, conflicts, ok := strings.Cut(text, "Plan conflicts:"); ok {
		p.out.Facts.Conflicts = format.Clip(strings.Trim(strings.TrimSpace(conflicts), "[]"), 4000)
	}
}
