package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/plugintest"
)

func TestConformance(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/api/generate", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"response": "hello", "eval_count": 2}`) })
	server := httptest.NewServer(mux) // in Ollama's place
	defer server.Close()
	ask := &sdk.CompleteRequest{Model: "small", Contents: []sdk.Content{{Text: "hi"}}}
	cfg := plugintest.Config{PluginConfig: fmt.Appendf(nil, `{"url": %q}`, server.URL), Cases: []plugintest.Case{
		{Name: "answers", Complete: ask, WantText: "hello"},
		{Name: "no such model", Complete: ask, PluginConfig: fmt.Appendf(nil, `{"url": %q}`, server.URL+"/no"), WantReason: sdk.ModelUnknown},
	}}
	for name, cfg := range map[string]plugintest.Config{"in process": cfg, "binary": cfg} {
		if cfg.Serve = plugintest.Fresh(info, provider); name == "binary" {
			cfg.Binary = plugintest.Build(t, ".")
		}
		t.Run(name, func(t *testing.T) { plugintest.Run(t, cfg) })
	}
}
