package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/plugins/internal/eventtest"
	"github.com/paxiom/relay/plugins/internal/geminicli"
	"github.com/paxiom/relay/plugins/internal/vendortest"
	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/testdata/e2e"
	"github.com/paxiom/relay/testdata/fakemodel"
)

const (
	key          = "AIza-canary-0815"
	resultSchema = `{"type":"object","additionalProperties":false,"required":["summary"],"properties":{"summary":{"type":"string","minLength":1}}}`
	endTurn      = `{"text":"` + "```json\\n" + `{\"summary\":\"Add adds now.\"}` + "\\n```" + `","times":-1}`
	edit         = `{"tool":{"name":"replace","input":{"file_path":"add.go","instruction":"mend","old_string":"a - b","new_string":"a + b"}}}`
)

func shell(command string) string {
	return fmt.Sprintf(`{"tool":{"name":"run_shell_command","input":{"command":%q,"description":"x"}}}`, command)
}

// workshop is a repository, a scripted model and the builder.
type workshop struct {
	repo  string
	model *fakemodel.Server
	part  sdk.Builder
	log   *eventtest.Log
}

func open(t *testing.T, script string) *workshop {
	t.Helper()
	gemini := e2e.Gemini(t)
	w := &workshop{repo: filepath.Join(t.TempDir(), "repo"), log: &eventtest.Log{}}
	if err := os.MkdirAll(w.repo, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.repo, "add.go"), []byte("package demo\n\nfunc Add(a, b int) int { return a - b }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "init", "-q", w.repo).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	w.model = e2e.Model(t, `{"gemini":`+script+`}`, map[string]string{"REPO": w.repo})
	for _, v := range geminicli.Env() {
		t.Setenv(v.Name, "")
	}
	for name, value := range e2e.Env(t, w.model) {
		t.Setenv(name, value)
	}
	t.Setenv("GEMINI_API_KEY", key)
	w.part = newBuilder().part()
	cfg := fmt.Sprintf(`{"command":%q,"base_url":%q}`, gemini, w.model.URL())
	if err := w.part.Configure(t.Context(), &sdk.Config{JSON: json.RawMessage(cfg), WorkDir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *workshop) build(t *testing.T, timeout time.Duration) (*sdk.BuildResult, *sdk.Failure) {
	t.Helper()
	res, err := w.part.Build(t.Context(), &sdk.BuildRequest{
		Workspace: w.repo, Model: "gemini-2.5-pro", System: "SYSTEM-CANARY", Prompt: "Make Add add.", MaxTurns: 6,
		ResultSchema: json.RawMessage(resultSchema), IdleTimeout: time.Minute, Timeout: timeout,
	}, w.log)
	return res, sdk.AsFailure(err)
}

func (w *workshop) added(t *testing.T) bool {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(w.repo, "add.go"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(b), "a + b")
}

func TestE2EBuilds(t *testing.T) {
	w := open(t, "["+edit+`,{"tool":{"name":"write_file","input":{"file_path":"NEW.md","content":"new\n"}}},`+shell("env > env.txt; echo oh; false")+","+endTurn+"]")
	res, f := w.build(t, 2*time.Minute)
	if f != nil {
		t.Fatalf("%v\n%s", f, w.log)
	}
	if _, err := os.Stat(filepath.Join(w.repo, "NEW.md")); err != nil || !w.added(t) {
		t.Error("the edits did not happen")
	}
	if string(res.JSON) != `{"summary":"Add adds now."}` || res.StopReason != "stop" {
		t.Errorf("result %s, %s", res.JSON, res.StopReason)
	}
	for _, want := range []string{"started gemini-2.5-pro 0.61.", "file add.go", "file NEW.md", "command sh -c env"} {
		if !strings.Contains(w.log.String(), want) {
			t.Errorf("no %q in the events:\n%s", want, w.log)
		}
	}
	body := string(e2e.Requests(t, w.model, 1)[0].Body)
	if !strings.Contains(body, "SYSTEM-CANARY") || !strings.Contains(body, "Make Add add.") || strings.Contains(body, "web_fetch") {
		t.Error("a prompt did not arrive, or a tool is there that asks others")
	}
	b, err := os.ReadFile(filepath.Join(w.repo, "env.txt"))
	if err != nil || !strings.Contains(string(b), "PATH=") || strings.Contains(string(b), key) {
		t.Errorf("the model's shell sees the key, or nothing: %v", err)
	}
}

func TestE2EResultOutOfSchema(t *testing.T) {
	w := open(t, "["+edit+`,{"text":"All done!","times":-1}]`)
	res, f := w.build(t, 2*time.Minute)
	if f != nil || string(res.JSON) != "All done!" || !w.added(t) || !strings.Contains(w.log.String(), "the result of the build can't be used") {
		t.Errorf("%+v %v\n%s", res, f, w.log)
	}
}

func TestE2EFailures(t *testing.T) {
	glob := func(n int) string {
		return fmt.Sprintf(`{"tool":{"name":"glob","input":{"pattern":"*%d"}}}`, n)
	}
	for name, tc := range map[string]struct {
		script  string
		timeout time.Duration
		vendortest.Want
	}{
		"bad key":          {`[{"times":-1,"error":{"status":401}}]`, 0, vendortest.Want{Reason: sdk.AuthRejected, Effect: sdk.EffectNone}},
		"overload at last": {"[" + edit + `,{"times":-1,"error":{"status":503}}]`, 0, vendortest.Want{Reason: sdk.Overloaded, Effect: sdk.EffectChanged}},
		"again and again":  {`[{"times":-1,"tool":{"name":"read_file","input":{"file_path":"add.go"}}}]`, 0, vendortest.Want{Reason: sdk.LimitReached, Effect: sdk.EffectCharged}},
		"turns":            {"[" + glob(1) + "," + glob(2) + "," + glob(3) + "," + glob(4) + "," + glob(5) + "," + glob(6) + "," + glob(7) + `,{"text":"x","times":-1}]`, 0, vendortest.Want{Reason: sdk.LimitReached}},
		"time":             {"[" + edit + "," + shell("tail -f /dev/null") + `,{"hang":true,"times":-1}]`, 12 * time.Second, vendortest.Want{Reason: sdk.Timeout, Effect: sdk.EffectChanged}},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, tc.script)
			if tc.timeout == 0 {
				tc.timeout = 2 * time.Minute
			}
			res, f := w.build(t, tc.timeout)
			tc.Hold(t, res, f)
		})
	}
}

// What the model leaves running ends with the build.
func TestE2ELeavesNothingRunning(t *testing.T) {
	w := open(t, "["+shell("setsid sh -c 'while :; do date > {{REPO}}/alive; sleep 0.1; done' >/dev/null 2>&1 & sleep 1; echo started")+","+endTurn+"]")
	if _, f := w.build(t, 2*time.Minute); f != nil {
		t.Fatal(f)
	}
	alive := filepath.Join(w.repo, "alive")
	if _, err := os.Stat(alive); err != nil {
		t.Fatalf("the child never ran: %v\n%s", err, w.log)
	}
	if err := os.Remove(alive); err != nil {
		t.Fatal(err)
	}
	time.Sleep(700 * time.Millisecond)
	if _, err := os.Stat(alive); err == nil {
		t.Error("a child of the model's shell lives on")
	}
}
