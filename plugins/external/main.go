package main

import "github.com/paxiom/relay/sdk"

var version = "0.1.0"

func main() { sdk.Serve(info(), builder()) }

func info() sdk.Info {
	return sdk.Info{
		Name:         "external",
		Version:      version,
		Summary:      "runs a program of yours as the builder (task file in, result file out)",
		Aliases:      []string{"cursor"},
		ConfigSchema: []byte(configSchema),
	}
}

func builder() sdk.Builder {
	d := &driver{}
	return sdk.Builder{Configure: d.configure, Build: d.build, Health: d.health}
}

const configSchema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "command": {
      "type": "string", "minLength": 1,
      "description": "The driver: a name that is in PATH, an absolute path, or a path with a slash that is relative to the workspace."
    },
    "args": {
      "type": "array", "items": { "type": "string" }, "maxItems": 256,
      "description": "Its arguments. {{task}}, {{output}}, {{workspace}}, {{schema}}, {{prompt}}, {{system}}, {{model}} and {{run_id}} are replaced."
    },
    "timeout_seconds": {
      "type": "integer", "minimum": 0, "maximum": 86400, "default": 0,
      "description": "The driver and all its children are ended after so long. 0: only the build's own limit holds."
    },
    "output_file": {
      "type": "string",
      "description": "Where the driver writes its result, relative to the workspace. Empty: a private file outside the workspace."
    }
  }
}`
