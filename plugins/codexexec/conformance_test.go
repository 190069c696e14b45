package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/plugins/internal/codexcli"
	"github.com/paxiom/relay/plugins/internal/conformance"
	"github.com/paxiom/relay/plugins/internal/eventtest"
	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/plugintest"
)

// A script with recorded outputs takes the program's place; e2e_test.go has the
// real one.
func TestConformance(t *testing.T) {
	recorded, err := filepath.Abs("../internal/codexcli/testdata")
	if err != nil {
		t.Fatal(err)
	}
	plays := func(name, exit string) json.RawMessage {
		return conformance.Config(`{"command":%q}`, conformance.Program(t,
			`case "$1" in --version) echo codex-cli 0.169.0; exit;; sandbox) exit;; esac; cat > /dev/null; cat '`+recorded+"/"+name+`.jsonl'; exit `+exit))
	}
	task := &sdk.BuildRequest{Prompt: "Make Add add.", Model: "gpt-5.5"}
	conformance.Run(t, conformance.Plugin{
		Info: info(), Part: func() sdk.Part { return newBuilder().part() }, Config: plays("build", "0"),
		Env: []string{"OPENAI_API_KEY=sk-canary-for-conformance"},
		Cases: []plugintest.Case{
			{Name: "build", Build: task},
			{Name: "code mode", Build: task, PluginConfig: plays("build-code-mode", "0")},
			{Name: "bad key", Build: task, PluginConfig: plays("status-401", "1"), WantReason: sdk.AuthRejected},
			{Name: "killed", Build: task, PluginConfig: plays("killed-in-tool", "137"), WantReason: sdk.Internal},
			{Name: "unknown shape", Build: task, PluginConfig: conformance.Config(`{"command":%q}`, conformance.Program(t,
				`case "$1" in --version) echo codex-cli 0.169.0; exit;; sandbox) exit;; esac; cat > /dev/null; echo '{"event":"turn.completed"}'; echo '{"type":"turn.completed"}'`)), WantReason: sdk.Internal},
			{Name: "missing", Build: task, PluginConfig: conformance.Config(`{"command":"/no/such/codex"}`), WantReason: sdk.ToolMissing},
		},
	})
}

// Codex's own sandbox is kept where it works, and left off only inside a strong box.
func TestFence(t *testing.T) {
	program := func(sandbox string) string {
		return conformance.Program(t, `case "$1" in --version) echo codex-cli 0.169.0; exit;; sandbox) `+sandbox+`;; esac
			cat > /dev/null; for a; do [ "$s" = 1 ] && mode=$a; s=0; [ "$a" = -s ] && s=1; done
			echo '{"type":"turn.started"}'; echo '{"type":"item.completed","item":{"type":"agent_message","text":"'$mode'"}}'; echo '{"type":"turn.completed"}'`)
	}
	for name, tc := range map[string]struct{ sandbox, box, config, want string }{
		"works":            {"exit 0", "overlay", "", "workspace-write"},
		"works, no box":    {"exit 0", "", "", "workspace-write"},
		"can't, strong":    {"echo bwrap: uid map >&2; exit 1", "overlay", "", "danger-full-access"},
		"can't, weak":      {"exit 1", "copy", "", ""},
		"can't, no box":    {"exit 1", "", "", ""},
		"off, as asked":    {"exit 0", "", `,"sandbox":"off"`, "danger-full-access"},
		"always, as asked": {"exit 1", "overlay", `,"sandbox":"workspace-write"`, "workspace-write"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("XDG_CACHE_HOME", t.TempDir())
			t.Setenv(codexcli.BoxVariable, tc.box)
			b := newBuilder().part()
			if err := b.Configure(t.Context(), &sdk.Config{JSON: conformance.Config(`{"command":%q`+tc.config+`}`, program(tc.sandbox)), WorkDir: t.TempDir()}); err != nil {
				t.Fatal(err)
			}
			log := &eventtest.Log{}
			res, err := b.Build(t.Context(), &sdk.BuildRequest{Workspace: t.TempDir(), Prompt: "x"}, log)
			if f := sdk.AsFailure(err); tc.want == "" {
				if f == nil || f.Reason != sdk.BadConfig || f.Fix == "" || f.Effect != sdk.EffectNone {
					t.Errorf("got %+v %v", res, err)
				}
				return
			}
			if err != nil || string(res.JSON) != tc.want {
				t.Fatalf("got %+v %v", res, err)
			}
			if told := strings.Contains(log.String(), "the box is the fence"); told != (tc.want == "danger-full-access") {
				t.Errorf("told: %v\n%s", told, log)
			}
		})
	}
}
