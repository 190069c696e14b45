package chat

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/plugintest"
)

// The smallest answers in each API's form; TEXT is what the model says.
const (
	openAIAnswer = `data: {"id":"r1","model":"m-1","choices":[{"delta":{"role":"assistant","content":""}}]}

data: {"id":"r1","model":"m-1","choices":[{"delta":{"content":"TEXT"}}]}

data: {"id":"r1","model":"m-1","choices":[{"delta":{},"finish_reason":"stop"}]}

data: {"id":"r1","model":"m-1","choices":[],"usage":{"prompt_tokens":12,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":2}}}

data: [DONE]

`
	anthropicAnswer = `event: message_start
data: {"type":"message_start","message":{"id":"r1","model":"m-1","usage":{"input_tokens":8,"cache_read_input_tokens":4,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":BLOCK}

event: ping
data: {"type": "ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"DELTA","FIELD":"TEXT"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}

event: message_stop
data: {"type":"message_stop"}

`
)

// server speaks both APIs. Each prompt of the form "say TEXT" is answered with it; others
// are what goes wrong.
func server(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" && r.Header.Get("X-Api-Key") != "secret" {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		if r.Method == http.MethodGet {
			io.WriteString(w, `{"data": [{"id": "m-1", "max_model_len": 4096}, {"id": "m-2"}]}`)
			return
		}
		body, _ := io.ReadAll(r.Body)
		var sent struct {
			Model    string
			Messages []struct{ Content json.RawMessage }
			Format   *struct{} `json:"response_format"`
			Tools    []struct {
				Schema json.RawMessage `json:"input_schema"`
			}
		}
		if err := json.Unmarshal(body, &sent); err != nil || sent.Model == "" {
			http.Error(w, "no request", http.StatusBadRequest)
			return
		}
		prompt := string(sent.Messages[len(sent.Messages)-1].Content)
		openai := strings.HasSuffix(r.URL.Path, "/v1/chat/completions")
		if !openai && r.URL.Path != "/v1/messages" {
			http.NotFound(w, r)
			return
		}
		answer := anthropicAnswer
		if openai {
			answer = openAIAnswer
		}
		text := "hello"
		if sent.Format != nil || len(sent.Tools) == 1 {
			text = `{"n": 7}`
			if openai {
				text = "```json\n" + text + "\n```"
			}
			answer = strings.NewReplacer("BLOCK", `{"type":"tool_use","id":"t","name":"answer","input":{}}`, "DELTA", "input_json_delta", "FIELD", "partial_json").Replace(answer)
		}
		answer = strings.NewReplacer("BLOCK", `{"type":"text","text":""}`, "DELTA", "text_delta", "FIELD", "text").Replace(answer)
		quoted, _ := json.Marshal(text)
		answer = strings.Replace(answer, `"TEXT"`, string(quoted), 1)
		switch {
		case strings.Contains(prompt, "slow down"):
			w.Header().Set("Retry-After", "3")
			http.Error(w, "slow down", http.StatusTooManyRequests)
			return
		case strings.Contains(prompt, "no stream"):
			io.WriteString(w, "{}")
			return
		}
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		switch {
		case strings.Contains(prompt, "break off"):
			answer = answer[:len(answer)*2/3]
		case strings.Contains(prompt, "overload"):
			answer = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"later\"}}\n\n"
		case strings.Contains(prompt, "garble"):
			answer = "data: {\n\n"
		case strings.Contains(prompt, "other ends"):
			answer = strings.ReplaceAll(answer, "\n", "\r\n")
		case strings.Contains(prompt, "be silent"):
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return
		}
		fmt.Fprint(w, ": a comment\n\n", answer)
	}))
	t.Cleanup(s.Close)
	return s
}

func providers(url string) map[string]sdk.Provider {
	o, a := &OpenAI{URL: url + "/v1", Key: "secret", Model: "m-1"}, &Anthropic{URL: url + "/", Key: "secret", Model: "m-1"}
	return map[string]sdk.Provider{
		"openai":    {Complete: o.Complete, ListModels: o.Models, OutputSchema: true, Concurrent: true},
		"anthropic": {Complete: a.Complete, ListModels: a.Models, OutputSchema: true, Concurrent: true},
	}
}

func prompt(text string) *sdk.CompleteRequest {
	return &sdk.CompleteRequest{System: "You are short.", Contents: []sdk.Content{{Text: text}}}
}

// A provider that is nothing but a server keeps every rule of the protocol.
func TestRules(t *testing.T) {
	url := server(t).URL
	inSchema := prompt("say it")
	inSchema.OutputSchema = json.RawMessage(`{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}`)
	for name, p := range providers(url) {
		t.Run(name, func(t *testing.T) {
			plugintest.Run(t, plugintest.Config{
				Serve: plugintest.Fresh(sdk.Info{Name: "some", Version: "1.0.0"}, func() sdk.Part { return p }),
				Cases: []plugintest.Case{
					{Name: "text", Complete: prompt("say it"), WantText: "hello"},
					{Name: "line ends", Complete: prompt("other ends"), WantText: "hello"},
					{Name: "schema", Complete: inSchema},
					{Name: "limit", Complete: prompt("slow down"), WantReason: sdk.RateLimited},
					{Name: "overload", Complete: prompt("overload"), WantReason: sdk.Overloaded},
					{Name: "broken off", Complete: prompt("break off"), WantReason: sdk.Network},
					{Name: "garbled", Complete: prompt("garble"), WantReason: sdk.BadOutput},
					{Name: "no stream", Complete: prompt("no stream"), WantReason: sdk.BadOutput},
					{Name: "nothing", Complete: &sdk.CompleteRequest{}, WantReason: sdk.BadRequest},
				},
			})
		})
	}
}

// heard keeps what a call tells on its way.
type heard struct {
	sdk.Events
	text    string
	started sdk.Started
	usage   sdk.Usage
}

func (h *heard) Text(s string)         { h.text += s }
func (h *heard) Started(s sdk.Started) { h.started = s }
func (h *heard) Usage(u sdk.Usage)     { h.usage = u }

func TestWhatIsTold(t *testing.T) {
	url := server(t).URL
	for name, p := range providers(url) {
		var h heard
		done, err := p.Complete(t.Context(), prompt("say it"), &h)
		if err != nil || h.text != "hello" || done.Text != "hello" || h.started != (sdk.Started{Model: "m-1", UpstreamRequestID: "r1"}) || done.StopReason == "" || done.Model != "m-1" {
			t.Errorf("%s: %+v %+v %v", name, done, h, err)
		}
		want := sdk.Usage{Input: sdk.Known(8), Output: sdk.Known(5), CacheRead: sdk.Known(4)}
		if name == "openai" {
			want.Reasoning = sdk.Known(2)
		}
		if h.usage != want {
			t.Errorf("%s: %+v", name, h.usage)
		}

		r := prompt("say it")
		r.OutputSchema = json.RawMessage(`{"type": "object"}`)
		h = heard{}
		if done, err = p.Complete(t.Context(), r, &h); err != nil || string(done.JSON) != `{"n": 7}` || h.text != "" {
			t.Errorf("%s: %+v %q %v", name, done, h.text, err)
		}

		if models, err := p.ListModels(t.Context()); err != nil || len(models) != 2 || models[0] != (sdk.Model{ID: "m-1", ContextTokens: 4096}) {
			t.Errorf("%s: %v %v", name, models, err)
		}

		// What was charged, and what was not.
		for text, want := range map[string]sdk.Effect{"break off": sdk.EffectCharged, "overload": 0, "slow down": 0} {
			if _, err := p.Complete(t.Context(), prompt(text), &heard{}); sdk.AsFailure(err).Effect != want {
				t.Errorf("%s, %s: %+v", name, text, sdk.AsFailure(err))
			}
		}
		r = prompt("be silent")
		r.IdleTimeout = 1
		if _, err := p.Complete(t.Context(), r, &heard{}); sdk.AsFailure(err).Reason != sdk.Timeout {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := p.Complete(t.Context(), &sdk.CompleteRequest{Contents: []sdk.Content{{MediaType: "audio/wav", Data: []byte("x")}}}, &heard{}); sdk.AsFailure(err).Reason != sdk.Unsupported {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (&OpenAI{URL: url + "/v1"}).Complete(t.Context(), prompt("x"), &heard{}); sdk.AsFailure(err).Reason != sdk.BadConfig {
		t.Error(err)
	}
	if _, err := (&OpenAI{URL: url + "/v1", Model: "m", Key: "wrong"}).Complete(t.Context(), prompt("x"), &heard{}); sdk.AsFailure(err).Reason != sdk.AuthRejected {
		t.Error(err)
	}
}

func TestUnfenced(t *testing.T) {
	for in, want := range map[string]string{"{}": "{}", " {} \n": "{}", "```json\n{}\n```": "{}", "```\n{}\n```\n": "{}", "```": "```"} {
		if got := unfenced(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}
