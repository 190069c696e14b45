package chat

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/httpjson"
)

// reply is what came of one call so far.
type reply struct {
	out   sdk.Events
	text  strings.Builder // or the JSON that was asked for
	done  sdk.Completion
	quiet bool // the text is no words for people
}

func (a *reply) started(model, id string) {
	if a.done.Model == "" && model != "" {
		a.done.Model = model
		a.out.Started(sdk.Started{Model: model, UpstreamRequestID: id})
	}
}

func (a *reply) add(text string) {
	if a.text.WriteString(text); text != "" && !a.quiet {
		a.out.Text(text)
	}
}

func (a *reply) used(u sdk.Usage) {
	a.done.Usage = u
	a.out.Usage(u)
}

// ask sends a request and follows its answer, event by event.
func ask(ctx context.Context, url string, header http.Header, send object, r *sdk.CompleteRequest, out sdk.Events, each func(*reply, []byte) error) (*sdk.Completion, error) {
	a := &reply{out: out, quiet: r.OutputSchema != nil}
	err := httpjson.Stream(ctx, url, header, send, r.IdleTimeout, func(_ string, data []byte) error { return each(a, data) })
	return a.completion(r, err)
}

// completion is the whole answer, or why there is none.
func (a *reply) completion(r *sdk.CompleteRequest, err error) (*sdk.Completion, error) {
	if err != nil {
		f := sdk.AsFailure(err)
		if f.Usage = a.done.Usage; a.text.Len() > 0 {
			f.Effect = sdk.EffectCharged
		}
		return nil, f
	}
	if len(r.OutputSchema) == 0 {
		a.done.Text = a.text.String()
		return &a.done, nil
	}
	answer := unfenced(a.text.String())
	if !json.Valid([]byte(answer)) {
		return nil, sdk.Fail(sdk.BadOutput, "the model's answer is not JSON", sdk.EffectCharged, sdk.Spent(a.done.Usage),
			sdk.Detail("it stopped with "+cmp.Or(a.done.StopReason, "no reason")+": "+answer[:min(len(answer), 500)]))
	}
	a.done.JSON = json.RawMessage(answer)
	return &a.done, nil
}

// unfenced takes an answer out of the Markdown in which some models put it.
func unfenced(s string) string {
	s = strings.TrimSpace(s)
	if inner, ok := strings.CutPrefix(s, "```"); ok {
		if _, inner, ok = strings.Cut(inner, "\n"); ok {
			s = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(inner), "```"))
		}
	}
	return s
}

// with adds to a server's own headers; "" adds nothing.
func with(own http.Header, name, value string) http.Header {
	h := own.Clone()
	if h == nil {
		h = http.Header{}
	}
	if value != "" {
		h.Set(name, value)
	}
	return h
}

type object map[string]any

// model is the one to ask.
func model(r *sdk.CompleteRequest, own string) (string, error) {
	if name := cmp.Or(r.Model, own); name != "" {
		return name, nil
	}
	return "", sdk.Fail(sdk.BadConfig, "no model is named, and the server's API has no default", sdk.EffectNone, sdk.Fix("name a model in the configuration"))
}

// parts are the contents of a request in an API's own form.
func parts(r *sdk.CompleteRequest, text func(sdk.Content) any, image func(mediaType, base64 string) any) ([]any, error) {
	var all []any
	for _, c := range r.Contents {
		switch {
		case c.MediaType == "" && c.Text != "":
			all = append(all, text(c))
		case strings.HasPrefix(c.MediaType, "image/"):
			all = append(all, image(c.MediaType, base64.StdEncoding.EncodeToString(c.Data)))
		case c.MediaType != "":
			return nil, sdk.Fail(sdk.Unsupported, "the API takes no attachment of type "+c.MediaType, sdk.EffectNone)
		}
	}
	if len(all) == 0 {
		return nil, sdk.Fail(sdk.BadRequest, "the prompt is empty", sdk.EffectNone)
	}
	return all, nil
}

// decode reads an event. One that can't be read is the server's mistake.
func decode(data []byte, into any) error {
	if err := json.Unmarshal(data, into); err != nil {
		return sdk.Fail(sdk.BadOutput, "an event of the model's API is not of its form", sdk.Cause(err), sdk.EffectCharged)
	}
	return nil
}

// problem is an error that a server tells within its answer.
type problem struct {
	Type    string          `json:"type"`
	Code    json.RawMessage `json:"code"` // a number, a text, or nothing
	Message string          `json:"message"`
}

// problemOf classifies by the words of both APIs for types and codes, and by HTTP's numbers.
func problemOf(raw json.RawMessage) *sdk.Failure {
	var p problem
	if json.Unmarshal(raw, &p) != nil {
		p.Message = string(raw)
	}
	code := strings.Trim(string(p.Code), `"`)
	if code == "null" {
		code = ""
	}
	reason, fix := sdk.Overloaded, ""
	switch cmp.Or(code, p.Type) {
	case "rate_limit_error", "rate_limit_exceeded", "429":
		reason = sdk.RateLimited
	case "insufficient_quota", "billing_error", "402":
		reason, fix = sdk.Billing, "look at the account's balance"
	case "authentication_error", "invalid_api_key", "401":
		reason, fix = sdk.AuthRejected, "set a key that the API takes"
	case "permission_error", "403":
		reason, fix = sdk.Permission, "ask for access to this model, or take another"
	case "not_found_error", "model_not_found", "404":
		reason = sdk.ModelUnknown
	case "context_length_exceeded", "request_too_large", "413":
		reason = sdk.TooLarge
	case "invalid_request_error", "400":
		reason = sdk.BadRequest
	}
	return sdk.Fail(reason, "the model's API reports an error", sdk.Detail(p.Message), sdk.Fix(fix), sdk.Upstream(cmp.Or(code, p.Type), ""))
}

// listed are the models of GET …/models, whose form both APIs share.
func listed(ctx context.Context, url string, header http.Header) ([]sdk.Model, error) {
	var list struct {
		Data []struct {
			ID            string `json:"id"`
			MaxModelLen   int64  `json:"max_model_len"`  // vLLM
			ContextLength int64  `json:"context_length"` // OpenRouter
		} `json:"data"`
	}
	if err := httpjson.Get(ctx, url, header, &list); err != nil {
		return nil, err
	}
	models := make([]sdk.Model, 0, len(list.Data))
	for _, m := range list.Data {
		models = append(models, sdk.Model{ID: m.ID, ContextTokens: max(m.MaxModelLen, m.ContextLength)})
	}
	return models, nil
}
