package main

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	acp "github.com/coder/acp-go-sdk"

	"github.com/paxiom/relay/plugins/internal/clitool"
	"github.com/paxiom/relay/plugins/internal/outschema"
	"github.com/paxiom/relay/sdk"
)

type config struct {
	Agent       []string          `json:"agent"`
	Env         map[string]string `json:"env"`
	Permissions string            `json:"permissions"`
	Terminal    bool              `json:"terminal"`
	AuthMethod  string            `json:"auth_method"`
	Mode        string            `json:"mode"`
	Model       string            `json:"model"`
}

type builder struct{ config }

func newBuilder() *builder { return &builder{config{Permissions: "allow", Terminal: true}} }

func (b *builder) part() sdk.Builder {
	return sdk.Builder{Configure: b.configure, Build: b.build, Health: b.health, ReportsCost: true}
}

func (b *builder) configure(_ context.Context, c *sdk.Config) error {
	if err := c.Decode(&b.config); err != nil {
		return err
	}
	switch b.Permissions {
	case "allow", "edits", "reject":
		return nil
	}
	return sdk.Fail(sdk.BadConfig, "permissions is none of allow, edits and reject", sdk.Fix(`set "permissions": "allow"`))
}

const agentFix = `set "agent" of the builder acp to a program that speaks the protocol, for example ["gemini", "--acp"]`

func (b *builder) program() (string, error) {
	if len(b.Agent) == 0 || b.Agent[0] == "" {
		return "", sdk.Fail(sdk.BadConfig, "no agent is configured", sdk.EffectNone, sdk.Fix(agentFix))
	}
	return clitool.Find(b.Agent[0], agentFix)
}

// health reports whether the agent is there; a deep look starts it and shakes hands,
// without a prompt.
func (b *builder) health(ctx context.Context, deep bool) (*sdk.Health, error) {
	path, err := b.program()
	if err != nil || !deep {
		return &sdk.Health{Detail: "agent " + path}, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	var who string
	err = b.talk(ctx, path, dir, limits{}, &client{out: nobody{}}, func(conn *acp.ClientSideConnection) error {
		hello, err := b.greet(ctx, conn)
		who = name(hello)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &sdk.Health{Detail: strings.TrimSpace("agent " + path + " " + who)}, nil
}

// nobody hears what happens in a look at an agent.
type nobody struct{}

func (nobody) Started(sdk.Started)     {}
func (nobody) Text(string)             {}
func (nobody) Usage(sdk.Usage)         {}
func (nobody) RateLimit(sdk.RateLimit) {}
func (nobody) Notice(string)           {}
func (nobody) Progress(sdk.Progress)   {}
func (nobody) Command(sdk.Command)     {}
func (nobody) File(string)             {}

func (b *builder) build(ctx context.Context, r *sdk.BuildRequest, out sdk.Events) (*sdk.BuildResult, error) {
	if strings.TrimSpace(r.Prompt) == "" {
		return nil, sdk.Fail(sdk.BadRequest, "the prompt is empty", sdk.EffectNone)
	}
	schema, err := outschema.Compile(r.ResultSchema)
	if err != nil {
		return nil, err
	}
	path, err := b.program()
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(r.Workspace)
	if err != nil {
		return nil, sdk.Fail(sdk.Internal, "the workspace can't be opened", sdk.Cause(err), sdk.EffectNone)
	}
	defer root.Close()
	c := &client{config: b.config, root: root, dir: r.Workspace, out: out}
	defer c.close()
	prompt := r.Prompt + schema.Wish()
	if r.System != "" {
		prompt = r.System + "\n\n" + prompt
	}
	var done acp.PromptResponse
	err = b.talk(ctx, path, r.Workspace, limits{r.IdleTimeout, r.Timeout}, c, func(conn *acp.ClientSideConnection) error {
		session, err := b.open(ctx, conn, c, cmp.Or(r.Model, b.Model))
		if err != nil {
			return err
		}
		c.asked()
		done, err = conn.Prompt(ctx, acp.PromptRequest{SessionId: session, Prompt: []acp.ContentBlock{acp.TextBlock(prompt)}})
		return err
	})
	c.count(done.Usage)
	f := sdk.AsFailure(err)
	if f == nil {
		f = stopped(done.StopReason)
	}
	if f != nil {
		if f.Effect == 0 {
			f.Effect = c.effect(f.Reason)
		}
		f.Usage = c.usage
		return nil, f
	}
	text := c.answer()
	if text == "" {
		out.Notice("the agent ended without an answer")
	}
	return &sdk.BuildResult{JSON: schema.Result(text, out), StopReason: string(done.StopReason), Model: c.model, Usage: c.usage}, nil
}

// limits are how long an agent may be silent, and how long it may work.
type limits struct{ idle, timeout time.Duration }

// goodbye is how long an agent may take to end after its input has ended.
const goodbye = 3 * time.Second

// talk runs the agent for as long as speak talks with it. Its end, ours or its own, is
// the end of all that it started. The error says why speak could not say all: what
// happened to the program goes before what happened to the connection.
func (b *builder) talk(ctx context.Context, path, dir string, l limits, c *client, speak func(*acp.ClientSideConnection) error) error {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	conn := acp.NewClientSideConnection(c, inW, outR)
	conn.SetLogger(slog.New(slog.DiscardHandler))
	running, end := context.WithCancel(ctx)
	defer end()
	var res sdk.CLIResult
	var runErr error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		res, runErr = sdk.RunCLI(running, sdk.CLI{
			Path: path, Args: b.Agent[1:], Env: sdk.ChildEnv(b.environment()...), Dir: dir, Input: inR, Idle: l.idle, Timeout: l.timeout,
			OnLine: func(line []byte) { _, _ = outW.Write(append(bytes.Clone(line), '\n')) },
		})
		_ = outW.Close()
	}()
	go func() { <-conn.Done(); _ = outR.Close() }() // what comes after is read by nobody
	err := speak(conn)
	lost := err != nil && gone(conn)
	_ = inW.Close()
	if err == nil || lost { // it ends by itself, or has
		select {
		case <-ended:
		case <-time.After(goodbye):
		case <-ctx.Done():
		}
	}
	select {
	case <-ended:
	default:
		end()
		<-ended
		if runErr = ctx.Err(); runErr == nil && lost {
			runErr = sdk.Fail(sdk.Internal, "the agent wrote what is not of the protocol", sdk.Detail(clip(strings.TrimSpace(res.Stderr), 4000)))
		}
	}
	switch {
	case err == nil:
		return nil
	case runErr != nil:
		return runErr
	case lost:
		return crashed(res, c.state())
	}
	return protocolFailure(err)
}

func gone(conn *acp.ClientSideConnection) bool {
	select {
	case <-conn.Done():
		return true
	default:
		return false
	}
}

func (b *builder) environment() []string {
	var env []string
	for name, value := range b.Env {
		env = append(env, name+"="+value)
	}
	return env
}

// greet shakes hands.
func (b *builder) greet(ctx context.Context, conn *acp.ClientSideConnection) (acp.InitializeResponse, error) {
	hello, err := conn.Initialize(ctx, acp.InitializeRequest{
		ProtocolVersion: acp.ProtocolVersionNumber,
		ClientInfo:      &acp.Implementation{Name: "relay", Version: version},
		ClientCapabilities: acp.ClientCapabilities{
			Fs: acp.FileSystemCapabilities{ReadTextFile: true, WriteTextFile: true}, Terminal: b.Terminal,
		},
	})
	if err == nil && hello.ProtocolVersion != acp.ProtocolVersionNumber {
		return hello, sdk.Fail(sdk.ToolMissing, "the agent speaks another version of the protocol", sdk.EffectNone,
			sdk.Fix("use a version of the agent that speaks version 1 of the Agent Client Protocol"))
	}
	return hello, err
}

// name is what the agent calls itself.
func name(hello acp.InitializeResponse) string {
	if hello.AgentInfo == nil {
		return ""
	}
	return strings.TrimSpace(hello.AgentInfo.Name + " " + hello.AgentInfo.Version)
}

// open begins a session in the workspace, logged in and in the mode and model that are
// wanted.
func (b *builder) open(ctx context.Context, conn *acp.ClientSideConnection, c *client, model string) (acp.SessionId, error) {
	hello, err := b.greet(ctx, conn)
	if err != nil {
		return "", err
	}
	c.out.Started(sdk.Started{Model: model, ToolVersion: name(hello)})
	c.greeted()
	if b.AuthMethod != "" {
		if _, err := conn.Authenticate(ctx, acp.AuthenticateRequest{MethodId: b.AuthMethod}); err != nil {
			return "", wantsLogin(hello, err)
		}
	}
	s, err := conn.NewSession(ctx, acp.NewSessionRequest{Cwd: c.dir, McpServers: []acp.McpServer{}})
	if err != nil {
		return "", wantsLogin(hello, err)
	}
	if b.Mode != "" {
		if _, err := conn.SetSessionMode(ctx, acp.SetSessionModeRequest{SessionId: s.SessionId, ModeId: acp.SessionModeId(b.Mode)}); err != nil {
			return "", sdk.Fail(sdk.BadConfig, "the agent does not take the mode "+b.Mode, sdk.Cause(err), sdk.EffectNone,
				sdk.Fix(`correct "mode" of the builder acp, or leave it out`))
		}
	}
	if s.Models != nil {
		c.model = string(s.Models.CurrentModelId)
	}
	return s.SessionId, b.choose(ctx, conn, c, s, model)
}

// choose sets the model where the agent lists it.
func (b *builder) choose(ctx context.Context, conn *acp.ClientSideConnection, c *client, s acp.NewSessionResponse, model string) error {
	if model == "" || model == c.model {
		return nil
	}
	if s.Models != nil {
		for _, m := range s.Models.AvailableModels {
			if string(m.ModelId) != model {
				continue
			}
			_, err := conn.UnstableSetSessionModel(ctx, acp.UnstableSetSessionModelRequest{SessionId: s.SessionId, ModelId: acp.UnstableModelId(model)})
			if err == nil {
				c.model = model
			}
			return err
		}
	}
	c.out.Notice("the agent does not list the model " + model + "; it keeps its own")
	return nil
}
