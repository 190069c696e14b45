package main

import "github.com/paxiom/relay/sdk"

var version = "0.1.0"

func main() { sdk.Serve(info(), builder()) }

func info() sdk.Info {
	return sdk.Info{
		Name:         "patch",
		Version:      version,
		Summary:      "applies the patch that a task carries, exactly or not at all",
		Programs:     []string{"git"},
		ConfigSchema: []byte(configSchema),
	}
}

func builder() sdk.Builder {
	return sdk.Builder{Build: build, Health: health, Configure: configure, Concurrent: true}
}

const configSchema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "properties": {}
}`
