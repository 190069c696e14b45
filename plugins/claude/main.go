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
		Summary:      "asks Anthropic's Claude models, through the API or the claude program",
		Aliases:      []string{"anthropic"},
		Env:          append(claudecli.Env(), cloudEnv()...),
		Programs:     []string{"claude"},
		Hosts:        []string{"api.anthropic.com", "amazonaws.com", "aiplatform.googleapis.com", "oauth2.googleapis.com"},
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
      "description": "How the model is asked: cli is the claude program, api the HTTP API. auto: api when there is a key or token in the environment and the model has a whole name (claude-sonnet-4-5), or base_url is set too; otherwise cli."
    },
    "model": {
      "type": "string",
      "description": "The model when a request names none."
    },
    "tools": {
      "type": "string", "default": "",
      "description": "Tools that the model may use, with commas between them, for example \"Read,Glob,Grep\". auto: these three with the transport cli, none with api. Empty: it can only answer. Only the program has tools."
    },
    "structured_output": {
      "type": "string", "enum": ["native", "tool"],
      "description": "How the API holds an answer to a schema. native: by itself, which is the default of Anthropic's own API. tool: as the input of a tool, for models and servers that have no other way; the default of the clouds."
    },
    "backend": {
      "type": "string", "enum": ["anthropic", "bedrock", "vertex"], "default": "anthropic",
      "description": "Who serves the model over the transport api. bedrock: Amazon Bedrock, with AWS's credentials. vertex: Google's Vertex AI, with application default credentials."
    },
    "region": {
      "type": "string", "pattern": "^[a-z0-9-]*$",
      "description": "The cloud's region. Empty: AWS_REGION, or CLOUD_ML_REGION and then global."
    },
    "project": {
      "type": "string", "pattern": "^[a-z0-9:._-]*$",
      "description": "The Google Cloud project for the backend vertex. Empty: ANTHROPIC_VERTEX_PROJECT_ID."
    },` + claudecli.SetupSchema + `
  }
}`
