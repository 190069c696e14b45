// Command relay-plugin-ollama asks a model of an Ollama server.
package main

import (
	"context"

	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/chat"
)

var info = sdk.Info{Name: "ollama", Version: "0.2.0", Summary: "asks a model of an Ollama server", Hosts: []string{"localhost:11434"},
	ConfigSchema: []byte(`{"type": "object", "properties": {"url": {"type": "string", "description": "The server's address."}}}`)}

func main() { sdk.Serve(info, provider()) }

func provider() sdk.Part {
	server := &chat.OpenAI{URL: "http://localhost:11434/v1"}
	return sdk.Provider{Complete: server.Complete, ListModels: server.Models, OutputSchema: true, Concurrent: true,
		Configure: func(_ context.Context, c *sdk.Config) error { return c.Decode(server) }}
}
