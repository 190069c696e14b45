package claudecli

import (
	"testing"

	"github.com/paxiom/relay/plugins/internal/drift"
	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/testdata/e2e"
)

// The installed Claude Code prints what the recorded one printed, when the driver calls it.
func TestE2EDrift(t *testing.T) { drift.Play(t, program) }

// What it would ask other hosts is seen.
func TestE2ELoud(t *testing.T) {
	drift.Loud(t, program, func(cli *sdk.CLI) {
		cli.Env = append(cli.Env, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=")
	})
}

func TestDriftCases(t *testing.T) { drift.Cases(t) }

var program = drift.Program{
	Find: e2e.Claude, API: "anthropic", Env: map[string]string{"ANTHROPIC_API_KEY": "sk-test"}, Session: "00000000-0000-4000-8000-000000000001",
	Prepare: func(t *testing.T, c drift.Case, path, repo, private, url string) sdk.CLI {
		call := Call{Setup: Setup{BaseURL: url}, Dir: repo, Prompt: "Say hello", Model: "claude-sonnet-4-5", PermissionMode: "dontAsk", Schema: portable(c.Schema)}
		c.Into(t, &call)
		cli, err := call.prepare(path, private)
		if err != nil {
			t.Fatal(err)
		}
		return cli
	},
}
