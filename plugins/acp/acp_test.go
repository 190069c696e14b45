package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/plugins/internal/vendortest"
	"github.com/paxiom/relay/sdk"
)

const resultSchema = `{"type":"object","additionalProperties":false,"required":["summary"],"properties":{"summary":{"type":"string","minLength":1}}}`

func open(t *testing.T, kind, more string) *vendortest.Workshop {
	t.Helper()
	return with(t, fmt.Sprintf(`{"agent":[%q],"env":{%q:%q}%s}`, os.Args[0], actAs, kind, more))
}

func with(t *testing.T, config string) *vendortest.Workshop {
	t.Helper()
	w := vendortest.NewWorkshop(t)
	w.Configure(t, newBuilder().part(), "%s", config)
	w.Ask.ResultSchema, w.Ask.IdleTimeout = json.RawMessage(resultSchema), 20*time.Second
	return w
}

func TestBuilds(t *testing.T) {
	t.Setenv("MY_SECRET_KEY", "canary") // the agent has it, its commands do not
	for name, tc := range map[string]struct{ more, summary, events string }{
		"allow":        {"", "1 0: 4", "command sh -c"},
		"edits":        {`,"permissions":"edits"`, "no command", "notice the agent was not allowed: run a command"},
		"reject":       {`,"permissions":"reject"`, "no command", "notice the agent was not allowed: edit add.go"},
		"no terminal":  {`,"terminal":false`, "Method not found", "file add.go"},
		"listed model": {`,"model":"large"`, "1 0: 4", "started large tester 1.2.3"},
		"other model":  {`,"model":"huge"`, "1 0: 4", "notice the agent does not list the model huge"},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, "good", tc.more)
			res, f := w.Build(t)
			if f != nil {
				t.Fatalf("%v\n%s", f, w.Log)
			}
			b, err := os.ReadFile(filepath.Join(w.Repo, "add.go"))
			if err != nil || strings.Contains(string(b), "a + b") == (name == "reject") {
				t.Errorf("the file is now %s %v", b, err)
			}
			if !strings.HasPrefix(string(res.JSON), `{"summary":"`) || !strings.Contains(string(res.JSON), tc.summary) || res.StopReason != "end_turn" {
				t.Errorf("result %s %s", res.JSON, res.StopReason)
			}
			if !strings.Contains(w.Log.String(), tc.events) {
				t.Errorf("no %q in the events:\n%s", tc.events, w.Log)
			}
			if in, known := res.Usage.Input.Value(); !known || in != 100 {
				t.Errorf("usage %+v", res.Usage)
			}
		})
	}
}

// Files and commands outside of the workspace are not served, links lead nowhere, and
// what a command leaves behind ends with the build.
func TestServesTheWorkspaceOnly(t *testing.T) {
	w := open(t, "thief", "")
	if err := os.WriteFile(filepath.Join(w.Repo, "../outside"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../outside", filepath.Join(w.Repo, "link")); err != nil {
		t.Fatal(err)
	}
	res, f := w.Build(t)
	if f != nil || string(res.JSON) != `{"summary":"got: "}` {
		t.Fatalf("%+v %v", res, f)
	}
	alive := filepath.Join(w.Repo, "alive")
	if err := os.Remove(alive); err != nil {
		t.Fatal(err)
	}
	time.Sleep(500 * time.Millisecond)
	if _, err := os.Stat(alive); err == nil {
		t.Error("a command lives on")
	}
}

func TestBadEnds(t *testing.T) {
	for kind, want := range map[string]vendortest.Want{
		"no agent":      {Reason: sdk.BadConfig, Effect: sdk.EffectNone, Check: func(f *sdk.Failure) bool { return strings.Contains(f.Detail, "unknown option") }},
		"other version": {Reason: sdk.ToolMissing, Effect: sdk.EffectNone},
		"locked":        {Reason: sdk.NotLoggedIn, Effect: sdk.EffectNone, Check: func(f *sdk.Failure) bool { return strings.Contains(f.Fix, "by-hand") }},
		"refuses":       {Reason: sdk.Refused, Effect: sdk.EffectUnknown},
		"turns":         {Reason: sdk.LimitReached, Effect: sdk.EffectUnknown},
		"limited":       {Reason: sdk.RateLimited, Effect: sdk.EffectNone, Check: func(f *sdk.Failure) bool { return f.UpstreamCode == "429" }},
		"crash":         {Reason: sdk.Internal, Effect: sdk.EffectCharged, Check: func(f *sdk.Failure) bool { return strings.Contains(f.Detail, "oh no") }},
		"garbage":       {Reason: sdk.Internal, Effect: sdk.EffectUnknown},
		"mute":          {Reason: sdk.Timeout, Effect: sdk.EffectNone},
		"hang":          {Reason: sdk.Timeout, Effect: sdk.EffectUnknown},
		"flood":         {Reason: sdk.Timeout, Effect: sdk.EffectCharged},
	} {
		t.Run(kind, func(t *testing.T) {
			w := open(t, kind, "")
			switch kind {
			case "mute":
				w.Ask.IdleTimeout = time.Second
			case "hang": // long enough for a busy machine to come so far
				w.Ask.IdleTimeout = 5 * time.Second
			case "flood":
				w.Ask.Timeout = 8 * time.Second
			}
			res, f := w.Build(t)
			if kind == "flood" && f != nil && f.Reason == sdk.Internal { // the library gave the talk up
				return
			}
			want.Hold(t, res, f)
		})
	}
}

func TestLogsIn(t *testing.T) {
	w := open(t, "locked", `,"auth_method":"by-hand"`)
	if _, f := w.Build(t); f != nil {
		t.Error(f)
	}
	_, f := open(t, "good", `,"mode":"nope"`).Build(t)
	vendortest.Want{Reason: sdk.BadConfig, Effect: sdk.EffectNone}.Hold(t, nil, f)
}

func TestEmptyAnswer(t *testing.T) {
	w := open(t, "empty", "")
	res, f := w.Build(t)
	if f != nil || len(res.JSON) != 0 || !strings.Contains(w.Log.String(), "notice the agent ended without an answer") {
		t.Errorf("%+v %v\n%s", res, f, w.Log)
	}
}

func TestCancel(t *testing.T) {
	w := open(t, "hang", "")
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(700*time.Millisecond, cancel)
	begin := time.Now()
	res, err := w.Part.Build(ctx, &w.Ask, w.Log)
	vendortest.Want{Reason: sdk.Cancelled}.Hold(t, res, sdk.AsFailure(err))
	if d := time.Since(begin); d > 10*time.Second {
		t.Errorf("it took %v", d)
	}
}

func TestHealth(t *testing.T) {
	h, err := open(t, "good", "").Part.Health(t.Context(), true)
	if err != nil || !strings.Contains(h.Detail, "tester 1.2.3") {
		t.Errorf("%+v %v", h, err)
	}
	_, err = with(t, `{}`).Part.Health(t.Context(), false)
	vendortest.Want{Reason: sdk.BadConfig}.Hold(t, nil, sdk.AsFailure(err))
	_, err = with(t, `{"agent":["/no/such/agent"]}`).Part.Health(t.Context(), false)
	vendortest.Want{Reason: sdk.ToolMissing}.Hold(t, nil, sdk.AsFailure(err))
}

// The example agent of the library, built as it is: it asks for a permission and
// changes nothing.
func TestExampleAgent(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: the example pauses for seconds")
	}
	path := filepath.Join(t.TempDir(), "agent")
	if out, err := exec.Command("go", "build", "-o", path, "github.com/coder/acp-go-sdk/example/agent").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	w := with(t, fmt.Sprintf(`{"agent":[%q]}`, path))
	res, f := w.Build(t)
	if f != nil || !strings.Contains(string(res.JSON), "successfully updated the configuration") {
		t.Errorf("%+v %v\n%s", res, f, w.Log)
	}
}
