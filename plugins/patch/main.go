// Command relay-plugin-patch is the builder that applies a unified diff: the one
// that a task carries. It works with any model that can write a patch, and needs
// no model itself.
//
// `git apply` does the work, inside the box, with nothing configured that runs a
// program. The patch applies as a whole or not at all: no fuzz, no merging. A line
// number that is off is tolerated when the lines themselves match, and is noted.
// What the patch did to the tree is judged by the host like any other build; this
// plugin only refuses early what can never be right.
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
