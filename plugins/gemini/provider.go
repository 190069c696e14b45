package main

import (
	"cmp"
	"context"
	"os"
	"strings"

	"github.com/paxiom/relay/plugins/internal/geminicli"
	"github.com/paxiom/relay/plugins/internal/outschema"
	"github.com/paxiom/relay/sdk"
)

type config struct {
	geminicli.Setup
	Transport string `json:"transport"`
	Model     string `json:"model"`
	Tools     string `json:"tools"`
}

type provider struct {
	config
	workDir string
	reads   bool // tools is auto
}

func newProvider() *provider { return &provider{} }

func (p *provider) part() sdk.Provider {
	return sdk.Provider{
		Configure: p.configure, Complete: p.complete, Health: p.health, ListModels: p.listModels, CountTokens: p.countTokens,
		OutputSchema: true, Concurrent: true,
	}
}

func (p *provider) configure(_ context.Context, c *sdk.Config) error {
	if err := c.Decode(&p.config); err != nil {
		return err
	}
	p.workDir = c.WorkDir
	switch p.Transport {
	case "", "auto", "cli", "api":
	default:
		return sdk.Fail(sdk.BadConfig, "transport is none of auto, cli and api", sdk.Fix(`set "transport": "auto"`))
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
	return p.CheckSetup()
}

// api reports whether a request goes to the HTTP API: when it is asked for, or when all
// that it needs is there.
func (p *provider) api(model string) bool {
	switch p.Transport {
	case "api":
		return true
	case "cli":
		return false
	}
	a := p.Account()
	return model != "" && p.Tools == "" && (a.Complete() || p.Server(a.Vertex) != "" || p.Backend == "vertex")
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
	model := cmp.Or(r.Model, p.Model)
	var done *sdk.Completion
	if p.api(model) {
		done, err = p.askAPI(ctx, r, model, schema, out)
	} else {
		done, err = p.askCLI(ctx, r, model, schema, out)
	}
	if err != nil || schema == nil {
		return done, err
	}
	if done.JSON, err = schema.Read([]byte(outschema.Unfenced(done.Text))); err != nil {
		f := sdk.AsFailure(err)
		f.Effect, f.Usage = sdk.EffectCharged, done.Usage
		return nil, f
	}
	return done, nil
}

func (p *provider) askCLI(ctx context.Context, r *sdk.CompleteRequest, model string, schema *outschema.Schema, out sdk.Events) (*sdk.Completion, error) {
	for _, c := range r.Contents {
		if c.MediaType != "" {
			return nil, sdk.Fail(sdk.Unsupported, "the gemini program takes no attachment of type "+c.MediaType, sdk.EffectNone,
				sdk.Fix("leave the attachment out"))
		}
	}
	if r.Temperature != nil || r.MaxOutputTokens > 0 || r.Effort != "" {
		out.Notice("the gemini program has no setting for temperature, effort or the length of an answer; they were left out")
	}
	if r.FallbackModel != "" && r.FallbackModel != model {
		out.Notice("the gemini program has no fallback model; " + r.FallbackModel + " was left out")
	}
	call := geminicli.Call{
		Setup: p.Setup, WorkDir: p.workDir, Prompt: r.Text(), System: r.System, Schema: schema,
		Model: model, MaxTurns: r.MaxTurns, Idle: r.IdleTimeout,
	}
	if p.Tools != "" || p.reads {
		dir, err := os.Getwd()
		if err != nil {
			return nil, sdk.Fail(sdk.Internal, "the plugin does not know where it is", sdk.Cause(err), sdk.EffectNone)
		}
		call.Access, call.Dir = geminicli.Read, dir
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
	return &sdk.Completion{Text: answer.Text, StopReason: "completed", Model: answer.Model, Usage: answer.Usage}, nil
}
