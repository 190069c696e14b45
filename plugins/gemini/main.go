package main

import (
	"github.com/paxiom/relay/plugins/internal/geminicli"
	"github.com/paxiom/relay/sdk"
)

var version = "0.1.0"

func main() { sdk.Serve(info(), newProvider().part()) }

func info() sdk.Info {
	return sdk.Info{
		Name:         "gemini",
		Version:      version,
		Summary:      "asks Google's Gemini models, through the API or the gemini program",
		Aliases:      []string{"google"},
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
    "transport": {
      "type": "string", "enum": ["auto", "cli", "api"], "default": "auto",
      "description": "How the model is asked: cli is the gemini program, api the HTTP API. auto: api when there is a key, Google Cloud's credentials or a base_url, a model is named and no tools are configured; otherwise cli."
    },
    "model": {
      "type": "string",
      "description": "The model when a request names none. The api needs one; the program has a default of its own."
    },
    "tools": {
      "type": "string", "enum": ["", "read", "auto"], "default": "",
      "description": "read: the program may read files of the repository. auto: the same with the transport cli, nothing with api. Empty: it can only answer."
    },` + geminicli.SetupSchema + `
  }
}`
