package main

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/paxiom/relay/plugins/internal/conformance"
	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/plugintest"
	"github.com/paxiom/relay/testdata/e2e"
)

// A script with recorded outputs takes the program's place, a scripted server the
// API's; e2e_test.go has the real program.
func TestConformance(t *testing.T) {
	recorded, err := filepath.Abs("../internal/geminicli/testdata")
	if err != nil {
		t.Fatal(err)
	}
	plays := func(name, exit string) json.RawMessage {
		return conformance.Config(`{"transport":"cli","command":%q}`, conformance.Program(t,
			`[ "$1" != --version ] || { echo 0.61.0; exit; }; cat > /dev/null; cat '`+recorded+"/"+name+`.jsonl'; exit `+exit))
	}
	api := func(script string) json.RawMessage {
		return conformance.Config(`{"transport":"api","base_url":%q}`, e2e.Model(t, `{"gemini":`+script+`}`, nil).URL())
	}
	schema := ask("ok?")
	schema.OutputSchema = json.RawMessage(`{"type":"object","required":["verdict"]}`)
	conformance.Run(t, conformance.Plugin{
		Info: info(), Part: func() sdk.Part { return newProvider().part() }, Config: plays("text", "0"),
		Env: []string{"GEMINI_API_KEY=AIza-canary-for-conformance"},
		Cases: []plugintest.Case{
			{Name: "text", Complete: ask("hello"), WantText: "Hello from the fake model."},
			{Name: "recovered", Complete: ask("hello"), PluginConfig: plays("recovered", "0"), WantText: "recovered"},
			{Name: "no schema", Complete: schema, WantReason: sdk.BadOutput},
			{Name: "bad key", Complete: ask("hello"), PluginConfig: plays("bad-key", "144"), WantReason: sdk.AuthRejected},
			{Name: "rate limit", Complete: ask("hello"), PluginConfig: plays("quota-minute", "173"), WantReason: sdk.RateLimited},
			{Name: "quota", Complete: ask("hello"), PluginConfig: plays("quota-day", "173"), WantReason: sdk.QuotaExhausted},
			{Name: "empty", Complete: ask("hello"), PluginConfig: plays("empty", "0"), WantReason: sdk.BadOutput},
			{Name: "loop", Complete: ask("hello"), PluginConfig: plays("loop", "0"), WantReason: sdk.LimitReached},
			{Name: "missing", Complete: ask("hello"), PluginConfig: conformance.Config(`{"transport":"cli","command":"/no/such/gemini"}`), WantReason: sdk.ToolMissing},
			{Name: "api", Complete: ask("hello"), PluginConfig: api(`[{"text":"Hello from the API.","times":-1}]`), WantText: "Hello from the API."},
			{Name: "api, overload", Complete: ask("hello"), PluginConfig: api(`[{"times":-1,"error":{"status":503}}]`), WantReason: sdk.Overloaded},
		},
	})
}
