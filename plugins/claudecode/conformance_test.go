package main

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/paxiom/relay/plugins/internal/conformance"
	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/plugintest"
)

// A script with recorded outputs takes the program's place; e2e_test.go has the
// real one.
func TestConformance(t *testing.T) {
	recorded, err := filepath.Abs("../internal/claudecli/testdata")
	if err != nil {
		t.Fatal(err)
	}
	plays := func(name, exit string) json.RawMessage {
		return conformance.Config(`{"command":%q}`, conformance.Program(t, `cat > /dev/null; cat '`+recorded+"/"+name+`.jsonl'; exit `+exit))
	}
	build := func() *sdk.BuildRequest { return &sdk.BuildRequest{Prompt: "do it", System: "be careful"} }
	withSchema := build()
	withSchema.ResultSchema = json.RawMessage(`{"type":"object"}`)
	conformance.Run(t, conformance.Plugin{
		Info: info(), Part: func() sdk.Part { return newBuilder().part() }, Config: plays("build", "0"),
		Env: []string{"ANTHROPIC_API_KEY=sk-ant-canary-for-conformance"},
		Cases: []plugintest.Case{
			{Name: "done", Build: build()},
			{Name: "with a result", Build: withSchema, PluginConfig: plays("schema", "0")},
			{Name: "without a result", Build: withSchema, PluginConfig: plays("schema-ignored", "0")},
			{Name: "turns", Build: withSchema, PluginConfig: plays("max-turns", "1"), WantReason: sdk.LimitReached},
			{Name: "killed", Build: build(), PluginConfig: plays("killed-in-tool", "137"), WantReason: sdk.Internal},
			{Name: "unknown shape", Build: build(), PluginConfig: conformance.Config(`{"command":%q}`, conformance.Program(t, `cat > /dev/null; echo '{"type":"result","outcome":"fine"}'`)), WantReason: sdk.Internal},
			{Name: "overloaded", Build: build(), PluginConfig: plays("overloaded", "1"), WantReason: sdk.Overloaded},
			{Name: "empty prompt", Build: &sdk.BuildRequest{Prompt: " "}, WantReason: sdk.BadRequest},
		},
	})
}
