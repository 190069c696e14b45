package main

import (
	"cmp"
	"context"
	"strings"

	"github.com/paxiom/relay/plugins/internal/codexcli"
	"github.com/paxiom/relay/plugins/internal/outschema"
	"github.com/paxiom/relay/sdk"
)

type config struct {
	codexcli.Setup
	Sandbox string `json:"sandbox"`
	Network bool   `json:"network_access"`
	Model   string `json:"model"`
	Effort  string `json:"effort"`
}

type builder struct {
	config
	stateDir, workDir string
}

func newBuilder() *builder { return &builder{config: config{Sandbox: "auto"}} }

func (b *builder) part() sdk.Builder {
	return sdk.Builder{Configure: b.configure, Build: b.build, Health: b.health}
}

func (b *builder) configure(_ context.Context, c *sdk.Config) error {
	if err := c.Decode(&b.config); err != nil {
		return err
	}
	b.stateDir, b.workDir = c.StateDir, c.WorkDir
	switch b.Sandbox {
	case "auto", "workspace-write", "off":
		return nil
	}
	return sdk.Fail(sdk.BadConfig, "sandbox is none of auto, workspace-write and off", sdk.Fix(`set "sandbox": "auto"`))
}

func (b *builder) health(ctx context.Context, deep bool) (*sdk.Health, error) {
	return b.Setup.Health(ctx, deep)
}

func (b *builder) build(ctx context.Context, r *sdk.BuildRequest, out sdk.Events) (*sdk.BuildResult, error) {
	if strings.TrimSpace(r.Prompt) == "" {
		return nil, sdk.Fail(sdk.BadRequest, "the prompt is empty", sdk.EffectNone)
	}
	schema, err := outschema.Compile(r.ResultSchema)
	if err != nil {
		return nil, err
	}
	call := codexcli.Call{
		Setup: b.Setup, StateDir: b.stateDir, WorkDir: b.workDir, Dir: r.Workspace,
		Prompt: r.Prompt, System: r.System, Schema: schema, Model: cmp.Or(r.Model, b.Model), Effort: b.Effort,
		Tools: true, Network: b.Network, Idle: r.IdleTimeout, Timeout: r.Timeout,
	}
	if err := call.ToolVersion(ctx, out); err != nil {
		return nil, err
	}
	if call.Sandbox, err = b.fence(ctx, call, out); err != nil {
		return nil, err
	}
	stream, end, err := call.Run(ctx, out)
	if err != nil {
		return nil, err
	}
	answer, failed := stream.Verdict(end)
	if failed != nil && failed.Reason != sdk.BadOutput {
		return nil, failed
	}
	if failed != nil { // the work ended well but for its last words
		out.Notice("the build ended without a good answer: " + failed.Summary)
		answer = stream.Answer()
	}
	for _, problem := range answer.Problems {
		out.Notice("inside the turn: " + problem)
	}
	return &sdk.BuildResult{
		JSON: schema.Result(answer.Text, out), Session: answer.Session, StopReason: "completed", Model: call.Model, Usage: answer.Usage,
	}, nil
}

// fence is Codex's own sandbox, as configured.
func (b *builder) fence(ctx context.Context, call codexcli.Call, out sdk.Events) (codexcli.Sandbox, error) {
	switch b.Sandbox {
	case "workspace-write":
		return codexcli.WorkspaceWrite, nil
	case "off":
		out.Notice("codex runs without its own sandbox, as configured; the box is the fence")
		return codexcli.NoSandbox, nil
	}
	return call.Fence(ctx, codexcli.WorkspaceWrite, out)
}
