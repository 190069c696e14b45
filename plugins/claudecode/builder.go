package main

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/paxiom/relay/plugins/internal/claudecli"
	"github.com/paxiom/relay/sdk"
)

type config struct {
	claudecli.Setup
	PermissionMode string  `json:"permission_mode"`
	AllowedTools   string  `json:"allowed_tools"`
	SettingSources string  `json:"setting_sources"`
	MaxTurns       int     `json:"max_turns"`
	MaxBudgetUSD   float64 `json:"max_budget_usd"`
	Model          string  `json:"model"`
}

type builder struct {
	config
	workDir string
}

func newBuilder() *builder {
	return &builder{config: config{
		PermissionMode: "acceptEdits", AllowedTools: "Read,Edit,Write,Glob,Grep,Bash", MaxTurns: 8,
	}}
}

func (b *builder) part() sdk.Builder {
	return sdk.Builder{Configure: b.configure, Build: b.build, Health: b.health, ReportsCost: true, ReportsLimits: true}
}

func (b *builder) configure(_ context.Context, c *sdk.Config) error {
	if err := c.Decode(&b.config); err != nil {
		return err
	}
	b.workDir = c.WorkDir
	switch b.PermissionMode {
	case "default": // asks, and nobody answers
		b.PermissionMode = "dontAsk"
		return nil
	case "acceptEdits", "dontAsk", claudecli.BypassPermissions:
		return nil
	}
	return sdk.Fail(sdk.BadConfig, "permission_mode "+b.PermissionMode+" can't work without a person",
		sdk.Fix(`set "permission_mode" to acceptEdits, bypassPermissions or dontAsk`))
}

func (b *builder) health(ctx context.Context, deep bool) (*sdk.Health, error) {
	return b.Setup.Health(ctx, deep)
}

func (b *builder) build(ctx context.Context, r *sdk.BuildRequest, out sdk.Events) (*sdk.BuildResult, error) {
	if strings.TrimSpace(r.Prompt) == "" {
		return nil, sdk.Fail(sdk.BadRequest, "the prompt is empty")
	}
	schema := len(r.ResultSchema) > 0
	stream, end, err := b.call(r).Run(ctx, out)
	if err != nil {
		return nil, err
	}
	answer, failed := stream.Verdict(end, claudecli.Want{Schema: schema, Work: true})
	if failed != nil && !workDone(failed) {
		return nil, failed
	}
	if failed != nil {
		out.Notice("the result of the build can't be used: " + failed.Summary)
		answer = stream.Answer()
	}
	for _, d := range answer.Denied {
		out.Notice("claude was not allowed: " + d)
	}
	result := &sdk.BuildResult{
		JSON: answer.Structured, Session: answer.Session, StopReason: answer.StopReason, Model: answer.Model, Usage: answer.Usage,
	}
	if result.JSON == nil && stream.KnownShape() {
		result.JSON = json.RawMessage(answer.Text)
	}
	return result, nil
}

// workDone says that the run ended well but for its result document. The host
// decides what a build without a good result is worth.
func workDone(f *sdk.Failure) bool {
	return f.Reason == sdk.BadOutput || f.LimitName == claudecli.StructuredOutputRetries
}

func (b *builder) call(r *sdk.BuildRequest) claudecli.Call {
	return claudecli.Call{
		Setup: b.Setup, WorkDir: b.workDir, Dir: r.Workspace,
		Prompt: r.Prompt, System: r.System, KeepSystem: true, Schema: r.ResultSchema,
		Model: cmp.Or(r.Model, b.Model), Fallback: r.FallbackModel,
		Tools: claudecli.ParseTools(b.AllowedTools), PermissionMode: b.PermissionMode, SettingSources: b.SettingSources,
		MaxTurns: cmp.Or(r.MaxTurns, b.MaxTurns), MaxMicroUSD: cmp.Or(r.MaxCostMicroUSD, int64(b.MaxBudgetUSD*1e6)),
		Idle: r.IdleTimeout, Timeout: r.Timeout,
	}
}
