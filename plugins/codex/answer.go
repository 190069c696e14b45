package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"

	"github.com/paxiom/relay/plugins/internal/httpapi"
	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/httpjson"
)

// answer is what came of one call.
type answer struct {
	out       sdk.Events
	requestID string
	model     string
	heard     bool // the model began to work
	ended     bool
	done      responses.Response
	failed    *sdk.Failure
}

// headers tells the account's limits and keeps the id of the request.
func (a *answer) headers(h http.Header, now time.Time) {
	a.requestID = h.Get("X-Request-Id")
	for _, l := range limits(h, now) {
		a.out.RateLimit(l)
	}
}

// limits reads the two limits that the API tells with each answer.
func limits(h http.Header, now time.Time) []sdk.RateLimit {
	var out []sdk.RateLimit
	for _, what := range []string{"requests", "tokens"} {
		total, err := strconv.ParseInt(h.Get("X-Ratelimit-Limit-"+what), 10, 64)
		left, err2 := strconv.ParseInt(h.Get("X-Ratelimit-Remaining-"+what), 10, 64)
		if err != nil || err2 != nil || total <= 0 || left < 0 || left > total {
			continue
		}
		l := sdk.RateLimit{Name: what + "_per_minute", Limit: total, Remaining: left, UsedFraction: 1 - float64(left)/float64(total)}
		if d, err := time.ParseDuration(h.Get("X-Ratelimit-Reset-" + what)); err == nil && d >= 0 {
			l.ResetAt = now.Add(d)
		}
		out = append(out, l)
	}
	return out
}

// take follows one event of the stream.
func (a *answer) take(e responses.ResponseStreamEventUnion) {
	switch e.Type {
	case "response.created":
		a.model = string(e.Response.Model)
		a.out.Started(sdk.Started{Model: a.model, UpstreamRequestID: a.requestID})
	case "response.output_text.delta":
		a.heard = true
		a.out.Text(e.Delta)
	case "response.output_item.added":
		a.heard = true
	case "response.completed":
		a.ended, a.done = true, e.Response
	case "response.incomplete":
		a.ended, a.done = true, e.Response
		a.failed = incomplete(e.Response.IncompleteDetails.Reason)
	case "response.failed":
		a.ended, a.done = true, e.Response
		a.failed = byCode(string(e.Response.Error.Code), e.Response.Error.Message)
	case "error":
		a.ended = true
		a.failed = byCode(e.Code, e.Message)
	}
}

func incomplete(reason string) *sdk.Failure {
	switch reason {
	case "max_output_tokens":
		return sdk.Fail(sdk.TooLarge, "the answer is longer than the model may write", sdk.Upstream(reason, ""))
	case "content_filter":
		return sdk.Fail(sdk.Refused, "the answer was held back by a content filter", sdk.Upstream(reason, ""))
	}
	return sdk.Fail(sdk.BadOutput, "the model's answer is not complete", sdk.Upstream(reason, ""))
}

// completion is the verdict: the answer, or why there is none.
func (a *answer) completion(key string) (*sdk.Completion, error) {
	usage := usage(a.done)
	text, refusal := text(a.done)
	f := a.failed
	switch {
	case f != nil:
	case a.done.Status != "" && a.done.Status != responses.ResponseStatusCompleted:
		f = sdk.Fail(sdk.BadOutput, "the model's answer ended as "+string(a.done.Status))
	case refusal != "":
		f = sdk.Fail(sdk.Refused, "the model refused to answer", sdk.Detail(httpapi.Clip(refusal)))
	case !slices.ContainsFunc(a.done.Output, isMessage):
		f = sdk.Fail(sdk.BadOutput, "the model ended without a message")
	case strings.TrimSpace(text) == "":
		f = sdk.Fail(sdk.BadOutput, "the model's answer is empty")
	default:
		return &sdk.Completion{Text: text, StopReason: string(a.done.Status), Model: string(a.done.Model), Usage: usage}, nil
	}
	f.Detail, f.Usage = httpapi.Clip(f.Detail, key), usage
	f.UpstreamRequestID = cmp.Or(f.UpstreamRequestID, a.requestID)
	_, counted := usage.Output.Value()
	if a.heard || counted {
		f.Effect = sdk.EffectCharged
	}
	return nil, f
}

func isMessage(item responses.ResponseOutputItemUnion) bool { return item.Type == "message" }

// text joins what the model wrote.
func text(r responses.Response) (text, refusal string) {
	for _, item := range r.Output {
		if !isMessage(item) {
			continue
		}
		for _, c := range item.Content {
			text += c.Text
			refusal += c.Refusal
		}
	}
	return text, refusal
}

// usage takes the cached tokens out of the input. What a server did not send stays
// unknown; there is never a cost.
func usage(r responses.Response) sdk.Usage {
	u := r.Usage
	var out sdk.Usage
	if !u.JSON.InputTokens.Valid() || u.InputTokens == 0 && u.OutputTokens == 0 {
		return out
	}
	in := u.InputTokens
	if u.InputTokensDetails.JSON.CachedTokens.Valid() {
		in -= u.InputTokensDetails.CachedTokens
		out.CacheRead = sdk.Known(u.InputTokensDetails.CachedTokens)
	}
	if u.InputTokensDetails.JSON.CacheWriteTokens.Valid() {
		in -= u.InputTokensDetails.CacheWriteTokens
		out.CacheWrite = sdk.Known(u.InputTokensDetails.CacheWriteTokens)
	}
	out.Input = sdk.Known(max(in, 0))
	if u.JSON.OutputTokens.Valid() {
		out.Output = sdk.Known(u.OutputTokens)
	}
	if u.OutputTokensDetails.JSON.ReasoningTokens.Valid() {
		out.Reasoning = sdk.Known(u.OutputTokensDetails.ReasoningTokens)
	}
	return out
}

// apiError is the body of an error, of a status or of an event.
type apiError struct {
	Type            string `json:"type"`
	Code            any    `json:"code"` // a word, or a number with some servers
	Message         string `json:"message"`
	ResetsInSeconds int64  `json:"resets_in_seconds"`
	ResetsAt        int64  `json:"resets_at"`
}

func (e apiError) code() string {
	if e.Code == nil {
		return e.Type
	}
	return fmt.Sprint(e.Code)
}

// classify says what an error of the client means: its status and code first.
func (p *provider) classify(err error) *sdk.Failure {
	var status *responses.Error
	var event *ssestream.StreamError
	switch {
	case errors.As(err, &status):
		var h http.Header
		if status.Response != nil {
			h = status.Response.Header
		}
		f := p.byStatus(status.StatusCode, h, status.RawJSON(), time.Now())
		f.Detail = httpapi.Clip(f.Detail, p.key())
		f.UpstreamRequestID = h.Get("X-Request-Id")
		return f
	case errors.As(err, &event):
		var body struct {
			Error apiError `json:"error"`
		}
		_ = json.Unmarshal(event.Event.Data, &body) // what it does not say stays empty
		return byCode(body.Error.code(), body.Error.Message)
	}
	f := httpjson.Broken(err)
	f.Detail = httpapi.Clip(f.Detail, p.key())
	return f
}

func (p *provider) byStatus(status int, h http.Header, raw string, now time.Time) *sdk.Failure {
	var e apiError
	if json.Unmarshal([]byte(raw), &e) != nil || e.Message == "" {
		e.Message = raw
	}
	code := e.code()
	opts := []sdk.FailOption{sdk.Detail(e.Message), sdk.Upstream(strings.TrimSpace(fmt.Sprintf("%d %s", status, code)), ""), sdk.EffectNone}
	fail := func(r sdk.Reason, summary string, more ...sdk.FailOption) *sdk.Failure {
		return sdk.Fail(r, summary, append(opts[:len(opts):len(opts)], more...)...)
	}
	switch {
	case status == 401 && p.key() == "":
		return fail(sdk.NotLoggedIn, "the model's API wants a key", sdk.Fix(keyFix))
	case status == 401:
		return fail(sdk.AuthRejected, "the model's API rejected the key", sdk.Fix(keyFix))
	case status == 402, code == "insufficient_quota", code == "billing_not_active":
		return fail(sdk.Billing, "the account has no credit left", sdk.Fix("look at https://platform.openai.com/settings/organization/billing"))
	case status == 403:
		return fixes.Status(status, opts...)
	case code == "usage_limit_reached":
		return fail(sdk.QuotaExhausted, "the account's usage limit is reached", sdk.ResetAt(e.reset(h, now)), sdk.Limit("usage"))
	case status == 429:
		return fail(sdk.RateLimited, "the model's API limits the rate of requests", sdk.RetryAfter(httpjson.RetryAfter(h, now)))
	case code == "context_length_exceeded", status == 413, code == "string_above_max_length":
		return fail(sdk.TooLarge, "the prompt is longer than the model's context")
	case code == "content_policy_violation", code == "content_filter":
		return fail(sdk.Refused, "the prompt was held back by a content filter")
	case code == "model_not_found", status == 404 && e.Type == "invalid_request_error":
		return fail(sdk.ModelUnknown, "the API does not know this model", sdk.Fix("correct the model's name in the configuration"))
	case status == 404:
		return fail(sdk.BadConfig, "the server has no Responses API", sdk.Fix("correct base_url in the plugin's configuration; it ends with /v1 for most servers"))
	case status == 408, status == 504:
		return fail(sdk.Timeout, "the model's API gave the request up", sdk.EffectUnknown)
	}
	return fixes.Status(status, append(opts, sdk.RetryAfter(httpjson.RetryAfter(h, now)))...)
}

var fixes = httpapi.Fixes{Access: "use a key whose project has access to the model: https://platform.openai.com"}

// reset is when a usage limit ends; zero when it is not said.
func (e apiError) reset(h http.Header, now time.Time) time.Time {
	switch {
	case e.ResetsAt > 0:
		return httpjson.Epoch(float64(e.ResetsAt))
	case e.ResetsInSeconds > 0:
		return now.Add(time.Duration(e.ResetsInSeconds) * time.Second)
	}
	if d := httpjson.RetryAfter(h, now); d > 0 {
		return now.Add(d)
	}
	return time.Time{}
}

// byCode says what an error inside a stream means. Nothing reports whether the tokens
// so far are charged.
func byCode(code, message string) *sdk.Failure {
	opts := []sdk.FailOption{sdk.Detail(message), sdk.Upstream(code, "")}
	fail := func(r sdk.Reason, summary string) *sdk.Failure { return sdk.Fail(r, summary, opts...) }
	switch code {
	case "rate_limit_exceeded":
		return fail(sdk.RateLimited, "the model's API limits the rate of requests")
	case "server_error", "overloaded", "slow_down", "server_is_overloaded":
		return fail(sdk.Overloaded, "the model's API failed while it answered")
	case "context_length_exceeded", "image_too_large", "image_file_too_large":
		return fail(sdk.TooLarge, "the prompt is longer than the model's context")
	case "invalid_prompt", "bio_policy", "misalignment_policy_violation", "image_content_policy_violation", "content_filter":
		return fail(sdk.Refused, "the prompt was refused")
	case "insufficient_quota":
		f := fail(sdk.Billing, "the account has no credit left")
		f.Fix = "look at https://platform.openai.com/settings/organization/billing"
		return f
	}
	if strings.HasPrefix(code, "invalid_") || strings.HasPrefix(code, "image_") {
		return fail(sdk.BadRequest, "the model's API refused the request")
	}
	return fail(sdk.Internal, "the model's API reported an error of a kind that this plugin does not know")
}
