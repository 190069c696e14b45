package main

import (
	_ "embed"

	"github.com/paxiom/relay/plugins/internal/clitool"
	"github.com/paxiom/relay/plugins/internal/geminicli"
	"github.com/paxiom/relay/sdk"
)

var version = "0.1.0"

func main() { sdk.Serve(info(), newBuilder().part()) }

func info() sdk.Info {
	return sdk.Info{
		Name:         "gemini-cli",
		Version:      version,
		Summary:      "lets Gemini CLI do the task",
		Aliases:      []string{"gemini_cli"},
		Env:          geminicli.Env(),
		Programs:     []string{"gemini"},
		Hosts:        []string{"generativelanguage.googleapis.com", "aiplatform.googleapis.com", "oauth2.googleapis.com"},
		ConfigSchema: clitool.Schema(configSchema, geminicli.SetupSchema),
	}
}

//go:embed config.schema.json
var configSchema []byte
