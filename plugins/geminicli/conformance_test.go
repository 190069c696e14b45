package main

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/paxiom/relay/plugins/internal/conformance"
	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/plugintest"
)

// A script with recorded outputs takes the program's place; e2e_test.go has the real
// one.
func TestConformance(t *testing.T) {
	recorded, err := filepath.Abs("../internal/geminicli/testdata")
	if err != nil {
		t.Fatal(err)
	}
	plays := func(name, exit string) json.RawMessage {
		return conformance.Config(`{"command":%q}`, conformance.Program(t,
			`[ "$1" != --version ] || { echo 0.61.0; exit; }; cat > /dev/null; cat '`+recorded+"/"+name+`.jsonl'; exit `+exit))
	}
	task := &sdk.BuildRequest{Prompt: "Make Add add.", Model: "gemini-2.5-pro"}
	conformance.Run(t, conformance.Plugin{
		Info: info(), Part: func() sdk.Part { return newBuilder().part() }, Config: plays("build", "0"),
		Env: []string{"GEMINI_API_KEY=AIza-canary-for-conformance"},
		Cases: []plugintest.Case{
			{Name: "build", Build: task},
			{Name: "denied", Build: task, PluginConfig: plays("denied", "0")},
			{Name: "bad key", Build: task, PluginConfig: plays("bad-key", "144"), WantReason: sdk.AuthRejected},
			{Name: "loop", Build: task, PluginConfig: plays("loop", "0"), WantReason: sdk.LimitReached},
			{Name: "no result", Build: task, PluginConfig: plays("terminated-in-tool", "0"), WantReason: sdk.Internal},
			{Name: "turns", Build: task, PluginConfig: plays("max-turns", "53"), WantReason: sdk.LimitReached},
			{Name: "missing", Build: task, PluginConfig: conformance.Config(`{"command":"/no/such/gemini"}`), WantReason: sdk.ToolMissing},
		},
	})
}
