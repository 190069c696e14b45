package main

import (
	"testing"

	"github.com/paxiom/relay/plugins/internal/conformance"
	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/plugintest"
)

func TestConformance(t *testing.T) {
	driver := conformance.Program(t, `echo busy; echo x > made.txt; printf '{"summary":"done"}' > "$RELAY_OUTPUT_PATH"`)
	hangs := conformance.Program(t, `setsid tail -f /dev/null & exec tail -f /dev/null`)
	fails := conformance.Program(t, `echo broken >&2; exit 3`)
	conformance.Run(t, conformance.Plugin{
		Info: info(), Part: func() sdk.Part { return builder() }, Config: conformance.Config(`{"command":%q}`, driver),
		Cases: []plugintest.Case{
			{Name: "done", Build: &sdk.BuildRequest{Prompt: "x"}},
			{Name: "too slow", Build: &sdk.BuildRequest{Prompt: "x"}, WantReason: sdk.Timeout, PluginConfig: conformance.Config(`{"command":%q,"timeout_seconds":1}`, hangs)},
			{Name: "fails", Build: &sdk.BuildRequest{Prompt: "x"}, WantReason: sdk.Internal, PluginConfig: conformance.Config(`{"command":%q}`, fails)},
			{Name: "missing", Build: &sdk.BuildRequest{Prompt: "x"}, WantReason: sdk.ToolMissing, PluginConfig: conformance.Config(`{"command":"/no/such/driver"}`)},
			{Name: "no driver", Build: &sdk.BuildRequest{Prompt: "x"}, WantReason: sdk.BadConfig, PluginConfig: conformance.Config(`{}`)},
		},
	})
}
