package sdk

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/paxiom/relay/sdk/pluginpb"
)

// Reason is why work failed, as a fact. The host alone decides what follows from it.
type Reason int32

// The reasons. Classify from structured output (status codes, error types), never by
// searching a model's text for words.
const (
	BadRequest     = Reason(pluginpb.Failure_REASON_BAD_REQUEST)
	BadConfig      = Reason(pluginpb.Failure_REASON_BAD_CONFIG)
	NotLoggedIn    = Reason(pluginpb.Failure_REASON_NOT_LOGGED_IN)
	AuthRejected   = Reason(pluginpb.Failure_REASON_AUTH_REJECTED)
	Permission     = Reason(pluginpb.Failure_REASON_PERMISSION)
	RateLimited    = Reason(pluginpb.Failure_REASON_RATE_LIMITED)    // short: give RetryAfter
	QuotaExhausted = Reason(pluginpb.Failure_REASON_QUOTA_EXHAUSTED) // long: give ResetAt when it is known
	Billing        = Reason(pluginpb.Failure_REASON_BILLING)
	Overloaded     = Reason(pluginpb.Failure_REASON_OVERLOADED)
	Network        = Reason(pluginpb.Failure_REASON_NETWORK)
	Timeout        = Reason(pluginpb.Failure_REASON_TIMEOUT)
	Cancelled      = Reason(pluginpb.Failure_REASON_CANCELLED)
	TooLarge       = Reason(pluginpb.Failure_REASON_TOO_LARGE)  // context window or message size
	Refused        = Reason(pluginpb.Failure_REASON_REFUSED)    // content policy
	BadOutput      = Reason(pluginpb.Failure_REASON_BAD_OUTPUT) // breaks the schema that was asked for
	ModelUnknown   = Reason(pluginpb.Failure_REASON_MODEL_UNKNOWN)
	ToolMissing    = Reason(pluginpb.Failure_REASON_TOOL_MISSING) // a program is missing or too old
	Unsupported    = Reason(pluginpb.Failure_REASON_UNSUPPORTED)
	Internal       = Reason(pluginpb.Failure_REASON_INTERNAL)      // a bug of the plugin
	LimitReached   = Reason(pluginpb.Failure_REASON_LIMIT_REACHED) // a limit of ours: turns, dollars
)

// String gives the protocol's name: "RATE_LIMITED".
func (r Reason) String() string {
	return strings.TrimPrefix(pluginpb.Failure_Reason(r).String(), "REASON_")
}

// UserCanFix reports whether a person must act before the call can work; such a failure
// has a Fix.
func (r Reason) UserCanFix() bool {
	switch r {
	case NotLoggedIn, AuthRejected, Billing, Permission, BadConfig, ToolMissing:
		return true
	}
	return false
}

// beforeWork reports whether an upstream that answers so has done nothing for the call.
func (r Reason) beforeWork() bool {
	switch r {
	case BadRequest, RateLimited, QuotaExhausted, Overloaded, ModelUnknown, Unsupported:
		return true
	}
	return r.UserCanFix()
}

// Effect is what a failed call left behind. An Effect is also an option of Fail:
// Fail(Timeout, "…", EffectCharged).
type Effect int32

const (
	EffectNone    = Effect(pluginpb.Failure_EFFECT_NONE)    // nothing charged, nothing changed
	EffectCharged = Effect(pluginpb.Failure_EFFECT_CHARGED) // tokens were used
	EffectChanged = Effect(pluginpb.Failure_EFFECT_CHANGED) // the workspace was changed
	EffectUnknown = Effect(pluginpb.Failure_EFFECT_UNKNOWN)
)

// String gives the protocol's name: "CHARGED".
func (e Effect) String() string {
	return strings.TrimPrefix(pluginpb.Failure_Effect(e).String(), "EFFECT_")
}

// Failure is the error that a handler returns. Make one with Fail.
type Failure struct {
	Reason            Reason
	Summary           string // what happened: one line, at most 200 bytes; longer ones are cut
	Detail            string // why, as far as it is known
	Fix               string // what the user can do, a command where there is one
	RetryAfter        time.Duration
	ResetAt           time.Time
	LimitName         string // "five_hour"
	UpstreamCode      string // "overloaded_error", "429"
	UpstreamRequestID string
	// Effect left at zero: none when the reason means that nothing was done and no
	// event had been sent, otherwise unknown.
	Effect Effect
	Usage  Usage // joined with what was sent to Events
	Err    error // the cause, for errors.Is; not sent
}

// FailOption adds a fact to a Failure.
type FailOption interface{ apply(*Failure) }

type failOption func(*Failure)

func (o failOption) apply(f *Failure) { o(f) }
func (e Effect) apply(f *Failure)     { f.Effect = e }

// Fail makes a Failure: what happened, in one line of at most 200 bytes.
func Fail(r Reason, summary string, opts ...FailOption) *Failure {
	f := &Failure{Reason: r, Summary: summary}
	for _, o := range opts {
		o.apply(f)
	}
	return f
}

// Detail says why, as far as it is known. No secrets.
func Detail(text string) FailOption { return failOption(func(f *Failure) { f.Detail = text }) }

// Fix says what the user can do; a command in backticks where there is one.
func Fix(text string) FailOption { return failOption(func(f *Failure) { f.Fix = text }) }

// RetryAfter says how long the upstream asked to wait.
func RetryAfter(d time.Duration) FailOption {
	return failOption(func(f *Failure) { f.RetryAfter = d })
}

// ResetAt says when an exhausted quota is renewed.
func ResetAt(t time.Time) FailOption { return failOption(func(f *Failure) { f.ResetAt = t }) }

// Limit names the limit that was hit: "five_hour".
func Limit(name string) FailOption { return failOption(func(f *Failure) { f.LimitName = name }) }

// Upstream gives the vendor's own error code and the id of the request; both may be empty.
func Upstream(code, requestID string) FailOption {
	return failOption(func(f *Failure) { f.UpstreamCode, f.UpstreamRequestID = code, requestID })
}

// Spent says what the failed call used.
func Spent(u Usage) FailOption { return failOption(func(f *Failure) { f.Usage = u }) }

// Cause keeps err for errors.Is and errors.As, and its text as Detail when there is
// none yet.
func Cause(err error) FailOption {
	return failOption(func(f *Failure) {
		if f.Err = err; err != nil && f.Detail == "" {
			f.Detail = err.Error()
		}
	})
}

// Error gives reason, summary and detail on one line.
func (f *Failure) Error() string {
	s := f.Reason.String() + ": " + f.Summary
	if f.Detail != "" {
		s += ": " + f.Detail
	}
	return s
}

// Unwrap gives the cause.
func (f *Failure) Unwrap() error { return f.Err }

// AsFailure makes a Failure of any error: itself when there is one in the chain,
// Cancelled or Timeout for the end of a context, otherwise Internal. Nil stays nil.
func AsFailure(err error) *Failure {
	var f *Failure
	switch {
	case err == nil:
		return nil
	case errors.As(err, &f) && f == nil:
		return Fail(Internal, "the plugin returned a failure that is nil")
	case f != nil:
		return f
	case errors.Is(err, context.Canceled):
		return Fail(Cancelled, "the call was canceled", Cause(err))
	case errors.Is(err, context.DeadlineExceeded):
		return Fail(Timeout, "the call took longer than it may", Cause(err))
	}
	return Fail(Internal, "the plugin failed with an error it did not expect", Cause(err))
}

const maxSummary = 200

// proto gives the wire form, with the summary brought into its limits.
func (f *Failure) proto() *pluginpb.Failure {
	out := &pluginpb.Failure{
		Reason: pluginpb.Failure_Reason(f.Reason), Summary: oneLine(f.Summary, maxSummary), Detail: valid(f.Detail), Fix: valid(f.Fix),
		LimitName: valid(f.LimitName), UpstreamCode: valid(f.UpstreamCode), UpstreamRequestId: valid(f.UpstreamRequestID),
		Effect: pluginpb.Failure_Effect(f.Effect), Usage: f.Usage.proto(),
	}
	if out.Summary != f.Summary && f.Detail == "" {
		out.Detail = valid(f.Summary)
	}
	if out.Reason == pluginpb.Failure_REASON_UNSPECIFIED {
		out.Reason = pluginpb.Failure_REASON_INTERNAL
	}
	out.Summary = cmp.Or(out.Summary, "the plugin gave no reason")
	if out.Effect == pluginpb.Failure_EFFECT_UNSPECIFIED {
		out.Effect = pluginpb.Failure_EFFECT_UNKNOWN
	}
	if f.RetryAfter > 0 {
		out.RetryAfter = durationpb.New(f.RetryAfter)
	}
	if !f.ResetAt.IsZero() {
		out.ResetAt = timestamppb.New(f.ResetAt)
	}
	return out
}

// oneLine folds white space and cuts at limit bytes, between two characters.
func oneLine(s string, limit int) string {
	s = strings.Join(strings.Fields(valid(s)), " ")
	if len(s) <= limit {
		return s
	}
	const more = "…"
	s = s[:limit-len(more)]
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s + more
}

// valid makes s fit for a protobuf string: broken bytes would fail the whole message.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
