package codexcli

import (
	"cmp"
	"regexp"
	"strconv"
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
	Text    string // the model's last message
	Session string
	Usage   sdk.Usage
	// Problems are commands and edits that failed inside the turn, for people.
	Problems []string
}

// Verdict judges a whole run. Exactly one of the two values is not nil.
func (s *Stream) Verdict(end End) (*Answer, *sdk.Failure) {
	if f := s.failure(end); f != nil {
		f.Usage = s.usage
		if f.Effect == 0 {
			f.Effect = s.effect(f.Reason)
		}
		return nil, f
	}
	return s.Answer(), nil
}

// Answer is what the run said, whatever the verdict on it.
func (s *Stream) Answer() *Answer {
	return &Answer{Text: s.answer, Session: s.session, Usage: s.usage, Problems: s.problems}
}

// effect is what a failed run left behind.
func (s *Stream) effect(why sdk.Reason) sdk.Effect {
	switch {
	case s.acted && s.writes:
		return sdk.EffectChanged
	case s.answered, s.done:
		return sdk.EffectCharged
	case !s.begun:
		return sdk.EffectNone
	}
	switch why {
	case sdk.Network, sdk.Timeout, sdk.Cancelled, sdk.Internal:
		return sdk.EffectUnknown // a request may have been under way
	}
	return sdk.EffectNone // the server said no
}

func (s *Stream) failure(end End) *sdk.Failure {
	switch {
	case s.ended:
		return classify(s.failed, end.Now)
	case s.strange != "":
		return clitool.UnknownShape("codex", s.strange)
	case !s.done:
		return s.noTurn(end)
	case end.ExitCode != 0 || end.Signal != "":
		return sdk.Fail(sdk.Internal, "codex completed its turn and then ended with "+end.String(), sdk.Detail(end.Stderr))
	case !s.messaged:
		return sdk.Fail(sdk.BadOutput, "the model ended without a message")
	case strings.TrimSpace(s.answer) == "":
		return sdk.Fail(sdk.BadOutput, "the model's answer is empty")
	}
	return nil
}

// noTurn is a run that ended before it said anything final.
func (s *Stream) noTurn(end End) *sdk.Failure {
	why := sdk.Detail(cmp.Or(end.Stderr, s.notice, s.stray))
	switch {
	case end.Signal != "" || end.ExitCode > 128:
		return sdk.Fail(sdk.Internal, "codex was ended by "+end.String()+" before it answered", why)
	case end.ExitCode == 0:
		return sdk.Fail(sdk.Internal, "codex ended without an answer and without an error", why)
	case !s.begun:
		return sdk.Fail(sdk.BadConfig, "codex did not accept how it was started: "+clitool.Clip(clitool.FirstLine(end.Stderr), 150), why, sdk.EffectNone,
			sdk.Fix("`codex --version`; compare it with the versions that the plugin names as tested, and look at the plugin's configuration"))
	}
	return sdk.Fail(sdk.Internal, "codex ended with "+end.String()+" before it answered", why)
}

// said are the sentences of a failed turn, by how they begin. Apostrophes are made
// straight first.
var said = []struct {
	begin   *regexp.Regexp
	reason  sdk.Reason
	summary string
	fix     string
}{
	{regexp.MustCompile(`^Quota exceeded`), sdk.Billing, "the account's quota is used up", "look at https://platform.openai.com/settings/organization/billing"},
	{regexp.MustCompile(`^To use Codex with your ChatGPT plan, upgrade`), sdk.Billing, "the ChatGPT plan has no Codex", "upgrade the plan, or put an API key into OPENAI_API_KEY"},
	{regexp.MustCompile(`^Missing environment variable`), sdk.NotLoggedIn, "codex has no key", loginFix},
	{regexp.MustCompile(`^We're currently experiencing high demand|^Selected model is at capacity`), sdk.Overloaded, "the model's API is overloaded", ""},
	{regexp.MustCompile(`^Codex ran out of room`), sdk.TooLarge, "the prompt is longer than the model's context", ""},
	{regexp.MustCompile(`^Incomplete response returned, reason: content_filter`), sdk.Refused, "the answer was held back by a content filter", ""},
	{regexp.MustCompile(`^Incomplete response returned, reason: max_output_tokens`), sdk.TooLarge, "the answer is longer than the model may write", ""},
	{regexp.MustCompile(`^The model \S+ does not exist|^The requested model \S+ does not exist`), sdk.ModelUnknown, "the API does not know this model", "correct the model's name in the configuration"},
	{regexp.MustCompile(`^stream disconnected before completion: idle timeout`), sdk.Timeout, "the model's API fell silent", ""},
	{regexp.MustCompile(`^stream disconnected|^Connection failed`), sdk.Network, "the connection to the model's API failed", ""},
}

var (
	usageLimit = regexp.MustCompile(`^You've hit your usage limit`)
	rateLimit  = regexp.MustCompile(`^(?:stream disconnected before completion: |rate limit exceeded: )*Rate limit reached`)
	statusRE   = regexp.MustCompile(`^(?:unexpected status|exceeded retry limit, last status:) (\d{3})\b`)
	requestID  = regexp.MustCompile(`request id: ([A-Za-z0-9_-]{4,80})`)
)

// classify says what the message of a failed turn means.
func classify(message string, now time.Time) *sdk.Failure {
	m := strings.ReplaceAll(strings.TrimSpace(message), "’", "'")
	detail := sdk.Detail(clitool.Clip(message, 2000))
	f := func() *sdk.Failure {
		switch {
		case usageLimit.MatchString(m):
			return quota(m, now, detail)
		case rateLimit.MatchString(m):
			return rateLimited(m, now, detail)
		}
		for _, s := range said {
			if s.begin.MatchString(m) {
				return sdk.Fail(s.reason, s.summary, detail, sdk.Fix(s.fix))
			}
		}
		if status := statusRE.FindStringSubmatch(m); status != nil {
			code, _ := strconv.Atoi(status[1])
			f := byStatus(code, m, now, detail)
			f.UpstreamCode = status[1]
			return f
		}
		return sdk.Fail(sdk.Internal, "codex reported an error of a kind that this plugin does not know: "+clitool.Clip(clitool.FirstLine(m), 100), detail)
	}()
	if id := requestID.FindStringSubmatch(m); id != nil {
		f.UpstreamRequestID = id[1]
	}
	return f
}

var fixes = httpapi.Fixes{Key: loginFix, Billing: "look at https://platform.openai.com/settings/organization/billing",
	Access: "use a key whose project has access to the model: https://platform.openai.com", Model: "correct the model's name in the configuration, or base_url"}

func byStatus(status int, m string, now time.Time, detail sdk.FailOption) *sdk.Failure {
	switch {
	case status == 429 && strings.Contains(m, `"usage_limit_reached"`):
		return quota(m, now, detail)
	case status == 429:
		return rateLimited(m, now, detail)
	}
	return fixes.Status(status, detail)
}

func rateLimited(m string, now time.Time, detail sdk.FailOption) *sdk.Failure {
	const summary = "the model's API limits the rate of requests"
	wait := 30 * time.Second
	if at := resetTime(m, now); !at.IsZero() {
		wait = at.Sub(now)
	}
	return sdk.Fail(sdk.RateLimited, summary, detail, sdk.RetryAfter(wait))
}

// quota is an account's limit over hours or days.
func quota(m string, now time.Time, detail sdk.FailOption) *sdk.Failure {
	at := resetTime(m, now)
	if at.IsZero() {
		return sdk.Fail(sdk.QuotaExhausted, "the account's usage limit is reached; it was not said until when", detail, sdk.Limit("usage"))
	}
	return sdk.Fail(sdk.QuotaExhausted, "the account's usage limit is reached", detail, sdk.ResetAt(at), sdk.Limit("usage"))
}
