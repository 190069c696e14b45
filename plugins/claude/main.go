package main

import (
	_ "embed"

	"github.com/paxiom/relay/plugins/internal/claudecli"
	"github.com/paxiom/relay/plugins/internal/clitool"
	"github.com/paxiom/relay/sdk"
)

var version = "0.1.0"

func main() { sdk.Serve(info(), newProvider().part()) }

func info() sdk.Info {
	return sdk.Info{
		Name:         "claude",
		Version:      version,
		Summary:      "asks Anthropic's Claude models, through the API or the claude program",
		Aliases:      []string{"anthropic"},
		Env:          append(claudecli.Env(), cloudEnv()...),
		Programs:     []string{"claude"},
		Hosts:        []string{"api.anthropic.com", "amazonaws.com", "aiplatform.googleapis.com", "oauth2.googleapis.com"},
		ConfigSchema: clitool.Schema(configSchema, claudecli.SetupSchema),
	}
}

//go:embed config.schema.json
var configSchema []byte
