package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/plugins/internal/geminicli"
	"github.com/paxiom/relay/plugins/internal/vendortest"
	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/testdata/e2e"
	"github.com/paxiom/relay/testdata/fakemodel"
)

const (
	key  = "AIza-canary-0815"
	edit = `{"tool":{"name":"replace","input":{"file_path":"add.go","instruction":"mend","old_string":"a - b","new_string":"a + b"}}}`
)

// endTurn is a result as models like to write it.
var endTurn = vendortest.Says("```json\n" + vendortest.Work + "\n```")

func shell(command string) string {
	return fmt.Sprintf(`{"tool":{"name":"run_shell_command","input":{"command":%q,"description":"x"}}}`, command)
}

// workshop is a repository, a scripted model and the builder.
type workshop struct {
	*vendortest.Workshop
	model *fakemodel.Server
}

func open(t *testing.T, script string) *workshop {
	t.Helper()
	gemini := e2e.Gemini(t)
	w := &workshop{Workshop: vendortest.NewWorkshop(t)}
	w.model = e2e.Model(t, `{"gemini":`+script+`}`, map[string]string{"REPO": w.Repo})
	for _, v := range geminicli.Env() {
		t.Setenv(v.Name, "")
	}
	for name, value := range e2e.Env(t, w.model) {
		t.Setenv(name, value)
	}
	t.Setenv("GEMINI_API_KEY", key)
	w.Configure(t, newBuilder().part(), `{"command":%q,"base_url":%q}`, gemini, w.model.URL())
	w.Ask.Model, w.Ask.MaxTurns, w.Ask.IdleTimeout, w.Ask.Timeout = "gemini-2.5-pro", 6, time.Minute, 2*time.Minute
	return w
}

func TestE2EBuilds(t *testing.T) {
	w := open(t, "["+edit+`,{"tool":{"name":"write_file","input":{"file_path":"NEW.md","content":"new\n"}}},`+shell("env > env.txt; git config relay.told >> env.txt; echo oh; false")+","+endTurn+"]")
	res, f := w.Build(t)
	if f != nil {
		t.Fatalf("%v\n%s", f, w.Log)
	}
	if _, err := os.Stat(filepath.Join(w.Repo, "NEW.md")); err != nil || !w.Added(t) {
		t.Error("the edits did not happen")
	}
	if string(res.JSON) != vendortest.Work || res.StopReason != "stop" {
		t.Errorf("result %s, %s", res.JSON, res.StopReason)
	}
	for _, want := range []string{"started gemini-2.5-pro 0.61.", "file add.go", "file NEW.md", "command sh -c env"} {
		if !strings.Contains(w.Log.String(), want) {
			t.Errorf("no %q in the events:\n%s", want, w.Log)
		}
	}
	body := string(e2e.Requests(t, w.model, 1)[0].Body)
	if !strings.Contains(body, "SYSTEM-CANARY") || !strings.Contains(body, "Make Add add.") || strings.Contains(body, "web_fetch") {
		t.Error("a prompt did not arrive, or a tool is there that asks others")
	}
	b, err := os.ReadFile(filepath.Join(w.Repo, "env.txt"))
	if err != nil || !strings.Contains(string(b), "PATH=") || strings.Contains(string(b), key) || !strings.Contains(string(b), "\n"+vendortest.GitSetting+"\n") {
		t.Errorf("the model's shell sees the key, nothing, or not git's setting: %v\n%s", err, b)
	}
}

func TestE2EResultOutOfSchema(t *testing.T) {
	w := open(t, "["+edit+`,{"text":"All done!","times":-1}]`)
	res, f := w.Build(t)
	if f != nil || string(res.JSON) != "All done!" || !w.Added(t) || !strings.Contains(w.Log.String(), "the result of the build can't be used") {
		t.Errorf("%+v %v\n%s", res, f, w.Log)
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
			if tc.timeout > 0 {
				w.Ask.Timeout = tc.timeout
			}
			res, f := w.Build(t)
			tc.Hold(t, res, f)
		})
	}
}

// What the model leaves running ends with the build.
func TestE2ELeavesNothingRunning(t *testing.T) {
	w := open(t, "["+shell("setsid sh -c 'while :; do date > {{REPO}}/alive; sleep 0.1; done' >/dev/null 2>&1 & sleep 1; echo started")+","+endTurn+"]")
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
