package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/plugintest"
)

func TestConformance(t *testing.T) {
	mux := http.NewServeMux() // in Ollama's place
	mux.HandleFunc("/api/generate", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"response": "hello", "eval_count": 2}`) })
	server := httptest.NewServer(mux)
	defer server.Close()
	at := func(path string) json.RawMessage { return fmt.Appendf(nil, `{"url": %q}`, server.URL+path) }
	ask := &sdk.CompleteRequest{Model: "small", Contents: []sdk.Content{{Text: "hi"}}}
	plugintest.Both(t, info, provider, plugintest.Config{PluginConfig: at(""), Cases: []plugintest.Case{
		{Name: "answers", Complete: ask, WantText: "hello"},
		{Name: "no such model", Complete: ask, PluginConfig: at("/no"), WantReason: sdk.ModelUnknown},
	}})
}
