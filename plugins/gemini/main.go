package main

import (
	_ "embed"

	"github.com/paxiom/relay/plugins/internal/clitool"
	"github.com/paxiom/relay/plugins/internal/geminicli"
	"github.com/paxiom/relay/sdk"
)

var version = "0.1.0"

func main() { sdk.Serve(info(), newProvider().part()) }

func info() sdk.Info {
	return sdk.Info{
		Name:         "gemini",
		Version:      version,
		Summary:      "asks Google's Gemini models, through the API or the gemini program",
		Aliases:      []string{"google"},
		Env:          geminicli.Env(),
		Programs:     []string{"gemini"},
		Hosts:        []string{"generativelanguage.googleapis.com", "aiplatform.googleapis.com", "oauth2.googleapis.com"},
		ConfigSchema: clitool.Schema(configSchema, geminicli.SetupSchema),
	}
}

//go:embed config.schema.json
var configSchema []byte
