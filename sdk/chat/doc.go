// Package chat is a provider for each server that speaks the OpenAI Chat Completions API or the
// Anthropic Messages API: a gateway, vLLM, llama.cpp, Ollama, OpenRouter and their like. What
// such a plugin adds is its name, its hosts, its key and its address:
//
//	server := &chat.OpenAI{URL: "https://api.example.com/v1", Key: os.Getenv("EXAMPLE_API_KEY"), Model: "example-1"}
//	sdk.Serve(info, sdk.Provider{Complete: server.Complete, ListModels: server.Models, OutputSchema: true, Concurrent: true})
//
// An answer is streamed, with the tokens that it took. One in a schema is asked for by the
// API's own means; the host holds it to the schema. Attachments are images.
//
// It asks once: no request is repeated, and a request's fallback model is not asked. It offers
// the model no tools of its own, keeps nothing between calls, and reads no environment. The
// plugins for the vendors' own APIs use the vendors' SDKs.
//
// Callers: plugins.
package chat
