package main

import (
	_ "embed"

	"github.com/paxiom/relay/sdk"
)

var version = "0.1.0"

func main() { sdk.Serve(info(), provider()) }

func info() sdk.Info {
	return sdk.Info{
		Name:         "replay",
		Version:      version,
		Summary:      "plays a recorded or written script of model answers; no network",
		ConfigSchema: configSchema,
	}
}

func provider() sdk.Provider {
	p := &player{}
	return sdk.Provider{
		Configure: p.configure, Complete: p.complete, Health: p.health,
		OutputSchema: true, ReportsCost: true, ReportsLimits: true, Concurrent: true,
	}
}

//go:embed config.schema.json
var configSchema []byte
