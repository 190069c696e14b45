package main

import (
	_ "embed"

	"github.com/paxiom/relay/plugins/internal/clitool"
	"github.com/paxiom/relay/plugins/internal/codexcli"
	"github.com/paxiom/relay/sdk"
)

var version = "0.1.0"

func main() { sdk.Serve(info(), newProvider().part()) }

func info() sdk.Info {
	return sdk.Info{
		Name:         "codex",
		Version:      version,
		Summary:      "asks OpenAI's models, through the API or the codex program",
		Aliases:      []string{"openai"},
		Env:          codexcli.Env(),
		Programs:     []string{"codex"},
		Hosts:        []string{"api.openai.com", "chatgpt.com", "auth.openai.com"},
		ConfigSchema: clitool.Schema(configSchema, codexcli.SetupSchema),
	}
}

//go:embed config.schema.json
var configSchema []byte
