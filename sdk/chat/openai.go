package chat

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/paxiom/relay/sdk"
)

// OpenAI is a server with the Chat Completions API. Its address and model can be decoded from a
// plugin's configuration, with [sdk.Config].Decode; a key can't.
//
// https://platform.openai.com/docs/api-reference/chat
type OpenAI struct {
	URL    string      `json:"url"`   // up to the version: "https://api.example.com/v1"
	Key    string      `json:"-"`     // sent as a bearer token; "" sends none
	Model  string      `json:"model"` // for requests that name none
	Header http.Header `json:"-"`     // more that the server wants; may be nil
}

// Complete is [sdk.Provider].Complete.
func (s *OpenAI) Complete(ctx context.Context, r *sdk.CompleteRequest, out sdk.Events) (*sdk.Completion, error) {
	send, err := s.request(r)
	if err != nil {
		return nil, err
	}
	return ask(ctx, s.at("chat/completions"), s.header(), send, r, out, (*reply).openAI)
}

// Models is [sdk.Provider].ListModels.
func (s *OpenAI) Models(ctx context.Context) ([]sdk.Model, error) {
	return listed(ctx, s.at("models"), s.header())
}

func (s *OpenAI) at(path string) string { return strings.TrimRight(s.URL, "/") + "/" + path }

func (s *OpenAI) header() http.Header {
	if s.Key == "" {
		return s.Header
	}
	return with(s.Header, "Authorization", "Bearer "+s.Key)
}

func (s *OpenAI) request(r *sdk.CompleteRequest) (object, error) {
	name, err := model(r, s.Model)
	if err != nil {
		return nil, err
	}
	content, err := parts(r,
		func(c sdk.Content) any { return object{"type": "text", "text": c.Text} },
		func(media, data string) any {
			return object{"type": "image_url", "image_url": object{"url": "data:" + media + ";base64," + data}}
		})
	if err != nil {
		return nil, err
	}
	user := object{"role": "user", "content": content}
	if text := r.Text(); len(content) == 1 && text != "" {
		user["content"] = text // what each such server takes
	}
	messages := []object{user}
	if r.System != "" {
		messages = []object{{"role": "system", "content": r.System}, user}
	}
	send := object{"model": name, "messages": messages, "stream": true, "stream_options": object{"include_usage": true}}
	if r.MaxOutputTokens > 0 {
		send["max_tokens"] = r.MaxOutputTokens
	}
	if r.Temperature != nil {
		send["temperature"] = *r.Temperature
	}
	if r.Effort != "" {
		send["reasoning_effort"] = r.Effort
	}
	if r.OutputSchema != nil {
		send["response_format"] = object{"type": "json_schema", "json_schema": object{"name": "answer", "schema": r.OutputSchema}}
	}
	return send, nil
}

// openAI follows one event of the answer.
func (a *reply) openAI(data []byte) error {
	if string(data) == "[DONE]" {
		return io.EOF
	}
	var e struct {
		ID, Model string
		Choices   []struct {
			Delta  struct{ Content string }
			Finish string `json:"finish_reason"`
		}
		Usage *struct {
			Prompt     int64 `json:"prompt_tokens"`
			Completion int64 `json:"completion_tokens"`
			PromptIn   *struct {
				Cached int64 `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
			CompletionIn *struct {
				Reasoning int64 `json:"reasoning_tokens"`
			} `json:"completion_tokens_details"`
		}
		Error json.RawMessage
	}
	if err := decode(data, &e); err != nil {
		return err
	}
	if len(e.Error) > 0 && string(e.Error) != "null" {
		return problemOf(e.Error)
	}
	a.started(e.Model, e.ID)
	for _, c := range e.Choices {
		a.add(c.Delta.Content)
		if c.Finish == "content_filter" {
			return sdk.Fail(sdk.Refused, "the model's API filtered the answer", sdk.EffectCharged)
		}
		if c.Finish != "" {
			a.done.StopReason = c.Finish
		}
	}
	if u := e.Usage; u != nil {
		used := sdk.Usage{Input: sdk.Known(u.Prompt), Output: sdk.Known(u.Completion)}
		if in := u.PromptIn; in != nil {
			used.Input, used.CacheRead = sdk.Known(u.Prompt-in.Cached), sdk.Known(in.Cached)
		}
		if in := u.CompletionIn; in != nil {
			used.Reasoning = sdk.Known(in.Reasoning)
		}
		a.used(used)
	}
	return nil
}
