package main

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/paxiom/relay/plugins/internal/conformance"
	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/plugintest"
)

// The agent is the test binary; acp_test.go has its ways to fail.
func TestConformance(t *testing.T) {
	is := func(kind string) json.RawMessage {
		return conformance.Config(`{"agent":[%q],"env":{%q:%q}}`, os.Args[0], actAs, kind)
	}
	task := &sdk.BuildRequest{Prompt: "Make Add add."}
	conformance.Run(t, conformance.Plugin{
		Info: info(), Part: func() sdk.Part { return newBuilder().part() }, Config: is("empty"),
		Cases: []plugintest.Case{
			{Name: "empty", Build: task},
			{Name: "refused", Build: task, PluginConfig: is("refuses"), WantReason: sdk.Refused},
			{Name: "limited", Build: task, PluginConfig: is("limited"), WantReason: sdk.RateLimited},
			{Name: "no agent", Build: task, PluginConfig: is("no agent"), WantReason: sdk.BadConfig},
			{Name: "none configured", Build: task, PluginConfig: conformance.Config(`{}`), WantReason: sdk.BadConfig},
		},
	})
}
