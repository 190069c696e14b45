// Command relay-plugin-ollama asks a model of an Ollama server.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/paxiom/relay/sdk"
)

var info = sdk.Info{Name: "ollama", Version: "0.1.0", Summary: "asks a model of an Ollama server", Hosts: []string{"localhost:11434"},
	ConfigSchema: []byte(`{"type": "object", "properties": {"url": {"type": "string", "description": "The server's address."}}}`)}

func main() { sdk.Serve(info, provider()) }

func provider() sdk.Part {
	conf := struct{ URL string }{"http://localhost:11434"}
	return sdk.Provider{Concurrent: true, Configure: func(_ context.Context, c *sdk.Config) error { return c.Decode(&conf) },
		Complete: func(ctx context.Context, r *sdk.CompleteRequest, out sdk.Events) (*sdk.Completion, error) {
			body, _ := json.Marshal(map[string]any{"model": r.Model, "system": r.System, "prompt": r.Text(), "stream": false})
			q, err := http.NewRequestWithContext(ctx, http.MethodPost, conf.URL+"/api/generate", bytes.NewReader(body))
			if err != nil {
				return nil, sdk.Fail(sdk.BadConfig, "plugins.ollama.url is no address", sdk.Fix("mend it"), sdk.Cause(err))
			}
			resp, err := http.DefaultClient.Do(q)
			if err != nil {
				return nil, sdk.Fail(sdk.Network, "the server can't be reached", sdk.Cause(err))
			}
			defer resp.Body.Close()
			if resp.StatusCode == http.StatusNotFound {
				return nil, sdk.Fail(sdk.ModelUnknown, "the server has no model "+r.Model, sdk.Fix("ollama pull "+r.Model), sdk.Upstream(resp.Status, ""))
			}
			var got struct {
				Response string
				Tokens   int64 `json:"eval_count"`
			}
			if err := json.NewDecoder(resp.Body).Decode(&got); err != nil || resp.StatusCode != http.StatusOK {
				return nil, sdk.Fail(sdk.Overloaded, "the server gave no answer", sdk.Upstream(resp.Status, ""))
			}
			return &sdk.Completion{Text: got.Response, Model: r.Model, Usage: sdk.Usage{Output: sdk.Known(got.Tokens)}}, nil
		}}
}
