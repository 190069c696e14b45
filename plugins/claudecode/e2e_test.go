package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/plugins/internal/vendortest"
	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/testdata/e2e"
	"github.com/paxiom/relay/testdata/fakemodel"
)

// workshop is a repository, a scripted model and the builder.
type workshop struct {
	*vendortest.Workshop
	model *fakemodel.Server
}

func open(t *testing.T, script, config string) *workshop {
	t.Helper()
	claude := e2e.Claude(t)
	w := &workshop{Workshop: vendortest.NewWorkshop(t)}
	w.model = e2e.Model(t, `{"anthropic":`+script+`}`, map[string]string{"REPO": w.Repo})
	for name, value := range e2e.Env(t, w.model) {
		t.Setenv(name, value)
	}
	t.Setenv("ANTHROPIC_API_KEY", "sk-test")
	w.Configure(t, newBuilder().part(), `{"command":%q,"base_url":%q%s}`, claude, w.model.URL(), config)
	w.Ask.Model, w.Ask.MaxTurns, w.Ask.IdleTimeout, w.Ask.Timeout = "claude-sonnet-4-5", 8, 20*time.Second, 2*time.Minute
	return w
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

const (
	readTurn = `{"tool":{"name":"Read","input":{"file_path":"{{REPO}}/add.go"}}}`
	editTurn = `{"text":"I will mend it.","tool":{"name":"Edit","input":{"file_path":"{{REPO}}/add.go","old_string":"a - b","new_string":"a + b"}}}`
	endTurn  = `{"tool":{"name":"StructuredOutput","input":` + vendortest.Work + `},"times":-1}`
)

func bash(command string) string {
	return fmt.Sprintf(`{"tool":{"name":"Bash","input":{"command":%q,"description":"x"}}}`, command)
}

func TestE2EBuilds(t *testing.T) {
	for _, mode := range []string{"acceptEdits", "bypassPermissions"} {
		t.Run(mode, func(t *testing.T) { // as root too: the tests run as whoever runs them
			w := open(t, "["+readTurn+","+editTurn+","+bash("git status --short")+","+bash("git config relay.told > told.txt")+`,{"tool":{"name":"Write","input":{"file_path":"{{REPO}}/NEW.md","content":"new\n"}}},`+endTurn+"]", `,"permission_mode":"`+mode+`"`)
			res, f := w.Build(t)
			if f != nil {
				t.Fatal(f)
			}
			if _, err := os.Stat(filepath.Join(w.Repo, "NEW.md")); err != nil || !w.Added(t) {
				t.Error("the edits did not happen")
			}
			if told, err := os.ReadFile(filepath.Join(w.Repo, "told.txt")); string(told) != vendortest.GitSetting+"\n" {
				t.Errorf("git's settings: %q, %v", told, err)
			}
			var doc struct{ Summary string }
			if err := json.Unmarshal(res.JSON, &doc); err != nil || doc.Summary != "Add adds now." {
				t.Errorf("result %s %v", res.JSON, err)
			}
			for _, want := range []string{"started claude-sonnet-4-5 2.1.", "file add.go", "file NEW.md", "command sh -c git status --short", "command sh -c git status --short: 0"} {
				if !strings.Contains(w.Log.String(), want) {
					t.Errorf("no %q in the events:\n%s", want, w.Log)
				}
			}
			if cost, known := res.Usage.CostMicroUSD.Value(); !known || cost == 0 {
				t.Errorf("usage %+v", res.Usage)
			}
			if body := string(w.model.Requests()[0].Body); !strings.Contains(body, "SYSTEM-CANARY") || !strings.Contains(body, "Make Add add.") {
				t.Error("a prompt did not arrive")
			}
		})
	}
}

func TestE2ELimits(t *testing.T) {
	t.Run("turns", func(t *testing.T) {
		w := open(t, "["+readTurn+","+editTurn+`,`+readTurn[:len(readTurn)-1]+`,"times":-1}]`, "")
		w.Ask.MaxTurns = 2
		_, f := w.Build(t)
		if f == nil || f.Reason != sdk.LimitReached || f.Effect != sdk.EffectChanged || f.LimitName != "max_turns" || !w.Added(t) {
			t.Errorf("got %+v, edited %v", f, w.Added(t))
		}
	})
	t.Run("dollars", func(t *testing.T) {
		w := open(t, `[`+readTurn[:len(readTurn)-1]+`,"times":-1,"usage":{"input":100000,"output":20000}}]`, "")
		w.Ask.MaxCostMicroUSD = 500000
		if _, f := w.Build(t); f == nil || f.Reason != sdk.LimitReached || f.LimitName != "max_budget_usd" {
			t.Errorf("got %v", f)
		}
	})
	t.Run("time", func(t *testing.T) {
		for limit := 6 * time.Second; ; limit *= 3 { // on a busy machine it edits later
			w := open(t, "["+editTurnAfterRead()+","+bash("tail -f /dev/null")+"]", "")
			w.Ask.Timeout = limit
			_, f := w.Build(t)
			if f == nil || f.Reason != sdk.Timeout || w.Added(t) != (f.Effect == sdk.EffectChanged) {
				t.Fatalf("edited %v, got %+v", w.Added(t), f)
			}
			if w.Added(t) {
				return
			} else if limit > time.Minute {
				t.Fatalf("nothing is edited within %v", limit)
			}
		}
	})
}

func editTurnAfterRead() string { return readTurn + "," + editTurn }

// A model that never gives its result in the schema has worked all the same.
func TestE2EWorkWithoutResult(t *testing.T) {
	w := open(t, "["+readTurn+","+editTurn+`,{"text":"Done, no JSON today.","times":-1}]`, "")
	res, f := w.Build(t)
	if f != nil {
		t.Fatal(f)
	}
	if string(res.JSON) != "Done, no JSON today." || !w.Added(t) || !strings.Contains(w.Log.String(), "can't be used") {
		t.Errorf("result %q, events:\n%s", res.JSON, w.Log)
	}
}

func TestE2EDenials(t *testing.T) {
	w := open(t, `[{"tool":{"name":"Write","input":{"file_path":"{{REPO}}/NEW.md","content":"x"}}},`+endTurn+`]`,
		`,"permission_mode":"dontAsk","allowed_tools":"Read,Write(src/**)"`)
	if _, f := w.Build(t); f != nil {
		t.Fatal(f)
	}
	if !strings.Contains(w.Log.String(), "notice claude was not allowed: Write ") {
		t.Errorf("events:\n%s", w.Log)
	}
}

// Nothing that the repository or the user planted is loaded.
func TestE2EIsolation(t *testing.T) {
	w := open(t, "["+endTurn+"]", "")
	canary := filepath.Join(t.TempDir(), "ran")
	hooks := `{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"touch ` + canary + `"}]}]}}`
	mcp := `{"mcpServers":{"evil":{"command":"touch","args":["` + canary + `"]}}}`
	for name, text := range map[string]string{
		"CLAUDE.md": "MEMORY-CANARY", "AGENTS.md": "MEMORY-CANARY", ".claude/settings.json": hooks, ".claude/settings.local.json": hooks,
		".mcp.json": mcp, ".claude/agents/x.md": "---\nname: x\ndescription: MEMORY-CANARY\n---\nx", ".claude/skills/s/SKILL.md": "---\nname: s\ndescription: MEMORY-CANARY\n---\nx",
	} {
		write(t, filepath.Join(w.Repo, name), text)
	}
	write(t, filepath.Join(os.Getenv("HOME"), ".claude/settings.json"), hooks)
	write(t, filepath.Join(os.Getenv("HOME"), ".claude/CLAUDE.md"), "MEMORY-CANARY")
	if _, f := w.Build(t); f != nil {
		t.Fatal(f)
	}
	if _, err := os.Stat(canary); err == nil {
		t.Error("planted code ran")
	}
	if body := string(w.model.Requests()[0].Body); strings.Contains(body, "MEMORY-CANARY") {
		t.Error("planted memory was sent")
	}
}

// Nothing of a build outlives it: not what the model put in the background, not
// what left the session.
func TestE2ENothingStays(t *testing.T) {
	mark := fmt.Sprintf("left-%d", os.Getpid())
	pid := filepath.Join(t.TempDir(), "pid") // shows that the process was there
	sleeper := "bash -c 'echo $$ > " + pid + "; exec -a " + mark + " tail -f /dev/null'"
	detached := func(how string) string {
		return bash(how + " " + sleeper + " >/dev/null 2>&1 & sleep 0.5; echo started")
	}
	for name, tc := range map[string]struct {
		turns  string
		cancel bool
	}{
		"nohup":  {detached("nohup") + "," + endTurn, false},
		"setsid": {detached("setsid") + "," + endTurn, false},
		"cancel": {bash(sleeper) + "," + endTurn, true},
	} {
		t.Run(name, func(t *testing.T) {
			os.Remove(pid)
			w := open(t, "["+tc.turns+"]", `,"permission_mode":"bypassPermissions"`)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			ended := make(chan error, 1)
			go func() {
				r := w.Ask
				r.Timeout = 45 * time.Second
				_, err := w.Part.Build(ctx, &r, w.Log)
				ended <- err
			}()
			if tc.cancel {
				for end := time.Now().Add(30 * time.Second); len(running(t, mark)) == 0 && time.Now().Before(end); {
					time.Sleep(20 * time.Millisecond)
				}
				stop()
			}
			select {
			case <-ended:
			case <-time.After(time.Minute):
				t.Fatal("the build does not end")
			}
			if _, err := os.Stat(pid); err != nil {
				t.Fatalf("the process never ran; events:\n%s", w.Log)
			}
			for end := time.Now().Add(10 * time.Second); len(running(t, mark)) > 0; time.Sleep(20 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("processes are left: %v", running(t, mark))
				}
			}
		})
	}
}

// running are the processes whose first argument is the mark.
func running(t *testing.T, mark string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && strings.HasPrefix(string(b), mark+"\x00") {
			found = append(found, f)
		}
	}
	return found
}

// Nothing goes to the background, where it would keep the program for ten minutes:
// the model can't ask for it, and a command at its time limit is ended.
func TestE2EBackgroundIsOff(t *testing.T) {
	asked := `{"tool":{"name":"Bash","input":{"command":"tail -f /dev/null","description":"x","run_in_background":true}}}`
	slow := `{"tool":{"name":"Bash","input":{"command":"tail -f /dev/zero > /dev/null","description":"x","timeout":1500}}}`
	w := open(t, "["+asked+","+slow+","+endTurn+"]", `,"permission_mode":"bypassPermissions"`)
	if _, f := w.Build(t); f != nil {
		t.Fatal(f)
	}
	for _, want := range []string{"command sh -c tail -f /dev/null: 1", "command sh -c tail -f /dev/zero > /dev/null: 1"} {
		if !strings.Contains(w.Log.String(), want) {
			t.Errorf("no %q in the events:\n%s", want, w.Log)
		}
	}
}
