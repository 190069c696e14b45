package main

import (
	_ "embed"

	"github.com/paxiom/relay/sdk"
)

var version = "0.1.0"

func main() { sdk.Serve(info(), newBuilder().part()) }

func info() sdk.Info {
	return sdk.Info{
		Name:         "acp",
		Version:      version,
		Summary:      "lets an agent that speaks the Agent Client Protocol do the task",
		ConfigSchema: configSchema,
	}
}

//go:embed config.schema.json
var configSchema []byte
