// Command relay-plugin-claude-code is the builder that lets Claude Code do a task:
// it reads, edits and runs commands in the workspace, within limits on turns,
// dollars and time.
//
// It runs inside relay's box, which is the fence. Of the user's and the
// repository's settings, hooks, memory and MCP servers nothing is loaded unless
// the configuration asks for it, and nothing continues in the background.
package main
