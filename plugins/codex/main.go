package main

import (
	"github.com/paxiom/relay/plugins/internal/codexcli"
	"github.com/paxiom/relay/sdk"
)

var version = "0.1.0"

func main() { sdk.Serve(info(), newProvider().part()) }

func info() sdk.Info {
	return sdk.Info{
		Name:         "codex",
		Version:      version,
		Summary:      "asks OpenAI's models, through the API or the codex program",
		Aliases:      []string{"openai"},
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
    "transport": {
      "type": "string", "enum": ["auto", "cli", "api", "review"], "default": "auto",
      "description": "How the model is asked: cli is the codex program, api the HTTP API. review: the program, which reads the repository in a read-only run and answers in a schema: the request's, or one for reviews. auto: api when there is a key in the environment or a base_url, and a model is named; otherwise cli."
    },
    "model": {
      "type": "string",
      "description": "The model when a request names none. The api needs one; the program has a default of its own."
    },
    "tools": {
      "type": "string", "enum": ["", "read", "auto"], "default": "",
      "description": "read: the program may run commands in a read-only sandbox in the repository. auto: the same with the transports cli and review, nothing with api. Empty: it can only answer."
    },
    "context_tokens": {
      "type": "integer", "minimum": 0, "default": 0,
      "description": "How many tokens the model takes, which the API does not tell. With it a long prompt is counted before it is sent over the api, and one that is too long is not sent. 0: the API finds out."
    },` + codexcli.SetupSchema + `
  }
}`
