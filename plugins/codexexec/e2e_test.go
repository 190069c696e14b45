package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/plugins/internal/codexcli"
	"github.com/paxiom/relay/plugins/internal/vendortest"
	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/testdata/e2e"
	"github.com/paxiom/relay/testdata/fakemodel"
)

var endTurn = vendortest.Says(vendortest.Work)

const patch = `{"tool":{"name":"apply_patch","raw":"*** Begin Patch\n*** Update File: add.go\n@@\n-func Add(a, b int) int { return a - b }\n+func Add(a, b int) int { return a + b }\n*** Add File: NEW.md\n+new\n*** End Patch\n"}}`

func shell(command string) string {
	return fmt.Sprintf(`{"tool":{"name":"exec_command","input":{"cmd":%q}}}`, command)
}

// workshop is a repository, a scripted model and the builder.
type workshop struct {
	*vendortest.Workshop
	model *fakemodel.Server
}

func open(t *testing.T, script, config string) *workshop {
	t.Helper()
	codex := e2e.Codex(t)
	w := &workshop{Workshop: vendortest.NewWorkshop(t)}
	w.model = e2e.Model(t, `{"openai":`+script+`}`, map[string]string{"REPO": w.Repo})
	for name, value := range e2e.Env(t, w.model) {
		t.Setenv(name, value)
	}
	for _, v := range codexcli.Env() {
		t.Setenv(v.Name, "")
	}
	t.Setenv("OPENAI_API_KEY", "sk-canary-0815")
	w.Configure(t, newBuilder().part(), `{"command":%q,"base_url":%q%s}`, codex, w.model.URL()+"/v1", config)
	w.Ask.Model, w.Ask.IdleTimeout, w.Ask.Timeout = "gpt-5.5", 30*time.Second, 2*time.Minute
	return w
}

func TestE2EBuilds(t *testing.T) {
	for _, sandbox := range []string{"auto", "off"} {
		t.Run(sandbox, func(t *testing.T) { // as root too: the tests run as whoever runs them
			w := open(t, "["+shell("cat add.go")+","+patch+","+shell("git status --short")+","+endTurn+"]", `,"sandbox":"`+sandbox+`"`)
			t.Setenv(codexcli.BoxVariable, "overlay") // where the sandbox can't be made, a box would be around it
			res, f := w.Build(t)
			if f != nil {
				t.Fatalf("%v\n%s", f, w.Log)
			}
			if _, err := os.Stat(filepath.Join(w.Repo, "NEW.md")); err != nil || !w.Added(t) {
				t.Error("the edits did not happen")
			}
			var doc struct{ Summary string }
			if err := json.Unmarshal(res.JSON, &doc); err != nil || doc.Summary != "Add adds now." {
				t.Errorf("result %s %v", res.JSON, err)
			}
			for _, want := range []string{"started gpt-5.5 0.169.0", "file add.go", "file NEW.md", "git status --short", ": 0"} {
				if !strings.Contains(w.Log.String(), want) {
					t.Errorf("no %q in the events:\n%s", want, w.Log)
				}
			}
			if _, priced := res.Usage.CostMicroUSD.Value(); priced {
				t.Errorf("usage %+v", res.Usage)
			}
			if body := string(e2e.Requests(t, w.model, 1)[0].Body); !strings.Contains(body, "SYSTEM-CANARY") || !strings.Contains(body, "Make Add add.") {
				t.Error("a prompt did not arrive")
			}
			if got := strings.Contains(w.Log.String(), "without its own sandbox"); sandbox == "off" && !got {
				t.Errorf("the missing sandbox is not told:\n%s", w.Log)
			}
		})
	}
}

// The model's shell does not see the key, but relay's settings for git.
func TestE2EShellSeesNoKey(t *testing.T) {
	w := open(t, "["+shell("env > env.txt; git config relay.told >> env.txt; cat /proc/$PPID/comm; true")+","+endTurn+"]", `,"sandbox":"off"`)
	if _, f := w.Build(t); f != nil {
		t.Fatal(f)
	}
	b, err := os.ReadFile(filepath.Join(w.Repo, "env.txt"))
	if err != nil || !strings.Contains(string(b), "PATH=") {
		t.Fatalf("%v %s", err, b)
	}
	if strings.Contains(string(b), "sk-canary-0815") || !strings.Contains(string(b), "\n"+vendortest.GitSetting+"\n") {
		t.Errorf("the model's shell has the key, or not git's setting:\n%s", b)
	}
}

// A command that fails inside a turn that completes is told.
func TestE2EFailedCommandIsTold(t *testing.T) {
	w := open(t, "["+shell("echo oh no; exit 3")+","+endTurn+"]", `,"sandbox":"off"`)
	if _, f := w.Build(t); f != nil {
		t.Fatal(f)
	}
	if !strings.Contains(w.Log.String(), "notice inside the turn: the command") || !strings.Contains(w.Log.String(), "ended with 3: oh no") {
		t.Errorf("events:\n%s", w.Log)
	}
}

func TestE2EResultOutOfSchema(t *testing.T) {
	w := open(t, "["+patch+`,{"text":"All done!","times":-1}]`, `,"sandbox":"off"`)
	res, f := w.Build(t)
	if f != nil || string(res.JSON) != "All done!" || !w.Added(t) || !strings.Contains(w.Log.String(), "the result of the build can't be used") {
		t.Errorf("%+v %v\n%s", res, f, w.Log)
	}
}

func TestE2EFailures(t *testing.T) {
	for name, tc := range map[string]struct {
		script  string
		timeout time.Duration
		reason  sdk.Reason
		effect  sdk.Effect
	}{
		"bad key":          {`[{"times":-1,"error":{"status":401}}]`, 0, sdk.AuthRejected, sdk.EffectNone},
		"overload at last": {"[" + patch + `,{"times":-1,"error":{"status":500}}]`, 0, sdk.Overloaded, sdk.EffectChanged},
		"time":             {"[" + patch + "," + shell("tail -f /dev/null") + `,{"hang":true,"times":-1}]`, 6 * time.Second, sdk.Timeout, sdk.EffectChanged},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, tc.script, `,"sandbox":"off"`)
			if tc.timeout > 0 {
				w.Ask.Timeout = tc.timeout
			}
			if _, f := w.Build(t); f == nil || f.Reason != tc.reason || f.Effect != tc.effect {
				t.Errorf("got %+v\n%s", f, w.Log)
			}
		})
	}
}

// What the model leaves running ends with the build, also without the sandbox.
func TestE2ELeavesNothingRunning(t *testing.T) {
	w := open(t, "["+shell("setsid sh -c 'while :; do date > {{REPO}}/alive; sleep 0.1; done' >/dev/null 2>&1 & sleep 1; echo started")+","+endTurn+"]", `,"sandbox":"off"`)
	if _, f := w.Build(t); f != nil {
		t.Fatal(f)
	}
	alive := filepath.Join(w.Repo, "alive")
	if _, err := os.Stat(alive); err != nil {
		t.Fatalf("the child never ran: %v\n%s", err, w.Log)
	}
	if err := os.Remove(alive); err != nil {
		t.Fatal(err)
	}
	time.Sleep(700 * time.Millisecond)
	if _, err := os.Stat(alive); err == nil {
		t.Error("a child of the model's shell lives on")
	}
}
