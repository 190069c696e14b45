package main

import (
	_ "embed"

	"github.com/paxiom/relay/plugins/internal/claudecli"
	"github.com/paxiom/relay/plugins/internal/clitool"
	"github.com/paxiom/relay/sdk"
)

var version = "0.1.0"

func main() { sdk.Serve(info(), newBuilder().part()) }

func info() sdk.Info {
	return sdk.Info{
		Name:         "claude-code",
		Version:      version,
		Summary:      "lets Claude Code do the task",
		Aliases:      []string{"claude_code"},
		Env:          claudecli.Env(),
		Programs:     []string{"claude"},
		Hosts:        []string{"api.anthropic.com"},
		ConfigSchema: clitool.Schema(configSchema, claudecli.SetupSchema),
	}
}

//go:embed config.schema.json
var configSchema []byte
