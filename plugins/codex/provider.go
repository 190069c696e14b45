package main

import (
	"cmp"
	"context"
	"os"
	"strings"

	"github.com/paxiom/relay/plugins/internal/codexcli"
	"github.com/paxiom/relay/plugins/internal/outschema"
	"github.com/paxiom/relay/sdk"
)

type config struct {
	codexcli.Setup
	Transport string `json:"transport"`
	Model     string `json:"model"`
	Tools     string `json:"tools"`
	// ContextTokens is what the model takes, which the API tells nobody.
	ContextTokens int64 `json:"context_tokens"`
}

type provider struct {
	config
	stateDir, workDir string
	reads             bool // tools is auto
}

func newProvider() *provider { return &provider{} }

func (p *provider) part() sdk.Provider {
	return sdk.Provider{
		Configure: p.configure, Complete: p.complete, Health: p.health, ListModels: p.listModels, CountTokens: p.countTokens,
		OutputSchema: true, ReportsLimits: true, Concurrent: true,
	}
}

func (p *provider) configure(_ context.Context, c *sdk.Config) error {
	if err := c.Decode(&p.config); err != nil {
		return err
	}
	p.stateDir, p.workDir = c.StateDir, c.WorkDir
	switch p.Transport {
	case "", "auto", "cli", "api":
	case review:
		p.Tools = "read"
	default:
		return sdk.Fail(sdk.BadConfig, "transport is none of auto, cli, api and review", sdk.Fix(`set "transport": "auto"`))
	}
	if p.reads = p.Tools == "auto"; p.reads {
		p.Tools = "" // it says nothing about which transport
	}
	if p.Tools != "" && p.Tools != "read" {
		return sdk.Fail(sdk.BadConfig, "tools is none of read and auto, and not empty", sdk.Fix(`set "tools": "read", or leave it out`))
	}
	if p.Tools != "" && p.Transport == "api" {
		return sdk.Fail(sdk.BadConfig, "the transport api has no tools", sdk.Fix(`set "transport": "cli", or leave tools out`))
	}
	return nil
}

// api reports whether a request goes to the HTTP API: when it is asked for, or when all
// that it needs is there.
func (p *provider) api(model string) bool {
	switch p.Transport {
	case "api":
		return true
	case "cli", review:
		return false
	}
	return model != "" && p.Tools == "" && (p.key() != "" || p.server() != "")
}

func (p *provider) health(ctx context.Context, deep bool) (*sdk.Health, error) {
	if p.api(cmp.Or(p.Model, "any")) { // a request may name the model
		return p.apiHealth(ctx, deep)
	}
	return p.Setup.Health(ctx, deep)
}

func (p *provider) complete(ctx context.Context, r *sdk.CompleteRequest, out sdk.Events) (*sdk.Completion, error) {
	if strings.TrimSpace(r.Text()) == "" {
		return nil, sdk.Fail(sdk.BadRequest, "the prompt is empty", sdk.EffectNone)
	}
	schema, err := outschema.Compile(r.OutputSchema)
	if err != nil {
		return nil, err
	}
	asked := schema != nil
	if p.Transport == review && !asked {
		schema = reviewSchema
	}
	model := cmp.Or(r.Model, p.Model)
	if r.FallbackModel != "" && r.FallbackModel != model {
		out.Notice("there is no fallback model with this provider; " + r.FallbackModel + " was left out")
	}
	var done *sdk.Completion
	if p.api(model) {
		done, err = p.askAPI(ctx, r, model, schema, out)
	} else {
		done, err = p.askCLI(ctx, r, model, schema, out)
	}
	if err != nil || schema == nil {
		return done, err
	}
	doc, err := schema.Read([]byte(done.Text))
	if f := sdk.AsFailure(err); f != nil {
		f.Effect, f.Usage = sdk.EffectCharged, done.Usage
		return nil, f
	}
	if asked {
		done.JSON = doc
	} else {
		done.Text = string(doc)
	}
	return done, nil
}

func (p *provider) askCLI(ctx context.Context, r *sdk.CompleteRequest, model string, schema *outschema.Schema, out sdk.Events) (*sdk.Completion, error) {
	for _, c := range r.Contents {
		if c.MediaType != "" {
			return nil, sdk.Fail(sdk.Unsupported, "the codex program takes no attachment of type "+c.MediaType, sdk.EffectNone,
				sdk.Fix("leave the attachment out"))
		}
	}
	if r.Temperature != nil || r.MaxOutputTokens > 0 {
		out.Notice("the codex program has no setting for the temperature or the length of an answer; they were left out")
	}
	call := codexcli.Call{
		Setup: p.Setup, StateDir: p.stateDir, WorkDir: p.workDir, Prompt: r.Text(), System: r.System, Schema: schema,
		Model: model, Effort: r.Effort, Sandbox: codexcli.ReadOnly, Idle: r.IdleTimeout,
	}
	if err := call.ToolVersion(ctx, out); err != nil {
		return nil, err
	}
	if p.Tools != "" || p.reads {
		if err := p.allowReading(ctx, &call, out); err != nil {
			return nil, err
		}
	}
	stream, end, err := call.Run(ctx, out)
	if err != nil {
		return nil, err
	}
	answer, failed := stream.Verdict(end)
	if failed != nil {
		return nil, failed
	}
	for _, problem := range answer.Problems {
		out.Notice("inside the turn: " + problem)
	}
	return &sdk.Completion{Text: answer.Text, StopReason: "completed", Model: model, Usage: answer.Usage}, nil
}

// allowReading lets the model's commands look at the repository, and change nothing:
// by Codex's sandbox, or by relay's box, in which a provider's repository is read-only.
func (p *provider) allowReading(ctx context.Context, call *codexcli.Call, out sdk.Events) (err error) {
	if call.Dir, err = os.Getwd(); err != nil {
		return sdk.Fail(sdk.Internal, "the plugin does not know where it is", sdk.Cause(err), sdk.EffectNone)
	}
	call.Tools = true
	call.Sandbox, err = call.Fence(ctx, codexcli.ReadOnly, out)
	call.Looks = true
	return err
}
