package geminicli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/plugins/internal/drift"
	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/testdata/e2e"
)

// The installed Gemini CLI prints what the recorded one printed, when the driver calls it.
func TestE2EDrift(t *testing.T) { drift.Play(t, program) }

// What it would ask other hosts is seen.
func TestE2ELoud(t *testing.T) {
	drift.Loud(t, program, func(cli *sdk.CLI) {
		var home string
		for _, entry := range cli.Env {
			if value, ok := strings.CutPrefix(entry, "GEMINI_CLI_HOME="); ok {
				home = value
			}
		}
		file := filepath.Join(home, ".gemini", "settings.json")
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		b = bytes.Replace(b, []byte(`"usageStatisticsEnabled":false`), []byte(`"usageStatisticsEnabled":true`), 1)
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
	})
}

func TestDriftCases(t *testing.T) { drift.Cases(t) }

var program = drift.Program{
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
}
