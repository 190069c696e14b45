package main

import (
	"context"
	"os"
	"strings"

	"github.com/paxiom/relay/plugins/internal/claudecli"
	"github.com/paxiom/relay/sdk"
)

type config struct {
	claudecli.Setup
	Transport string `json:"transport"`
	Model     string `json:"model"`
	Tools     string `json:"tools"`
}

type provider struct {
	config
	workDir string
}

func newProvider() *provider { return &provider{} }

func (p *provider) part() sdk.Provider {
	return sdk.Provider{
		Configure: p.configure, Complete: p.complete, Health: p.health,
		OutputSchema: true, ReportsCost: true, ReportsLimits: true, Concurrent: true,
	}
}

func (p *provider) configure(_ context.Context, c *sdk.Config) error {
	if err := c.Decode(&p.config); err != nil {
		return err
	}
	p.workDir = c.WorkDir
	return nil
}

// ready says whether the configured transport is there.
func (p *provider) ready() error {
	switch p.Transport {
	case "", "auto", "cli":
		return nil
	case "api":
		return sdk.Fail(sdk.Unsupported, "the transport api of the plugin claude is not there yet",
			sdk.Fix(`set "transport": "cli" (or leave it out) in the block of the plugin claude`))
	}
	return sdk.Fail(sdk.BadConfig, "transport is none of auto, cli and api", sdk.Fix(`set "transport": "auto"`))
}

func (p *provider) health(ctx context.Context, _ bool) (*sdk.Health, error) {
	if err := p.ready(); err != nil {
		return nil, err
	}
	return p.Setup.Health(ctx)
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
	if r.Temperature != nil {
		out.Notice("the claude program has no setting for the temperature; it was left out")
	}
	c := claudecli.Call{
		Setup: p.Setup, WorkDir: p.workDir, Prompt: prompt, System: r.System, Schema: r.OutputSchema,
		Model: r.Model, Fallback: r.FallbackModel, Effort: r.Effort, Tools: claudecli.ParseTools(p.Tools),
		PermissionMode: "dontAsk", MaxTurns: r.MaxTurns, MaxMicroUSD: r.MaxCostMicroUSD, MaxOutput: r.MaxOutputTokens,
		Idle: r.IdleTimeout,
	}
	if c.Model == "" {
		c.Model = p.Model
	}
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
