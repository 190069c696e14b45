// Command relay-plugin-codex is the provider for OpenAI's models, and for every
// server that speaks the Responses API.
//
// Its transport `cli` asks through Codex, the vendor's program: in a read-only
// sandbox, without tools, without the user's or the repository's settings, memory,
// skills or plugins, the prompt on standard input. Its transport `api` asks the API
// itself.
package main
