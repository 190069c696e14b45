package main

import (
	"github.com/paxiom/relay/plugins/internal/claudecli"
	"github.com/paxiom/relay/sdk"
)

var version = "0.1.0"

func main() { sdk.Serve(info(), newBuilder().part()) }

func info() sdk.Info {
	return sdk.Info{
		Name:         "claude-code",
		Version:      version,
		Summary:      "lets Claude Code do the task",
		Aliases:      []string{"claude_code"},
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
    "permission_mode": {
      "type": "string", "enum": ["default", "acceptEdits", "bypassPermissions", "dontAsk"], "default": "acceptEdits",
      "description": "What Claude Code may do without asking. acceptEdits: the allowed tools, edits in the workspace only. bypassPermissions: everything; the box is the only fence. dontAsk, and default, which is the same without a person: the allowed tools only."
    },
    "allowed_tools": {
      "type": "string", "default": "Read,Edit,Write,Glob,Grep,Bash",
      "description": "The tools that there are, with commas between them. Edit brings Write with it. A tool may be limited: \"Bash(git log *)\"."
    },
    "setting_sources": {
      "type": "string", "default": "", "pattern": "^(|(user|project|local)(,(user|project|local))*)$",
      "description": "Which settings, hooks and memory files Claude Code loads: user, project, local, with commas between them. Empty: none."
    },
    "max_turns": {
      "type": "integer", "minimum": 1, "maximum": 200, "default": 8,
      "description": "Turns of a build when the task names no number."
    },
    "max_budget_usd": {
      "type": "number", "minimum": 0, "default": 0,
      "description": "Dollars of one build when the host names no limit; it is checked after each turn. 0: no limit."
    },
    "model": {
      "type": "string",
      "description": "The model when a task names none."
    },` + claudecli.SetupSchema + `
  }
}`
