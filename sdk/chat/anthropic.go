package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/paxiom/relay/sdk"
)

// Anthropic is a server with the Messages API. What a plugin's configuration may say of it can be
// decoded, as for [OpenAI].
//
// https://docs.anthropic.com/en/api/messages
type Anthropic struct {
	URL       string      `json:"url"`        // without the version: "https://api.example.com"
	Key       string      `json:"-"`          // sent as x-api-key; "" sends none
	Model     string      `json:"model"`      // for requests that name none
	MaxTokens int64       `json:"max_tokens"` // of an answer, where a request names no limit; 0: 8192
	Header    http.Header `json:"-"`          // more that the server wants; may be nil
}

// Complete is [sdk.Provider].Complete.
func (s *Anthropic) Complete(ctx context.Context, r *sdk.CompleteRequest, out sdk.Events) (*sdk.Completion, error) {
	send, err := s.request(r)
	if err != nil {
		return nil, err
	}
	return ask(ctx, s.at("messages"), s.header(), send, r, out, (*reply).anthropic)
}

// Models is [sdk.Provider].ListModels.
func (s *Anthropic) Models(ctx context.Context) ([]sdk.Model, error) {
	return listed(ctx, s.at("models?limit=1000"), s.header())
}

func (s *Anthropic) at(path string) string { return strings.TrimRight(s.URL, "/") + "/v1/" + path }

func (s *Anthropic) header() http.Header {
	return with(with(s.Header, "Anthropic-Version", "2023-06-01"), "X-Api-Key", s.Key)
}

// answerTool is the tool by which an answer in a schema is asked for: each such server has
// tools.
const answerTool = "answer"

func (s *Anthropic) request(r *sdk.CompleteRequest) (object, error) {
	name, err := model(r, s.Model)
	if err != nil {
		return nil, err
	}
	content, err := parts(r,
		func(c sdk.Content) any {
			part := object{"type": "text", "text": c.Text}
			if c.Cacheable {
				part["cache_control"] = object{"type": "ephemeral"}
			}
			return part
		},
		func(media, data string) any {
			return object{"type": "image", "source": object{"type": "base64", "media_type": media, "data": data}}
		})
	if err != nil {
		return nil, err
	}
	send := object{"model": name, "stream": true, "max_tokens": cmp.Or(r.MaxOutputTokens, s.MaxTokens, 8192),
		"messages": []object{{"role": "user", "content": content}}}
	if r.System != "" {
		send["system"] = r.System
	}
	if r.Temperature != nil {
		send["temperature"] = *r.Temperature
	}
	if r.OutputSchema != nil {
		send["tools"] = []object{{"name": answerTool, "description": "Gives the answer.", "input_schema": r.OutputSchema}}
		send["tool_choice"] = object{"type": "tool", "name": answerTool}
	}
	return send, nil
}

// tokens are as the API counts them: what came from its cache stands beside the input.
type tokens struct {
	Input      *int64 `json:"input_tokens"`
	Output     *int64 `json:"output_tokens"`
	CacheRead  *int64 `json:"cache_read_input_tokens"`
	CacheWrite *int64 `json:"cache_creation_input_tokens"`
}

// over gives what is known now; what an event leaves out is what it was.
func (t tokens) over(u sdk.Usage) sdk.Usage {
	for _, c := range []struct {
		n    *int64
		into *sdk.Count
	}{{t.Input, &u.Input}, {t.Output, &u.Output}, {t.CacheRead, &u.CacheRead}, {t.CacheWrite, &u.CacheWrite}} {
		if c.n != nil {
			*c.into = sdk.Known(*c.n)
		}
	}
	return u
}

// anthropic follows one event of the answer.
func (a *reply) anthropic(data []byte) error {
	var e struct {
		Type    string
		Message struct {
			ID, Model string
			Usage     tokens
		}
		Block struct{ Type string } `json:"content_block"`
		Delta struct {
			Text    string
			Partial string `json:"partial_json"`
			Stop    string `json:"stop_reason"`
		}
		Usage tokens
		Error json.RawMessage
	}
	if err := decode(data, &e); err != nil {
		return err
	}
	switch e.Type {
	case "message_start":
		a.started(e.Message.Model, e.Message.ID)
		a.used(e.Message.Usage.over(a.done.Usage))
	case "content_block_start":
		if e.Block.Type == "tool_use" {
			a.text.Reset() // what a model says before its answer is not part of it
		}
	case "content_block_delta":
		a.add(e.Delta.Text + e.Delta.Partial)
	case "message_delta":
		a.used(e.Usage.over(a.done.Usage))
		if a.done.StopReason = e.Delta.Stop; e.Delta.Stop == "refusal" {
			return sdk.Fail(sdk.Refused, "the model refused to answer", sdk.EffectCharged)
		}
	case "error":
		return problemOf(e.Error)
	case "message_stop":
		return io.EOF
	}
	return nil
}
