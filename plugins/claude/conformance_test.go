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

// A script with recorded outputs takes the program's place; e2e_test.go has the
// real one.
func TestConformance(t *testing.T) {
	recorded, err := filepath.Abs("../internal/claudecli/testdata")
	if err != nil {
		t.Fatal(err)
	}
	plays := func(name, exit string) json.RawMessage {
		// The recorded limit ends on a day that passes; a rule wants it in the future.
		return conformance.Config(`{"transport":"cli","command":%q}`, conformance.Program(t,
			`cat > /dev/null; sed 's/"resetsAt":1795240800/"resetsAt":4102444800/' '`+recorded+"/"+name+`.jsonl'; exit `+exit))
	}
	api := func(script string) json.RawMessage {
		return conformance.Config(`{"transport":"api","base_url":%q}`, e2e.Model(t, `{"anthropic":`+script+`}`, nil).URL())
	}
	schema := ask("ok?")
	schema.OutputSchema = json.RawMessage(`{"type":"object","required":["verdict"]}`)
	conformance.Run(t, conformance.Plugin{
		Info: info(), Part: func() sdk.Part { return newProvider().part() }, Config: plays("text", "0"),
		Env: []string{"ANTHROPIC_API_KEY=sk-ant-canary-for-conformance"},
		Cases: []plugintest.Case{
			{Name: "text", Complete: ask("hello"), WantText: "Hello from the fake model."},
			{Name: "streamed", Complete: ask("hello"), PluginConfig: plays("partial", "0")},
			{Name: "schema", Complete: schema, PluginConfig: plays("schema", "0")},
			{Name: "no schema", Complete: schema, PluginConfig: plays("schema-ignored", "0"), WantReason: sdk.BadOutput},
			{Name: "rate limit", Complete: ask("hello"), PluginConfig: plays("rate-limited", "1"), WantReason: sdk.RateLimited},
			{Name: "usage limit", Complete: ask("hello"), PluginConfig: plays("usage-limit", "1"), WantReason: sdk.QuotaExhausted},
			{Name: "no credit", Complete: ask("hello"), PluginConfig: plays("billing", "1"), WantReason: sdk.Billing},
			{Name: "missing", Complete: ask("hello"), PluginConfig: conformance.Config(`{"transport":"cli","command":"/no/such/claude"}`), WantReason: sdk.ToolMissing},
			{Name: "api", Complete: ask("hello"), PluginConfig: api(`[{"text":"Hello from the API.","times":-1}]`), WantText: "Hello from the API."},
			{Name: "api, no model", Complete: ask("hello"), PluginConfig: api(`[{"times":-1,"error":{"status":404}}]`), WantReason: sdk.ModelUnknown},
			{Name: "api, overload", Complete: ask("hello"), PluginConfig: api(`[{"times":-1,"error":{"status":529}}]`), WantReason: sdk.Overloaded},
			{Name: "api, cut", Complete: ask("hello"), PluginConfig: api(`[{"text":"cut","stop_reason":"max_tokens","times":-1}]`), WantReason: sdk.TooLarge},
		},
	})
}
