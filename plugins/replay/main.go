package main

import "github.com/paxiom/relay/sdk"

var version = "0.1.0"

func main() { sdk.Serve(info(), provider()) }

func info() sdk.Info {
	return sdk.Info{
		Name:         "replay",
		Version:      version,
		Summary:      "plays a recorded or written script of model answers; no network",
		ConfigSchema: []byte(configSchema),
	}
}

func provider() sdk.Provider {
	p := &player{}
	return sdk.Provider{
		Configure: p.configure, Complete: p.complete, Health: p.health,
		OutputSchema: true, ReportsCost: true, ReportsLimits: true, Concurrent: true,
	}
}

const configSchema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "script": {
      "type": "string", "minLength": 1,
      "description": "The script: a JSON file, or a folder whose *.json files are read in the order of their names. An absolute path, or relative to the folder that relay starts plugins in."
    },
    "remember": {
      "type": "boolean", "default": false,
      "description": "Go on where the last run stopped, instead of starting the script again with each run."
    },
    "strict": {
      "type": "boolean", "default": false,
      "description": "A recorded call answers only the very prompt that it was recorded for."
    }
  }
}`
