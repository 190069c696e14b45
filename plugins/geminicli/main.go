package main

import (
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
		ConfigSchema: []byte(configSchema),
	}
}

const configSchema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "model": {
      "type": "string",
      "description": "The model when a task names none. Empty: the program chooses one for each prompt, with one more request."
    },
    "max_turns": {
      "type": "integer", "minimum": 1, "maximum": 200, "default": 20,
      "description": "Turns of a build when the task names no number."
    },` + geminicli.SetupSchema + `
  }
}`
