// Command relay-plugin-gemini is the provider for Google's Gemini models, through
// the Gemini API or Vertex AI, and for every server that speaks the same.
//
// Its transport `api` asks with Google's Go SDK. Its transport `cli` asks through
// Gemini CLI, the vendor's program: without tools, in a home of its own, with none
// of the user's or the repository's settings, hooks, servers and memory, the prompt
// on standard input.
package main
