package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/anthropics/anthropic-sdk-go"

	"github.com/paxiom/relay/plugins/internal/httpapi"
	"github.com/paxiom/relay/plugins/internal/outschema"
	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/httpjson"
)

// answer is what came of one call.
type answer struct {
	out     sdk.Events
	secrets []string
	tool    bool // the answer is a tool's input

	requestID string
	model     string
	text      strings.Builder
	input     strings.Builder
	usage     sdk.Usage
	stop      anthropic.StopReason
	why       string // of a refusal
	begun     bool   // the model was reached: tokens are charged
	ended     bool
	failed    *sdk.Failure
}

// maxAnswer bounds what is kept of an answer that never ends.
const maxAnswer = 24 << 20

// headers tells the account's limits and keeps the id of the request.
func (a *answer) headers(h http.Header, now time.Time) {
	a.requestID = h.Get("Request-Id")
	for _, l := range limits(h, now) {
		a.out.RateLimit(l)
	}
}

// limits reads the limits that the API tells with each answer.
func limits(h http.Header, now time.Time) []sdk.RateLimit {
	var out []sdk.RateLimit
	for _, what := range []string{"requests", "input-tokens", "output-tokens", "tokens"} {
		prefix := "Anthropic-Ratelimit-" + what + "-"
		total, err := strconv.ParseInt(h.Get(prefix+"Limit"), 10, 64)
		left, err2 := strconv.ParseInt(h.Get(prefix+"Remaining"), 10, 64)
		if err != nil || err2 != nil || total <= 0 || left < 0 || left > total {
			continue
		}
		l := sdk.RateLimit{Name: strings.ReplaceAll(what, "-", "_") + "_per_minute", Limit: total, Remaining: left,
			UsedFraction: 1 - float64(left)/float64(total)}
		if at, err := time.Parse(time.RFC3339, h.Get(prefix+"Reset")); err == nil && at.After(now.Add(-time.Hour)) {
			l.ResetAt = at
		}
		out = append(out, l)
	}
	return out
}

// take follows one event of the stream.
func (a *answer) take(e anthropic.MessageStreamEventUnion) {
	switch e.Type {
	case "message_start":
		a.begun = true
		a.model = string(e.Message.Model)
		a.out.Started(sdk.Started{Model: a.model, UpstreamRequestID: a.requestID})
		u := e.Message.Usage
		if u.JSON.InputTokens.Valid() {
			a.usage = sdk.Usage{Input: sdk.Known(u.InputTokens), CacheRead: sdk.Known(u.CacheReadInputTokens), CacheWrite: sdk.Known(u.CacheCreationInputTokens)}
			a.out.Usage(a.usage)
		}
	case "content_block_delta":
		a.piece(e.Delta)
	case "message_delta":
		a.stop, a.why = e.Delta.StopReason, e.Delta.StopDetails.Explanation
		if u := e.Usage; u.JSON.OutputTokens.Valid() {
			a.usage.Output = sdk.Known(u.OutputTokens)
			if u.OutputTokensDetails.JSON.ThinkingTokens.Valid() {
				a.usage.Reasoning = sdk.Known(u.OutputTokensDetails.ThinkingTokens)
			}
			a.out.Usage(a.usage)
		}
	case "message_stop":
		a.ended = true
	}
}

func (a *answer) piece(d anthropic.MessageStreamEventUnionDelta) {
	switch d.Type {
	case "text_delta":
		a.text.WriteString(d.Text)
		a.out.Text(d.Text)
	case "input_json_delta":
		a.input.WriteString(d.PartialJSON)
	}
	if a.text.Len()+a.input.Len() > maxAnswer {
		a.ended = true
		a.failed = sdk.Fail(sdk.TooLarge, "the answer is larger than a plugin may send")
	}
}

// completion is the verdict: the answer, or why there is none.
func (a *answer) completion(schema *outschema.Schema) (*sdk.Completion, error) {
	done := &sdk.Completion{Text: a.text.String(), StopReason: string(a.stop), Model: a.model, Usage: a.usage}
	if a.tool {
		done.Text = a.input.String()
	}
	f := a.failed
	if f == nil {
		f = a.stopped(done.Text)
	}
	if f == nil && schema != nil {
		var err error
		done.JSON, err = schema.Read([]byte(done.Text))
		f = sdk.AsFailure(err)
	}
	if f == nil {
		return done, nil
	}
	f.Detail, f.Usage = httpapi.Clip(f.Detail, a.secrets...), a.usage
	f.UpstreamRequestID = cmp.Or(f.UpstreamRequestID, a.requestID)
	if a.begun {
		f.Effect = sdk.EffectCharged
	}
	return nil, f
}

// stopped reports whether the model came to the end that was wanted.
func (a *answer) stopped(text string) *sdk.Failure {
	up := sdk.Upstream(string(a.stop), "")
	switch a.stop {
	case anthropic.StopReasonEndTurn, anthropic.StopReasonStopSequence, anthropic.StopReasonToolUse:
		switch {
		case strings.TrimSpace(text) != "":
			return nil
		case a.stop == anthropic.StopReasonToolUse && !a.tool:
			return sdk.Fail(sdk.BadOutput, "the model called a tool and wrote no answer", up)
		}
		return sdk.Fail(sdk.BadOutput, "the model's answer is empty", up)
	case anthropic.StopReasonMaxTokens:
		return sdk.Fail(sdk.TooLarge, "the answer is longer than the model may write", up)
	case anthropic.StopReasonModelContextWindowExceeded:
		return sdk.Fail(sdk.TooLarge, "prompt and answer are longer than the model's context", up)
	case anthropic.StopReasonRefusal:
		return sdk.Fail(sdk.Refused, "the model refused to answer", up, sdk.Detail(a.why))
	}
	return sdk.Fail(sdk.BadOutput, "the model's answer is not complete", up)
}

// apiError is the body of an error, of a status or of an event.
type apiError struct {
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
	RequestID string `json:"request_id"`
}

// classify says what an error of the client means: its status and type first.
func classify(err error, key bool, now time.Time) *sdk.Failure {
	var status *anthropic.Error
	if !errors.As(err, &status) {
		return httpjson.Broken(err)
	}
	var h http.Header
	if status.Response != nil {
		h = status.Response.Header
	}
	var body apiError
	if json.Unmarshal([]byte(status.RawJSON()), &body) != nil || body.Error.Message == "" {
		body.Error.Message = status.RawJSON()
	}
	f := byStatus(status.StatusCode, h, body, key, now)
	f.Detail = body.Error.Message
	f.UpstreamCode = strings.TrimSpace(fmt.Sprintf("%d %s", status.StatusCode, body.Error.Type))
	if f.UpstreamRequestID = status.RequestID; f.UpstreamRequestID == "" {
		f.UpstreamRequestID = body.RequestID
	}
	if f.Effect == 0 && status.StatusCode >= 400 {
		f.Effect = sdk.EffectNone
	}
	return f
}

// statuses are those of the API's kinds of error; an error inside a stream has a
// kind only.
var statuses = map[string]int{
	"invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403, "not_found_error": 404,
	"request_too_large": 413, "rate_limit_error": 429, "api_error": 500, "timeout_error": 504, "overloaded_error": 529,
}

func byStatus(status int, h http.Header, body apiError, key bool, now time.Time) *sdk.Failure {
	if status < 400 {
		status = statuses[body.Error.Type]
	}
	message := body.Error.Message
	switch {
	case status == 401 && !key:
		return sdk.Fail(sdk.NotLoggedIn, "the model's API wants a key", sdk.Fix(keyFix))
	case status == 401:
		return sdk.Fail(sdk.AuthRejected, "the model's API rejected the key", sdk.Fix(keyFix))
	case status == 402, status == 400 && strings.HasPrefix(message, "Your credit balance is too low"):
		return sdk.Fail(sdk.Billing, "the account has no credit left", sdk.Fix("look at https://console.anthropic.com/settings/billing"))
	case status == 400 && tooLong.MatchString(message):
		m := tooLong.FindStringSubmatch(message)
		tokens, _ := strconv.ParseInt(m[1], 10, 64) // digits only
		limit, _ := strconv.ParseInt(m[2], 10, 64)
		return httpapi.TooLong("the model", tokens, limit)
	case status == 413, status == 400 && strings.HasPrefix(message, "prompt is too long"):
		return sdk.Fail(sdk.TooLarge, "the prompt is longer than the model's context")
	case status == 429:
		return limited(h, now)
	case status == 408, status == 504:
		return sdk.Fail(sdk.Timeout, "the model's API gave the request up", sdk.EffectUnknown)
	case status == 0:
		return sdk.Fail(sdk.Internal, "the model's API reported an error of a kind that this plugin does not know")
	}
	return fixes.Status(status, sdk.RetryAfter(httpjson.RetryAfter(h, now)))
}

var fixes = httpapi.Fixes{Access: "use a key whose workspace has access to the model: https://console.anthropic.com",
	Model: "correct the model's name in the configuration (the API takes whole names such as claude-sonnet-4-5), or base_url"}

// tooLong is how the API says by how much.
var tooLong = regexp.MustCompile(`^prompt is too long: (\d{1,15}) tokens > (\d{1,15}) maximum`)

// limited is a limit on requests, or the limit of an account over hours or days,
// which has headers of its own.
func limited(h http.Header, now time.Time) *sdk.Failure {
	const unified = "Anthropic-Ratelimit-Unified-"
	if h.Get(unified+"Status") == "rejected" {
		f := sdk.Fail(sdk.QuotaExhausted, "the account's usage limit is reached", sdk.Limit(h.Get(unified+"Representative-Claim")))
		epoch, _ := strconv.ParseFloat(h.Get(unified+"Reset"), 64)
		if at := httpjson.Epoch(epoch); at.After(now) {
			f.ResetAt = at
		}
		return f
	}
	f := sdk.Fail(sdk.RateLimited, "the model's API limits the rate of requests", sdk.RetryAfter(httpjson.RetryAfter(h, now)))
	for _, l := range limits(h, now) {
		if l.Remaining > 0 {
			continue
		}
		f.LimitName = l.Name
		if wait := l.ResetAt.Sub(now); f.RetryAfter == 0 && !l.ResetAt.IsZero() && wait > 0 {
			f.RetryAfter = wait
		}
	}
	return f
}
