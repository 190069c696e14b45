package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/paxiom/relay/plugins/internal/conformance"
	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/plugintest"
)

func TestConformance(t *testing.T) {
	file := filepath.Join(t.TempDir(), "script.json")
	if err := os.WriteFile(file, []byte(`{"version":1,"calls":[
		{"when":{"prompt":"^limit"},"times":-1,"failure":{"reason":"RATE_LIMITED","summary":"slow down","retry_after":"2s"}},
		{"when":{"prompt":"^quota"},"times":-1,"failure":{"reason":"QUOTA_EXHAUSTED","summary":"used up","reset_in":"1h","limit_name":"five_hour"}},
		{"when":{"prompt":"^slow"},"times":-1,"hang":true},
		{"when":{"prompt":"^json"},"times":-1,"answer":{"output":{"ok":true}},"usage":{"input_tokens":3,"output_tokens":4}},
		{"when":{"prompt":"^prose"},"times":-1,"answer":{"text":"no"}},
		{"when":{"prompt":"^nobody"},"answer":{"text":"no"}},
		{"times":-1,"answer":{"text":"hello"},"usage":{"input_tokens":3,"output_tokens":4,"cost_microusd":5}}]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	say := func(text string) *sdk.CompleteRequest { return ask("orchestrator", text) }
	schema := func(text string) *sdk.CompleteRequest {
		r := say(text)
		r.OutputSchema = json.RawMessage(`{"type":"object","required":["ok"]}`)
		return r
	}
	conformance.Run(t, conformance.Plugin{
		Info: info(), Part: func() sdk.Part { return provider() }, Config: conformance.Config(`{"script":%q}`, file),
		Cases: []plugintest.Case{
			{Name: "answer", Complete: say("hi"), WantText: "hello"},
			{Name: "schema", Complete: schema("json")},
			{Name: "no json", Complete: schema("prose"), WantReason: sdk.BadOutput},
			{Name: "limit", Complete: say("limit"), WantReason: sdk.RateLimited},
			{Name: "quota", Complete: say("quota"), WantReason: sdk.QuotaExhausted},
			{Name: "no script", Complete: say("x"), PluginConfig: json.RawMessage(`{}`), WantReason: sdk.BadConfig},
		},
	})
}
