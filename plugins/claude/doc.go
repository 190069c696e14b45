// Command relay-plugin-claude is the provider for Anthropic's Claude models.
//
// Its transport `cli` asks through Claude Code, the vendor's program: no tools,
// none of the user's or the repository's settings, hooks, memory or MCP servers,
// the prompt on standard input. Its transport `api` asks the Messages API itself.
package main
