package geminicli

import (
	"testing"

	"github.com/paxiom/relay/plugins/internal/drift"
	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/testdata/e2e"
)

// The installed Gemini CLI prints what the recorded one printed, when the driver calls it.
func TestE2EDrift(t *testing.T) {
	drift.Play(t, drift.Program{
		Find: e2e.Gemini, API: "gemini", Env: map[string]string{"GEMINI_API_KEY": "sk-test"}, Session: "session-1",
		Prepare: func(t *testing.T, c drift.Case, path, repo, private, url string) sdk.CLI {
			call := Call{Setup: Setup{BaseURL: url}, Dir: repo, Prompt: "Say hello", Model: "gemini-2.5-pro"}
			c.Into(t, &call)
			cli, err := call.prepare(path, private)
			if err != nil {
				t.Fatal(err)
			}
			return cli
		},
	})
}

func TestDriftCases(t *testing.T) { drift.Cases(t) }
