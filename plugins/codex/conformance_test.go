package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/plugins/internal/conformance"
	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/plugintest"
	"github.com/paxiom/relay/testdata/e2e"
)

// A script with recorded outputs takes the program's place, a scripted server the
// API's; e2e_test.go has the real program.
func TestConformance(t *testing.T) {
	recorded, err := filepath.Abs("../internal/codexcli/testdata")
	if err != nil {
		t.Fatal(err)
	}
	plays := func(name, exit string) json.RawMessage {
		return conformance.Config(`{"transport":"cli","command":%q}`, conformance.Program(t,
			`case "$1" in --version) echo codex-cli 0.169.0; exit;; sandbox) exit;; esac; cat > /dev/null; cat '`+recorded+"/"+name+`.jsonl'; exit `+exit))
	}
	reviews := json.RawMessage(strings.Replace(string(plays("schema-ignored", "0")), `"cli"`, `"review"`, 1))
	api := func(script string) json.RawMessage {
		return conformance.Config(`{"transport":"api","base_url":%q}`, e2e.Model(t, `{"openai":`+script+`}`, nil).URL())
	}
	schema := ask("ok?")
	schema.OutputSchema = json.RawMessage(`{"type":"object","required":["verdict"]}`)
	conformance.Run(t, conformance.Plugin{
		Info: info(), Part: func() sdk.Part { return newProvider().part() }, Config: plays("text", "0"),
		Env: []string{"OPENAI_API_KEY=sk-canary-for-conformance"},
		Cases: []plugintest.Case{
			{Name: "text", Complete: ask("hello"), WantText: "Hello."},
			{Name: "recovered", Complete: ask("hello"), PluginConfig: plays("recovered-429", "0"), WantText: "recovered"},
			{Name: "schema", Complete: schema, PluginConfig: plays("schema", "0")},
			{Name: "no schema", Complete: schema, PluginConfig: plays("schema-ignored", "0"), WantReason: sdk.BadOutput},
			{Name: "bad key", Complete: ask("hello"), PluginConfig: plays("status-401", "1"), WantReason: sdk.AuthRejected},
			{Name: "rate limit", Complete: ask("hello"), PluginConfig: plays("rate-limited", "1"), WantReason: sdk.RateLimited},
			{Name: "no quota", Complete: ask("hello"), PluginConfig: plays("no-quota", "1"), WantReason: sdk.Billing},
			{Name: "empty", Complete: ask("hello"), PluginConfig: plays("empty", "0"), WantReason: sdk.BadOutput},
			{Name: "missing", Complete: ask("hello"), PluginConfig: conformance.Config(`{"transport":"cli","command":"/no/such/codex"}`), WantReason: sdk.ToolMissing},
			{Name: "review in prose", Complete: ask("hello"), PluginConfig: reviews, WantReason: sdk.BadOutput},
			{Name: "api", Complete: ask("hello"), PluginConfig: api(`[{"text":"Hello from the API.","times":-1}]`), WantText: "Hello from the API."},
			{Name: "api, overload", Complete: ask("hello"), PluginConfig: api(`[{"times":-1,"error":{"status":500}}]`), WantReason: sdk.Overloaded},
		},
	})
}
