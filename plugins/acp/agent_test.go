package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	acp "github.com/coder/acp-go-sdk"
)

// The test binary is an agent when this variable names what kind.
const actAs = "ACP_TEST_AGENT"

func TestMain(m *testing.M) {
	kind := os.Getenv(actAs)
	switch kind {
	case "":
		os.Exit(m.Run())
	case "mute":
		time.Sleep(time.Hour)
	case "no agent":
		fmt.Fprintln(os.Stderr, "unknown option --acp")
		os.Exit(2)
	}
	a := &agent{kind: kind, cancelled: make(chan struct{}, 1)}
	in := &heldReader{Reader: os.Stdin, begin: make(chan struct{})}
	a.conn = acp.NewAgentSideConnection(a, os.Stdout, in)
	close(in.begin)
	<-a.conn.Done()
}

// heldReader reads nothing before begin is closed. The library begins to read while it
// is still making the connection that its answers go over.
type heldReader struct {
	io.Reader
	begin chan struct{}
}

func (h *heldReader) Read(p []byte) (int, error) {
	<-h.begin
	return h.Reader.Read(p)
}

// agent is a small agent that speaks the protocol with the same library, and does
// what its kind says.
type agent struct {
	kind      string
	conn      *acp.AgentSideConnection
	cwd       string
	cancelled chan struct{}
	loggedIn  bool
}

func (a *agent) Initialize(context.Context, acp.InitializeRequest) (acp.InitializeResponse, error) {
	v := acp.ProtocolVersion(acp.ProtocolVersionNumber)
	if a.kind == "other version" {
		v = 99
	}
	return acp.InitializeResponse{ProtocolVersion: v, AgentInfo: &acp.Implementation{Name: "tester", Version: "1.2.3"},
		AuthMethods: []acp.AuthMethod{{Agent: &acp.AuthMethodAgent{Id: "by-hand", Name: "By hand"}}}}, nil
}

func (a *agent) Authenticate(_ context.Context, r acp.AuthenticateRequest) (acp.AuthenticateResponse, error) {
	a.loggedIn = r.MethodId == "by-hand"
	return acp.AuthenticateResponse{}, nil
}

func (a *agent) NewSession(_ context.Context, r acp.NewSessionRequest) (acp.NewSessionResponse, error) {
	if a.kind == "locked" && !a.loggedIn {
		return acp.NewSessionResponse{}, acp.NewAuthRequired(nil)
	}
	a.cwd = r.Cwd
	return acp.NewSessionResponse{SessionId: "s-1", Models: &acp.SessionModelState{
		CurrentModelId: "small", AvailableModels: []acp.ModelInfo{{ModelId: "small", Name: "Small"}, {ModelId: "large", Name: "Large"}}}}, nil
}

func (a *agent) Cancel(context.Context, acp.CancelNotification) error {
	a.cancelled <- struct{}{}
	return nil
}

func (a *agent) Prompt(ctx context.Context, r acp.PromptRequest) (acp.PromptResponse, error) {
	ended := func(why acp.StopReason) (acp.PromptResponse, error) {
		return acp.PromptResponse{StopReason: why, Usage: &acp.Usage{InputTokens: 100, OutputTokens: 20, TotalTokens: 120}}, nil
	}
	switch a.kind {
	case "good", "locked":
		return ended(a.work(ctx, r))
	case "thief":
		return ended(a.steal(ctx, r))
	case "empty":
		return ended(acp.StopReasonEndTurn)
	case "refuses":
		return ended(acp.StopReasonRefusal)
	case "turns":
		return ended(acp.StopReasonMaxTurnRequests)
	case "limited":
		return acp.PromptResponse{}, &acp.RequestError{Code: 429, Message: "slow down"}
	case "crash":
		_ = a.say(ctx, r.SessionId, "I begin.")
		fmt.Fprintln(os.Stderr, "panic: oh no")
		os.Exit(3)
	case "garbage":
		fmt.Println(`{"jsonrpc":"2.0","id":` + strings.Repeat("9", 20<<20))
		time.Sleep(time.Hour)
	case "flood":
		for {
			fmt.Println(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}}}`)
		}
	case "hang":
		select {
		case <-a.cancelled:
			return ended(acp.StopReasonCancelled)
		case <-time.After(time.Hour):
		}
	}
	return acp.PromptResponse{}, errors.New("no such kind of agent: " + a.kind)
}

func (a *agent) update(ctx context.Context, s acp.SessionId, u acp.SessionUpdate) error {
	return a.conn.SessionUpdate(ctx, acp.SessionNotification{SessionId: s, Update: u})
}

func (a *agent) say(ctx context.Context, s acp.SessionId, text string) error {
	return a.update(ctx, s, acp.UpdateAgentMessageText(text))
}

// work mends add.go through the client, looks at the outcome with a command, and
// asks before each of the two.
func (a *agent) work(ctx context.Context, r acp.PromptRequest) acp.StopReason {
	s, file := r.SessionId, filepath.Join(a.cwd, "add.go")
	_ = a.say(ctx, s, "I will look.")
	may := func(id, title string, kind acp.ToolKind) bool {
		_ = a.update(ctx, s, acp.StartToolCall(acp.ToolCallId(id), title, acp.WithStartKind(kind), acp.WithStartLocations([]acp.ToolCallLocation{{Path: file}})))
		p, err := a.conn.RequestPermission(ctx, acp.RequestPermissionRequest{SessionId: s, ToolCall: acp.ToolCallUpdate{ToolCallId: acp.ToolCallId(id)},
			Options: []acp.PermissionOption{{Kind: acp.PermissionOptionKindAllowAlways, Name: "always", OptionId: "always"},
				{Kind: acp.PermissionOptionKindAllowOnce, Name: "yes", OptionId: "yes"}, {Kind: acp.PermissionOptionKindRejectOnce, Name: "no", OptionId: "no"}}})
		return err == nil && p.Outcome.Selected != nil && p.Outcome.Selected.OptionId == "yes"
	}
	end := func(id string, status acp.ToolCallStatus) {
		_ = a.update(ctx, s, acp.UpdateToolCall(acp.ToolCallId(id), acp.WithUpdateStatus(status)))
	}
	if may("1", "edit add.go", acp.ToolKindEdit) {
		text, err := a.conn.ReadTextFile(ctx, acp.ReadTextFileRequest{SessionId: s, Path: file})
		if err == nil {
			_, err = a.conn.WriteTextFile(ctx, acp.WriteTextFileRequest{SessionId: s, Path: file, Content: strings.Replace(text.Content, "a - b", "a + b", 1)})
		}
		if err != nil {
			_ = a.say(ctx, s, err.Error())
			return acp.StopReasonRefusal
		}
		end("1", acp.ToolCallStatusCompleted)
	}
	output := "no command"
	if may("2", "run a command", acp.ToolKindExecute) {
		t, err := a.conn.CreateTerminal(ctx, acp.CreateTerminalRequest{SessionId: s, Command: "sh", Args: []string{"-c", "grep -c 'a + b' add.go; env | grep -c SECRET >&2; exit 4"}})
		if err == nil {
			exit, _ := a.conn.WaitForTerminalExit(ctx, acp.WaitForTerminalExitRequest{SessionId: s, TerminalId: t.TerminalId})
			out, _ := a.conn.TerminalOutput(ctx, acp.TerminalOutputRequest{SessionId: s, TerminalId: t.TerminalId})
			_, err = a.conn.ReleaseTerminal(ctx, acp.ReleaseTerminalRequest{SessionId: s, TerminalId: t.TerminalId})
			output = fmt.Sprintf("%s: %d", strings.Join(strings.Fields(out.Output), " "), *exit.ExitCode)
		}
		if err != nil {
			output = err.Error()
		}
		end("2", acp.ToolCallStatusFailed)
	}
	_ = a.say(ctx, s, fmt.Sprintf("```json\n{\"summary\":%q}\n```", output))
	return acp.StopReasonEndTurn
}

// steal asks for what it may not have, and says what it got.
func (a *agent) steal(ctx context.Context, r acp.PromptRequest) acp.StopReason {
	var got []string
	for _, path := range []string{"/etc/hostname", filepath.Join(a.cwd, "../outside"), filepath.Join(a.cwd, "link"), "add.go"} {
		if _, err := a.conn.ReadTextFile(ctx, acp.ReadTextFileRequest{SessionId: r.SessionId, Path: path}); err == nil {
			got = append(got, "read "+path)
		}
		if _, err := a.conn.WriteTextFile(ctx, acp.WriteTextFileRequest{SessionId: r.SessionId, Path: path, Content: "x"}); err == nil {
			got = append(got, "wrote "+path)
		}
	}
	if _, err := a.conn.CreateTerminal(ctx, acp.CreateTerminalRequest{SessionId: r.SessionId, Command: "true", Cwd: acp.Ptr("/")}); err == nil {
		got = append(got, "ran in /")
	}
	t, err := a.conn.CreateTerminal(ctx, acp.CreateTerminalRequest{SessionId: r.SessionId, Command: "setsid sh -c 'while :; do date > alive; sleep 0.1; done' & sleep 60"})
	if err != nil {
		got = append(got, err.Error())
	}
	for i := 0; i < 100; i++ { // until it runs
		if _, err := a.conn.ReadTextFile(ctx, acp.ReadTextFileRequest{SessionId: r.SessionId, Path: filepath.Join(a.cwd, "alive")}); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	_ = t
	_ = a.say(ctx, r.SessionId, fmt.Sprintf(`{"summary":%q}`, "got: "+strings.Join(got, ", ")))
	return acp.StopReasonEndTurn
}

// What the protocol has besides, and this agent has not.

func (a *agent) CloseSession(context.Context, acp.CloseSessionRequest) (acp.CloseSessionResponse, error) {
	return acp.CloseSessionResponse{}, acp.NewMethodNotFound(acp.AgentMethodSessionClose)
}

func (a *agent) ListSessions(context.Context, acp.ListSessionsRequest) (acp.ListSessionsResponse, error) {
	return acp.ListSessionsResponse{}, acp.NewMethodNotFound(acp.AgentMethodSessionList)
}

func (a *agent) ResumeSession(context.Context, acp.ResumeSessionRequest) (acp.ResumeSessionResponse, error) {
	return acp.ResumeSessionResponse{}, acp.NewMethodNotFound(acp.AgentMethodSessionResume)
}

func (a *agent) SetSessionConfigOption(context.Context, acp.SetSessionConfigOptionRequest) (acp.SetSessionConfigOptionResponse, error) {
	return acp.SetSessionConfigOptionResponse{}, acp.NewMethodNotFound(acp.AgentMethodSessionSetConfigOption)
}

func (a *agent) SetSessionMode(_ context.Context, r acp.SetSessionModeRequest) (acp.SetSessionModeResponse, error) {
	if r.ModeId == "nope" {
		return acp.SetSessionModeResponse{}, acp.NewInvalidParams(nil)
	}
	return acp.SetSessionModeResponse{}, nil
}

func (a *agent) UnstableSetSessionModel(context.Context, acp.UnstableSetSessionModelRequest) (acp.UnstableSetSessionModelResponse, error) {
	return acp.UnstableSetSessionModelResponse{}, nil
}
