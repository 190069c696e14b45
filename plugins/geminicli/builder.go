package main

import (
	"cmp"
	"context"
	"strings"

	"github.com/paxiom/relay/plugins/internal/geminicli"
	"github.com/paxiom/relay/plugins/internal/outschema"
	"github.com/paxiom/relay/sdk"
)

type config struct {
	geminicli.Setup
	Model    string `json:"model"`
	MaxTurns int    `json:"max_turns"`
}

type builder struct {
	config
	workDir string
}

func newBuilder() *builder { return &builder{config: config{MaxTurns: 20}} }

func (b *builder) part() sdk.Builder {
	return sdk.Builder{Configure: b.configure, Build: b.build, Health: b.health}
}

func (b *builder) configure(_ context.Context, c *sdk.Config) error {
	if err := c.Decode(&b.config); err != nil {
		return err
	}
	b.workDir = c.WorkDir
	return b.CheckSetup()
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
	call := geminicli.Call{
		Setup: b.Setup, WorkDir: b.workDir, Dir: r.Workspace, Prompt: r.Prompt, System: r.System, Schema: schema,
		Model: cmp.Or(r.Model, b.Model), MaxTurns: cmp.Or(r.MaxTurns, b.MaxTurns), Access: geminicli.Write,
		Idle: r.IdleTimeout, Timeout: r.Timeout,
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
		JSON: schema.Result(answer.Text, out), Session: answer.Session, StopReason: cmp.Or(end.Finish, "completed"), Model: answer.Model, Usage: answer.Usage,
	}, nil
}
