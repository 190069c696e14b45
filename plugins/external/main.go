package main

import (
	_ "embed"

	"github.com/paxiom/relay/sdk"
)

var version = "0.1.0"

func main() { sdk.Serve(info(), builder()) }

func info() sdk.Info {
	return sdk.Info{
		Name:         "external",
		Version:      version,
		Summary:      "runs your own program as the builder (task file in, result file out)",
		Aliases:      []string{"cursor"},
		ConfigSchema: configSchema,
	}
}

func builder() sdk.Builder {
	d := &driver{}
	return sdk.Builder{Configure: d.configure, Build: d.build, Health: d.health}
}

//go:embed config.schema.json
var configSchema []byte
