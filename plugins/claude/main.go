package main

import (
	"github.com/paxiom/relay/plugins/internal/claudecli"
	"github.com/paxiom/relay/sdk"
)

var version = "0.1.0"

func main() { sdk.Serve(info(), newProvider().part()) }

func info() sdk.Info {
	return sdk.Info{
		Name:         "claude",
		Version:      version,
		Summary:      "asks Anthropic's Claude models, through the claude program",
		Aliases:      []string{"anthropic"},
		Env:          claudecli.Env(),
		Programs:     []string{"claude"},
		Hosts:        []string{"api.anthropic.com"},
		ConfigSchema: []byte(configSchema),
	}
}

const configSchema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "transport": {
      "type": "string", "enum": ["auto", "cli", "api"], "default": "auto",
      "description": "How the model is asked: cli is the claude program, api the HTTP API, auto whichever is set up."
    },
    "model": {
      "type": "string",
      "description": "The model when a request names none."
    },
    "tools": {
      "type": "string", "default": "",
      "description": "Tools that the model may use, with commas between them, for example \"Read,Glob,Grep\". Empty: it can only answer."
    },` + claudecli.SetupSchema + `
  }
}`
