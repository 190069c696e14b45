// Command relay-plugin-ollama asks a model of an Ollama server.
package main

import (
	"context"

	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/httpjson"
)

var info = sdk.Info{Name: "ollama", Version: "0.1.0", Summary: "asks a model of an Ollama server", Hosts: []string{"localhost:11434"},
	ConfigSchema: []byte(`{"type": "object", "properties": {"url": {"type": "string", "description": "The server's address."}}}`)}

func main() { sdk.Serve(info, provider()) }

func provider() sdk.Part {
	conf := struct{ URL string }{"http://localhost:11434"}
	return sdk.Provider{Concurrent: true, Configure: func(_ context.Context, c *sdk.Config) error { return c.Decode(&conf) },
		Complete: func(ctx context.Context, r *sdk.CompleteRequest, _ sdk.Events) (*sdk.Completion, error) {
			var got struct {
				Response string
				Tokens   int64 `json:"eval_count"`
			}
			ask := map[string]any{"model": r.Model, "system": r.System, "prompt": r.Text(), "stream": false}
			if err := httpjson.Post(ctx, conf.URL+"/api/generate", nil, ask, &got); err != nil {
				f := sdk.AsFailure(err)
				if f.Reason == sdk.ModelUnknown {
					f.Fix = "ollama pull " + r.Model
				}
				return nil, f
			}
			return &sdk.Completion{Text: got.Response, Model: r.Model, Usage: sdk.Usage{Output: sdk.Known(got.Tokens)}}, nil
		}}
}
