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
	mux.HandleFunc("/v1/chat/completions", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, `data: {"model": "small", "choices": [{"delta": {"content": "hello"}}], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}`+"\n\ndata: [DONE]\n\n")
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	at := func(path string) json.RawMessage { return fmt.Appendf(nil, `{"url": %q}`, server.URL+path) }
	ask := &sdk.CompleteRequest{Model: "small", Contents: []sdk.Content{{Text: "hi"}}}
	plugintest.Both(t, info, provider, plugintest.Config{PluginConfig: at("/v1"), Cases: []plugintest.Case{
		{Name: "answers", Complete: ask, WantText: "hello"},
		{Name: "no such model", Complete: ask, PluginConfig: at("/no"), WantReason: sdk.ModelUnknown},
	}})
}
