package main

import (
	"cmp"
	"context"
	"os"
	"strings"

	"github.com/paxiom/relay/plugins/internal/claudecli"
	"github.com/paxiom/relay/sdk"
)

type config struct {
	claudecli.Setup
	Transport        string `json:"transport"`
	Model            string `json:"model"`
	Tools            string `json:"tools"`
	StructuredOutput string `json:"structured_output"`
	Backend          string `json:"backend"`
	Region           string `json:"region"`
	Project          string `json:"project"`
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
		OutputSchema: true, ReportsCost: true, ReportsLimits: true, Concurrent: true,
	}
}

func (p *provider) configure(_ context.Context, c *sdk.Config) error {
	if err := c.Decode(&p.config); err != nil {
		return err
	}
	p.workDir = c.WorkDir
	if p.reads = p.Tools == "auto"; p.reads {
		p.Tools = "" // it says nothing about which transport
	}
	return nil
}

// ready reports whether the configured transport can do what is configured.
func (p *provider) ready() error {
	if err := p.checkBackend(); err != nil {
		return err
	}
	switch p.Transport {
	case "", "auto", "cli":
		return nil
	case "api":
		if p.Tools != "" {
			return sdk.Fail(sdk.BadConfig, "the transport api has no tools", sdk.EffectNone, sdk.Fix(`set "transport": "cli", or leave tools out`))
		}
		return nil
	}
	return sdk.Fail(sdk.BadConfig, "transport is none of auto, cli and api", sdk.EffectNone, sdk.Fix(`set "transport": "auto"`))
}

func (p *provider) health(ctx context.Context, deep bool) (*sdk.Health, error) {
	if err := p.ready(); err != nil {
		return nil, err
	}
	if p.api(cmp.Or(p.Model, "claude-any")) { // a request may name the model
		return p.apiHealth(ctx, deep)
	}
	return p.Setup.Health(ctx, deep)
}

// Turns that a call without a limit gets: the schema needs one more when the model
// first answers out of it, tools need one for each round.
const (
	turnsToAnswer = 1
	turnsInSchema = 3
	turnsToRead   = 20
)

func (p *provider) complete(ctx context.Context, r *sdk.CompleteRequest, out sdk.Events) (*sdk.Completion, error) {
	if err := p.ready(); err != nil {
		return nil, err
	}
	if model := cmp.Or(r.Model, p.Model); p.api(model) {
		if strings.TrimSpace(r.Text()) == "" {
			return nil, sdk.Fail(sdk.BadRequest, "the prompt is empty", sdk.EffectNone)
		}
		return p.askAPI(ctx, r, model, out)
	}
	call, err := p.call(r, out)
	if err != nil {
		return nil, err
	}
	stream, end, err := call.Run(ctx, out)
	if err != nil {
		return nil, err
	}
	answer, failed := stream.Verdict(end, claudecli.Want{Schema: len(r.OutputSchema) > 0})
	if failed != nil {
		return nil, failed
	}
	for _, d := range answer.Denied {
		out.Notice("claude was not allowed: " + d)
	}
	return &sdk.Completion{
		Text: answer.Text, JSON: answer.Structured, StopReason: answer.StopReason, Model: answer.Model, Usage: answer.Usage,
	}, nil
}

// call turns a request into a run of the program.
func (p *provider) call(r *sdk.CompleteRequest, out sdk.Events) (claudecli.Call, error) {
	prompt, err := text(r)
	if err != nil {
		return claudecli.Call{}, err
	}
	tools := p.Tools
	if p.reads {
		tools = "Read,Glob,Grep"
	}
	if r.Temperature != nil {
		out.Notice("the claude program has no setting for the temperature; it was left out")
	}
	c := claudecli.Call{
		Setup: p.Setup, WorkDir: p.workDir, Prompt: prompt, System: r.System, Schema: r.OutputSchema,
		Model: r.Model, Fallback: r.FallbackModel, Effort: r.Effort, Tools: claudecli.ParseTools(tools),
		PermissionMode: "dontAsk", MaxTurns: r.MaxTurns, MaxMicroUSD: r.MaxCostMicroUSD, MaxOutput: r.MaxOutputTokens,
		Idle: r.IdleTimeout,
	}
	for _, v := range cloudEnv() {
		c.Withhold = append(c.Withhold, v.Name)
	}
	c.Model = cmp.Or(c.Model, p.Model)
	if len(c.Tools) > 0 {
		if c.Dir, err = os.Getwd(); err != nil {
			return c, sdk.Fail(sdk.Internal, "the plugin does not know where it is", sdk.Cause(err), sdk.EffectNone)
		}
	}
	if c.MaxTurns == 0 {
		switch {
		case len(c.Tools) > 0:
			c.MaxTurns = turnsToRead
		case len(r.OutputSchema) > 0:
			c.MaxTurns = turnsInSchema
		default:
			c.MaxTurns = turnsToAnswer
		}
	}
	return c, nil
}

// text is the prompt. The program reads text only.
func text(r *sdk.CompleteRequest) (string, error) {
	for _, c := range r.Contents {
		if c.MediaType != "" {
			return "", sdk.Fail(sdk.Unsupported, "the claude program takes no attachment of type "+c.MediaType,
				sdk.Fix("leave the attachment out"))
		}
	}
	prompt := r.Text()
	if strings.TrimSpace(prompt) == "" {
		return "", sdk.Fail(sdk.BadRequest, "the prompt is empty")
	}
	return prompt, nil
}
