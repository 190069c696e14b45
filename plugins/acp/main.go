package main

import "github.com/paxiom/relay/sdk"

var version = "0.1.0"

func main() { sdk.Serve(info(), newBuilder().part()) }

func info() sdk.Info {
	return sdk.Info{
		Name:         "acp",
		Version:      version,
		Summary:      "lets an agent that speaks the Agent Client Protocol do the task",
		ConfigSchema: []byte(configSchema),
	}
}

const configSchema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "agent": {
      "type": "array", "items": { "type": "string" }, "minItems": 1, "maxItems": 256,
      "description": "The agent and its arguments, for example [\"gemini\", \"--acp\"]: a name that is in PATH or an absolute path, then what makes it speak the protocol on its standard input and output."
    },
    "env": {
      "type": "object", "additionalProperties": { "type": "string" },
      "description": "Variables for the agent, beside those that every plugin has. Keys belong into \"keys\", not here."
    },
    "permissions": {
      "type": "string", "enum": ["allow", "edits", "reject"], "default": "allow",
      "description": "What the agent is told when it asks for permission. allow: yes; the box is the fence. edits: yes to reading, searching and changing files, no to commands and all else. reject: no to everything it asks for."
    },
    "terminal": {
      "type": "boolean", "default": true,
      "description": "Whether the agent may let the plugin run commands in the workspace. An agent may also run commands by itself."
    },
    "auth_method": {
      "type": "string",
      "description": "The way to log in that is chosen when the agent wants one, by the id that the agent gives it. Empty: the agent must be logged in already, or find its key in its environment."
    },
    "mode": {
      "type": "string",
      "description": "The agent's mode for the session, by the agent's own id. Empty: the agent's default."
    },
    "model": {
      "type": "string",
      "description": "The model when a task names none, by the agent's own id. A model that the agent does not list is left out, with a notice."
    }
  }
}`
