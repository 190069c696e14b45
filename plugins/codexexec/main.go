package main

import (
	"github.com/paxiom/relay/plugins/internal/codexcli"
	"github.com/paxiom/relay/sdk"
)

var version = "0.1.0"

func main() { sdk.Serve(info(), newBuilder().part()) }

func info() sdk.Info {
	return sdk.Info{
		Name:         "codex-exec",
		Version:      version,
		Summary:      "lets Codex do the task",
		Aliases:      []string{"codex_exec"},
		Env:          codexcli.Env(),
		Programs:     []string{"codex"},
		Hosts:        []string{"api.openai.com", "chatgpt.com", "auth.openai.com"},
		ConfigSchema: []byte(configSchema),
	}
}

const configSchema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "sandbox": {
      "type": "string", "enum": ["auto", "workspace-write", "off"], "default": "auto",
      "description": "Codex's own sandbox around the model's commands. auto: workspace-write where it works, off where it can't be made inside relay's overlay box, and a refusal anywhere else. off: relay's box is the only fence."
    },
    "network_access": {
      "type": "boolean", "default": false,
      "description": "Whether the model's commands may use the network inside Codex's sandbox. Without that sandbox they always may."
    },
    "model": {
      "type": "string",
      "description": "The model when a task names none. Empty: the program's default."
    },
    "effort": {
      "type": "string",
      "description": "How hard the model thinks, in the vendor's words: low, medium, high. Empty: the model's default."
    },` + codexcli.SetupSchema + `
  }
}`
