package claudecli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/paxiom/relay/plugins/internal/clitool"
	"github.com/paxiom/relay/plugins/internal/httpapi"
	"github.com/paxiom/relay/sdk"
)

// End is how the process ended.
type End = clitool.End

// Answer is a good run.
type Answer struct {
	Text       string
	Structured json.RawMessage // nil when no schema was asked for
	StopReason string
	Model      string
	Session    string
	Usage      sdk.Usage
	Denied     []string // tool calls that were refused, for people: "Write NEW.md"
}

// Want is what a run was to bring.
type Want struct {
	Schema bool // an answer in a schema
	Work   bool // work with tools, and not only an answer
}

// Verdict judges a whole run. Exactly one of the two values is not nil.
func (s *Stream) Verdict(end End, want Want) (*Answer, *sdk.Failure) {
	if want.Schema && s.structured == nil {
		s.structured = s.textAsJSON()
	}
	f := s.failure(end, want)
	if f != nil {
		f.Effect, f.Usage = s.effect(), s.used()
		f.UpstreamRequestID = cmp.Or(f.UpstreamRequestID, s.apiError.requestID)
		return nil, f
	}
	return s.Answer(), nil
}

// Answer is what the run said, whatever the verdict on it.
func (s *Stream) Answer() *Answer {
	a := &Answer{
		Text: s.answer(), Structured: s.structured, StopReason: s.result.StopReason,
		Session: s.started.Session, Usage: s.used(), Model: s.result.answeredBy(),
	}
	a.Model = cmp.Or(a.Model, s.model)
	for _, d := range s.result.Denials {
		a.Denied = append(a.Denied, strings.TrimSpace(d.Tool+" "+cmp.Or(d.Input.Path, d.Input.Command)))
	}
	return a
}

// textAsJSON is an answer that the model gave as text and that is JSON from end to end: it
// was bought, and the host holds it to the schema. With one turn the program has none
// left for its own way of giving an answer in a schema.
func (s *Stream) textAsJSON() json.RawMessage {
	text := []byte(strings.TrimSpace(s.answer()))
	if len(text) == 0 || text[0] != '{' && text[0] != '[' || !json.Valid(text) {
		return nil
	}
	return text
}

// effect is what a failed run left behind.
func (s *Stream) effect() sdk.Effect {
	spent := func(c sdk.Count) bool { n, _ := c.Value(); return n > 0 }
	u := s.used()
	switch {
	case s.acted:
		return sdk.EffectChanged
	case s.answered, spent(u.Input), spent(u.Output), spent(u.CacheRead), spent(u.CacheWrite):
		return sdk.EffectCharged
	case s.results > 0, s.started == (Started{}):
		return sdk.EffectNone
	}
	return sdk.EffectUnknown // a request may have been under way
}

// KnownShape says that the last result has what every result of a known version has.
// Of another one nothing is taken, not even its text.
func (s *Stream) KnownShape() bool { return s.result.IsError != nil && s.result.Subtype != "" }

func (s *Stream) failure(end End, want Want) *sdk.Failure {
	if s.results == 0 {
		return s.noResult(end, want)
	}
	r := s.result
	switch {
	case !s.KnownShape():
		return clitool.UnknownShape("claude", s.stray)
	case r.Subtype == "error_max_turns" && want.Schema && !want.Work && s.structured != nil:
		return nil // all that was wanted is there
	case *r.IsError || r.Subtype != "success":
		return s.reported(want)
	case !end.Enough && (end.ExitCode != 0 || end.Signal != ""):
		return sdk.Fail(sdk.Internal, "claude reported success and then ended with "+end.String(), sdk.Detail(end.Stderr))
	case r.Result == nil && s.structured == nil && !want.Work: // it was cut off; no answer of the model's
		return sdk.Fail(sdk.Internal, "claude ended with a result that holds none", sdk.Detail(clitool.Clip(s.text, 2000)))
	case want.Schema && s.structured == nil:
		return sdk.Fail(sdk.BadOutput, "the model's answer doesn't match the schema",
			sdk.Detail(clitool.Clip(s.answer(), 2000)))
	case !want.Schema && strings.TrimSpace(s.answer()) == "":
		return sdk.Fail(sdk.BadOutput, "the model's answer is empty")
	}
	return nil
}

// noResult is a run that ended before it said anything final.
func (s *Stream) noResult(end End, want Want) *sdk.Failure {
	why := sdk.Detail(cmp.Or(strings.TrimSpace(end.Stderr), s.stray, "it printed nothing and ended with "+end.String()))
	switch {
	case end.Signal != "" || end.ExitCode > 128:
		return sdk.Fail(sdk.Internal, "claude was ended by "+end.String()+" before it answered", why)
	case end.ExitCode == 0 && want.Work: // its work is there, and the word on it is missing
		return sdk.Fail(sdk.BadOutput, "claude ended without a result and without an error", why)
	case end.ExitCode == 0:
		return sdk.Fail(sdk.Internal, "claude ended without an answer and without an error", why)
	case s.started == (Started{}):
		return sdk.Fail(sdk.BadConfig, "claude did not accept how it was started", why,
			sdk.Fix("`claude --version`; compare it with the versions that the plugin names as tested, and look at the plugin's configuration"))
	}
	return sdk.Fail(sdk.Internal, "claude ended with "+end.String()+" before it answered", why)
}

// StructuredOutputRetries is the LimitName of a run whose every answer in the
// schema was wrong.
const StructuredOutputRetries = "structured_output_retries"

// reported classifies an error that the program reported itself.
func (s *Stream) reported(want Want) *sdk.Failure {
	r := s.result
	said := sdk.Detail(clitool.Clip(cmp.Or(strings.Join(r.Errors, "; "), s.answer()), 2000))
	code := cmp.Or(r.APIErrorType, r.APIError, s.apiError.kind, r.Subtype)
	if r.Status != nil {
		code = fmt.Sprintf("%d %s", *r.Status, code)
	}
	up := sdk.Upstream(code, s.apiError.requestID)
	switch r.Subtype {
	case "error_max_turns":
		if want.Schema && !want.Work {
			// Nothing was left to do but to answer: the turns went on answers out of the schema.
			return sdk.Fail(sdk.BadOutput, "the model ran out of turns before returning valid JSON", said, up)
		}
		return sdk.Fail(sdk.LimitReached, "the model used all the turns it was given", said, up, sdk.Limit("max_turns"))
	case "error_max_budget_usd":
		return sdk.Fail(sdk.LimitReached, "the run reached its limit in dollars", said, up, sdk.Limit("max_budget_usd"))
	case "error_max_structured_output_retries":
		return sdk.Fail(sdk.LimitReached, "every answer of the model broke the schema", said, up, sdk.Limit(StructuredOutputRetries))
	}
	if strings.HasPrefix(r.TerminalReason, "aborted") {
		return sdk.Fail(sdk.Cancelled, "claude was interrupted", said, up)
	}
	if r.TerminalReason == "prompt_too_long" {
		return sdk.Fail(sdk.TooLarge, "the prompt is longer than the model's context", said, up)
	}
	if r.StopReason == "refusal" {
		return sdk.Fail(sdk.Refused, "the model refused to answer", said, up)
	}
	if f := s.byKind(said, up); f != nil {
		return f
	}
	return s.byStatus(said, up)
}

// byKind uses the words in which the program itself classified the error.
func (s *Stream) byKind(opts ...sdk.FailOption) *sdk.Failure {
	fail := func(r sdk.Reason, summary string, more ...sdk.FailOption) *sdk.Failure {
		return sdk.Fail(r, summary, append(more, opts...)...)
	}
	switch s.result.APIError {
	case "usage_limit_reached":
		return s.quota(opts)
	case "connection_failed":
		return fail(sdk.Network, "the connection to the model's API failed")
	case "max_output_tokens":
		return fail(sdk.TooLarge, "the answer is longer than the model may write")
	}
	if _, _, limit := limitText(s.apiError.text, time.Now()); limit { // versions that say it in words only
		return s.quota(opts)
	}
	switch s.apiError.kind {
	case "billing_error":
		return fail(sdk.Billing, "the account has no credit left",
			sdk.Fix("add credit at https://console.anthropic.com/settings/billing, or use another key"))
	case "authentication_failed", "oauth_org_not_allowed":
		if s.result.Status == nil {
			return fail(sdk.NotLoggedIn, "claude is not logged in", sdk.Fix(loginFix))
		}
	case "server_error":
		if s.result.Status == nil {
			return fail(sdk.Timeout, "the model's API did not answer in time")
		}
	}
	return nil
}

const loginFix = "`claude auth login`, or set ANTHROPIC_API_KEY"

var fixes = httpapi.Fixes{Key: loginFix, Billing: "look at https://console.anthropic.com/settings/billing",
	Access: "use a key whose workspace has access to the model: https://console.anthropic.com", Model: "correct the model's name in the configuration"}

// byStatus uses the API's HTTP status.
func (s *Stream) byStatus(opts ...sdk.FailOption) *sdk.Failure {
	switch {
	case s.result.Status == nil:
		return sdk.Fail(sdk.Internal, "claude reported an error of a kind that this plugin does not know", opts...)
	case *s.result.Status == 429:
		return s.rateLimited(opts)
	}
	return fixes.Status(*s.result.Status, opts...)
}

// Waits for a limit that names none. The program asks again by itself while the
// API's retry-after is short, so a limit at which it did not is a long one.
const (
	shortWait = 30 * time.Second
	longWait  = 5 * time.Minute
)

func (s *Stream) rateLimited(opts []sdk.FailOption) *sdk.Failure {
	wait := longWait
	if n := len(s.retries); n > 0 {
		wait = max(shortWait, 2*s.retries[n-1].Delay)
	}
	return sdk.Fail(sdk.RateLimited, "the model's API limits the rate of requests", append(opts, sdk.RetryAfter(wait))...)
}

// quota is an account's limit over hours or days. Until when it lasts is said by the
// stream's events, and where there are none by the message.
func (s *Stream) quota(opts []sdk.FailOption) *sdk.Failure {
	info := s.rejected
	if info == nil {
		info = s.apiError.limit
	}
	now := time.Now()
	name, said, _ := limitText(s.apiError.text, now)
	reset := said
	if info != nil {
		name = info.Type
		if info.ResetsAt > 0 {
			reset = info.reset()
		}
	}
	opts = append(opts, sdk.Limit(name))
	if !reset.After(now) {
		return sdk.Fail(sdk.QuotaExhausted, "the account's usage limit is reached; it is not known until when", opts...)
	}
	return sdk.Fail(sdk.QuotaExhausted, "the account's usage limit is reached", append(opts, sdk.ResetAt(reset))...)
}
