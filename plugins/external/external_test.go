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

	"github.com/paxiom/relay/plugins/internal/eventtest"
	"github.com/paxiom/relay/sdk"
)

// bench is a workspace with a driver written in shell.
type bench struct {
	dir  string
	part sdk.Builder
	log  *eventtest.Log
}

func set(t *testing.T, driver, more string) *bench {
	t.Helper()
	b := &bench{dir: t.TempDir(), log: &eventtest.Log{}}
	path := filepath.Join(t.TempDir(), "driver")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nset -eu\n"+driver), 0o755); err != nil {
		t.Fatal(err)
	}
	b.part = builder()
	cfg := fmt.Sprintf(`{"command":%q%s}`, path, more)
	if err := b.part.Configure(t.Context(), &sdk.Config{JSON: json.RawMessage(cfg), WorkDir: t.TempDir(), RunID: "run-7"}); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) build(t *testing.T) (*sdk.BuildResult, *sdk.Failure) {
	t.Helper()
	res, err := b.part.Build(t.Context(), &sdk.BuildRequest{
		Workspace: b.dir, Task: json.RawMessage(`{"task_id":"T1"}`), ResultSchema: json.RawMessage(`{"type":"object"}`),
		Prompt: "the prompt", System: "the system", Model: "m-1",
	}, b.log)
	return res, sdk.AsFailure(err)
}

func (b *bench) file(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		return "(" + err.Error() + ")"
	}
	return string(data)
}

const good = `printf '{"summary":"done"}' > "$RELAY_OUTPUT_PATH"` + "\n"

func TestContract(t *testing.T) {
	b := set(t, `
test "$(cat "$RELAY_TASK_PATH")" = '{"task_id":"T1"}'
test "$(cat "$RELAY_SCHEMA_PATH")" = '{"type":"object"}'
test "$(cat "$RELAY_PROMPT_PATH")" = 'the prompt'
test "$(cat "$RELAY_SYSTEM_PATH")" = 'the system'
test "$RELAY_WORKSPACE" = "$(pwd)"
test "$RELAY_RUN_ID $RELAY_MODEL" = "run-7 m-1"
test "$1" = "--task=$RELAY_TASK_PATH"
test "$2" = "$RELAY_OUTPUT_PATH"
test "$3" = 'a b;$(id)'
test "$4" = "$RELAY_WORKSPACE/m-1/run-7"
test -z "${PLUGIN_PROTOCOL_VERSIONS:-}${RELAY_PLUGIN_COOKIE:-}"
test "$(cat)" = ""
echo "working on it"
echo new > made.txt
`+good, `,"args":["--task={{task}}","{{output}}","a b;$(id)","{{workspace}}/{{ model }}/{{run_id}}"]`)
	t.Setenv("RELAY_PLUGIN_COOKIE", "x")
	t.Setenv("PLUGIN_PROTOCOL_VERSIONS", "1")
	res, f := b.build(t)
	if f != nil {
		t.Fatalf("%v\n%s", f, b.log)
	}
	if string(res.JSON) != `{"summary":"done"}` || b.file(t, "made.txt") != "new\n" || !strings.Contains(b.log.String(), "progress driver: working on it") {
		t.Errorf("result %s, events:\n%s", res.JSON, b.log)
	}
}

func TestOutputInTheWorkspace(t *testing.T) {
	const in = `,"output_file":"relais/BUILDER_RESULT.json"`
	t.Run("written", func(t *testing.T) {
		b := set(t, `mkdir -p relais; printf '{"n":1}' > relais/BUILDER_RESULT.json; test "$RELAY_OUTPUT_PATH" = "$PWD/relais/BUILDER_RESULT.json"`, in)
		res, f := b.build(t)
		if f != nil || string(res.JSON) != `{"n":1}` {
			t.Fatalf("%v %v", res, f)
		}
		if _, err := os.Stat(filepath.Join(b.dir, "relais/BUILDER_RESULT.json")); err == nil {
			t.Error("the result was left in the workspace, where it counts as a change")
		}
	})
	t.Run("its folder is missing", func(t *testing.T) {
		b := set(t, `printf '{"n":1}' > "$RELAY_OUTPUT_PATH"`, `,"output_file":"relais/deep/BUILDER_RESULT.json"`)
		if res, f := b.build(t); f != nil || string(res.JSON) != `{"n":1}` {
			t.Fatalf("%v %v", res, f)
		}
		if _, err := os.Lstat(filepath.Join(b.dir, "relais")); err == nil {
			t.Error("the folder was left")
		}
	})
	for name, tc := range map[string]struct{ driver, want string }{
		"stale":    {"true", ""},
		"replaced": {`printf '{"n":2}' > relais/BUILDER_RESULT.json`, `{"n":2}`},
		"failed":   {`printf '{"n":2}' > relais/BUILDER_RESULT.json; exit 3`, "failure"},
	} {
		t.Run(name, func(t *testing.T) {
			b := set(t, `test ! -e relais/BUILDER_RESULT.json; `+tc.driver, in)
			old := filepath.Join(b.dir, "relais/BUILDER_RESULT.json")
			if err := os.MkdirAll(filepath.Dir(old), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(old, []byte(`{"old":true}`), 0o640); err != nil {
				t.Fatal(err)
			}
			res, f := b.build(t)
			switch {
			case (f != nil) != (tc.want == "failure"):
				t.Fatal(f)
			case f == nil && string(res.JSON) != tc.want:
				t.Errorf("result %q", res.JSON)
			}
			info, err := os.Stat(old)
			if err != nil || b.file(t, "relais/BUILDER_RESULT.json") != `{"old":true}` || info.Mode().Perm() != 0o640 {
				t.Errorf("what was there before was not put back: %v %v", info, err)
			}
		})
	}
}

// A driver can say why it failed in the protocol's words; anything else is a bare failure.
func TestDriverReportsALimit(t *testing.T) {
	for said, want := range map[string]sdk.Failure{
		`{"failure":{"reason":"QUOTA_EXHAUSTED","summary":"used up","limit_name":"weekly","reset_in":"5h","effect":"NONE"}}`: {Reason: sdk.QuotaExhausted, Summary: "used up", LimitName: "weekly", Effect: sdk.EffectNone},
		`{"failure":{"reason":"RATE_LIMITED","summary":"slow down","retry_after":"90s"}}`:                                    {Reason: sdk.RateLimited, Summary: "slow down", RetryAfter: 90 * time.Second, Effect: sdk.EffectUnknown},
		`{"failure":{"reason":"TIRED","summary":"zzz"}}`:                                                                     {Reason: sdk.Internal, Summary: "the driver failed with exit code 3", Effect: sdk.EffectUnknown},
		`{"summary":"done"}`: {Reason: sdk.Internal, Summary: "the driver failed with exit code 3", Effect: sdk.EffectUnknown},
	} {
		b := set(t, "printf '%s' '"+said+`' > "$RELAY_OUTPUT_PATH"; exit 3`, "")
		_, f := b.build(t)
		if f == nil || f.Reason != want.Reason || f.Summary != want.Summary || f.Effect != want.Effect || f.RetryAfter != want.RetryAfter || f.LimitName != want.LimitName {
			t.Errorf("%s: %+v", said, f)
		}
		if want.Reason == sdk.QuotaExhausted && time.Until(f.ResetAt) < 4*time.Hour {
			t.Errorf("%s: %v", said, f.ResetAt)
		}
	}
}

func TestResultsThatCannotBeUsed(t *testing.T) {
	for name, tc := range map[string]struct{ driver, says string }{
		"none":     {"true", "was not written"},
		"huge":     {`head -c 2000000 /dev/zero > "$RELAY_OUTPUT_PATH"`, "larger than"},
		"link":     {`echo '{}' > x.json; ln -s "$PWD/x.json" "$RELAY_OUTPUT_PATH"`, "not an ordinary file"},
		"folder":   {`mkdir "$RELAY_OUTPUT_PATH"`, "not an ordinary file"},
		"old date": {good + `touch -d '2020-01-01 00:00:00' "$RELAY_OUTPUT_PATH"`, "before this run"},
		"pipe":     {`mkfifo "$RELAY_OUTPUT_PATH"`, "not an ordinary file"},
	} {
		t.Run(name, func(t *testing.T) {
			b := set(t, tc.driver, "")
			res, f := b.build(t)
			if f != nil || len(res.JSON) != 0 || !strings.Contains(b.log.String(), tc.says) {
				t.Errorf("result %+v, failure %v, events:\n%s", res, f, b.log)
			}
		})
	}
}

// What is no JSON is handed on as it is: the host says what is wrong with it.
func TestResultThatIsNoJSON(t *testing.T) {
	b := set(t, `echo hello > "$RELAY_OUTPUT_PATH"`, "")
	if res, f := b.build(t); f != nil || string(res.JSON) != "hello\n" {
		t.Errorf("result %+v, failure %v", res, f)
	}
}

func TestDriverFails(t *testing.T) {
	b := set(t, "echo why >&2; "+good+"exit 7", "")
	_, f := b.build(t)
	if f == nil || f.Reason != sdk.Internal || f.Effect != sdk.EffectUnknown || !strings.Contains(f.Summary, "exit code 7") || !strings.Contains(f.Detail, "why") {
		t.Errorf("got %+v", f)
	}
}

// The limit ends the driver and what it started, also what left its session.
func TestTimeoutEndsTheWholeTree(t *testing.T) {
	b := set(t, `
sh -c 'echo $$ > child; exec tail -f /dev/null' &
setsid sh -c 'echo $$ > stray; exec tail -f /dev/null' &
while [ ! -s child ] || [ ! -s stray ]; do sleep 0.05; done
echo changed > made.txt
trap '' TERM
while :; do sleep 1; done`, `,"timeout_seconds":2`)
	begun := time.Now()
	_, f := b.build(t)
	if f == nil || f.Reason != sdk.Timeout || f.Effect != sdk.EffectUnknown {
		t.Fatalf("got %v", f)
	}
	if d := time.Since(begun); d > 30*time.Second {
		t.Errorf("it took %v", d)
	}
	for _, name := range []string{"child", "stray"} {
		pid := strings.TrimSpace(b.file(t, name))
		gone := func() bool {
			stat, err := os.ReadFile("/proc/" + pid + "/stat")
			return err != nil || strings.Contains(string(stat), ") Z ")
		}
		for end := time.Now().Add(10 * time.Second); !gone(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("the process %s (%s) is still there", name, pid)
			}
		}
	}
}

func TestCancel(t *testing.T) {
	b := set(t, "echo up > up; exec tail -f /dev/null", "")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for !strings.HasPrefix(b.file(t, "up"), "up") {
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
	}()
	_, err := b.part.Build(ctx, &sdk.BuildRequest{Workspace: b.dir}, b.log)
	if f := sdk.AsFailure(err); f == nil || f.Reason != sdk.Cancelled {
		t.Errorf("got %v", err)
	}
}

func TestConfiguration(t *testing.T) {
	for cfg, says := range map[string]string{
		`{"command":"x","output_file":"../evil.json"}`:  "does not stay",
		`{"command":"x","output_file":"/tmp/x.json"}`:   "does not stay",
		`{"command":"x","args":["{{taks}}"]}`:           "{{taks}}",
		`{"command":"x","shell":"rm -rf"}`:              "shell",
		`{"command":"x","args":["{{ workspace }}/ok"]}`: "",
		`{}`: "",
	} {
		err := builder().Configure(t.Context(), &sdk.Config{JSON: json.RawMessage(cfg)})
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", cfg, err)
		}
	}
	for name, tc := range map[string]struct {
		command string
		want    sdk.Reason
	}{
		"none": {"", sdk.BadConfig}, "missing": {"no-such-driver-anywhere", sdk.ToolMissing}, "in the workspace": {"./drive.sh", 0},
		"missing there": {"./none.sh", sdk.ToolMissing},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "drive.sh"), []byte("#!/bin/sh\n"+good), 0o755); err != nil {
			t.Fatal(err)
		}
		d := builder()
		if err := d.Configure(t.Context(), &sdk.Config{JSON: json.RawMessage(fmt.Sprintf(`{"command":%q}`, tc.command))}); err != nil {
			t.Fatal(err)
		}
		_, err := d.Build(t.Context(), &sdk.BuildRequest{Workspace: dir}, &eventtest.Log{})
		if f := sdk.AsFailure(err); f == nil != (tc.want == 0) || f != nil && f.Reason != tc.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// output_file that names something else than a result is refused and left alone.
func TestOutputFileThatIsSomethingElse(t *testing.T) {
	b := set(t, good, `,"output_file":"src"`)
	if err := os.Mkdir(filepath.Join(b.dir, "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, f := b.build(t); f == nil || f.Reason != sdk.BadConfig || f.Fix == "" {
		t.Errorf("got %v", f)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "src")); err != nil {
		t.Error(err)
	}
}
