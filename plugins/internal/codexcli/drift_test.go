package codexcli

import (
	"strings"
	"testing"

	"github.com/paxiom/relay/plugins/internal/drift"
	"github.com/paxiom/relay/plugins/internal/outschema"
	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/testdata/e2e"
)

// The installed Codex prints what the recorded one printed, when the driver calls it.
func TestE2EDrift(t *testing.T) { drift.Play(t, program) }

// What it would ask other hosts is seen.
func TestE2ELoud(t *testing.T) {
	drift.Loud(t, program, func(cli *sdk.CLI) {
		for i, arg := range cli.Args {
			if arg == "plugins" && cli.Args[i-1] == "--disable" {
				cli.Args[i-1] = "--enable"
			}
			cli.Args[i] = strings.Replace(arg, "=false", "=true", 1) // statistics, and the look for a newer version
		}
	})
}

func TestDriftCases(t *testing.T) { drift.Cases(t) }

var program = drift.Program{
	Find: e2e.Codex, API: "openai", Env: map[string]string{"OPENAI_API_KEY": "sk-test"}, Session: "thread-1",
	Prepare: func(t *testing.T, c drift.Case, path, repo, private, url string) sdk.CLI {
		schema, err := outschema.Compile(c.Schema)
		if err != nil {
			t.Fatal(err)
		}
		call := Call{Setup: Setup{Command: path, BaseURL: url + "/v1"}, Dir: repo, Prompt: "Say hello", Model: "gpt-5.5", Sandbox: ReadOnly, Schema: schema}
		c.Into(t, &call)
		program, err := call.Program() // the native one
		if err != nil {
			t.Fatal(err)
		}
		cli, err := call.prepare(program, private)
		if err != nil {
			t.Fatal(err)
		}
		return cli
	},
}
