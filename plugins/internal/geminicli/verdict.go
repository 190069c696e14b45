package geminicli

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"github.com/paxiom/relay/plugins/internal/clitool"
	"github.com/paxiom/relay/sdk"
)

// End is how the process ended.
type End = clitool.End

// Answer is a good run.
type Answer struct {
	Text    string // the model's last message
	Session string
	Model   string
	Usage   sdk.Usage
	// Problems are tools that failed or were refused inside the turn, for people.
	Problems []string
}

// Verdict judges a whole run. Exactly one of the two values is not nil.
func (s *Stream) Verdict(end End) (*Answer, *sdk.Failure) {
	if f := s.failure(end); f != nil {
		f.Usage = s.usage
		if e := s.effect(f.Reason); f.Effect == 0 || f.Effect == sdk.EffectNone && e != sdk.EffectUnknown {
			f.Effect = e
		}
		return nil, f
	}
	return s.Answer(), nil
}

// Answer is what the run said, whatever the verdict on it.
func (s *Stream) Answer() *Answer {
	return &Answer{Text: strings.TrimSpace(s.text.String()), Session: s.session, Model: s.model, Usage: s.usage, Problems: s.problems}
}

// effect is what a failed run left behind. A tool that has not come back may have
// done its work.
func (s *Stream) effect(why sdk.Reason) sdk.Effect {
	acted := s.acted
	for _, c := range s.calls {
		acted = acted || c.mayChange
	}
	_, counted := s.usage.Input.Value()
	switch {
	case acted:
		return sdk.EffectChanged
	case s.answered, counted:
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
	case s.strange != "":
		return clitool.UnknownShape("gemini", s.strange)
	case s.result == nil:
		return s.noResult(end)
	case s.result.Status == "error":
		return s.reported(end)
	case s.result.Status != "success":
		return clitool.UnknownShape("gemini", clitool.Clip(s.result.Status, 200))
	case len(s.errors) > 0: // "success" also ends a run that was stopped for its loops
		return stopped(s.errors[len(s.errors)-1])
	case end.ExitCode != 0 || end.Signal != "":
		return sdk.Fail(sdk.Internal, "gemini reported success and then ended with "+end.String(), sdk.Detail(clitool.Tail(end.Stderr)))
	case end.Finish == "length":
		return sdk.Fail(sdk.TooLarge, "the answer is longer than the model may write")
	case end.Finish == "content_filter":
		return sdk.Fail(sdk.Refused, "the answer was held back by a filter")
	case strings.TrimSpace(s.text.String()) == "":
		return sdk.Fail(sdk.BadOutput, "the model's answer is empty")
	}
	return nil
}

// The program's own sentences about an end that is none.
const (
	loopDetected = "Loop detected, stopping execution"
	maxTurns     = "Maximum session turns exceeded"
	safetyBlock  = "The model response was blocked due to safety settings."
	emptyAnswer  = "The model returned an empty response"
)

func stopped(e errorEvent) *sdk.Failure {
	detail := sdk.Detail(clitool.Clip(e.Message, 2000))
	switch {
	case e.Message == loopDetected:
		return sdk.Fail(sdk.LimitReached, "the model did the same again and again, and was stopped", sdk.Limit("loop"), detail)
	case e.Message == maxTurns:
		return sdk.Fail(sdk.LimitReached, "the turns of the call are used up", sdk.Limit("max_turns"), detail)
	case e.Message == safetyBlock:
		return sdk.Fail(sdk.Refused, "the answer was held back by a filter", detail)
	case strings.HasPrefix(e.Message, emptyAnswer):
		return sdk.Fail(sdk.BadOutput, "the model's answer is empty", detail)
	}
	return sdk.Fail(sdk.BadOutput, "gemini stopped the model before its end", detail)
}

// noResult is a run that ended before it said anything final.
func (s *Stream) noResult(end End) *sdk.Failure {
	why := sdk.Detail(cmp.Or(clitool.Tail(end.Stderr), s.stray))
	switch {
	case end.ExitCode == 41:
		return sdk.Fail(sdk.NotLoggedIn, "gemini has no key and no login that it can use", why, sdk.EffectNone, sdk.Fix(loginFix))
	case end.Signal != "" || end.ExitCode > 128:
		return sdk.Fail(sdk.Internal, "gemini was ended by "+end.String()+" before it answered", why)
	case s.cut: // it ends without waiting until its output is read
		return sdk.Fail(sdk.Internal, "gemini ended before all of its output was written: it loses what a long prompt leaves no room for", why, sdk.EffectUnknown,
			sdk.Fix("shorten FACTS.md, the instructions or the prompt overrides; or `\"transport\": \"api\"`, which has no such limit"))
	case end.ExitCode == 0: // also after a signal that it took for a wish
		return sdk.Fail(sdk.Internal, "gemini ended without an answer and without an error", why)
	case !s.begun:
		return sdk.Fail(sdk.BadConfig, "gemini did not accept how it was started ("+end.String()+")", why, sdk.EffectNone,
			sdk.Fix("`gemini --version`; compare it with the versions that the plugin names as tested, and look at the plugin's configuration"))
	}
	return sdk.Fail(sdk.Internal, "gemini ended with "+end.String()+" before it answered", why)
}

var (
	apiMessage = regexp.MustCompile(`(?s)^\[API Error: (.*?)\](?:\n|$)`)
	retryHint  = regexp.MustCompile(`\nSuggested retry after (\d{1,6}(?:\.\d{1,9})?)s\.`)
	notFound   = regexp.MustCompile(`(?m)^Error when talking to Gemini API .* ModelNotFoundError: `)
)

// reported is a run whose result says that it failed. The exit code is the HTTP status
// modulo 256; the message often has the API's whole error.
func (s *Stream) reported(end End) *sdk.Failure {
	if s.result.Error == nil {
		if len(s.errors) > 0 {
			return stopped(s.errors[len(s.errors)-1])
		}
		return sdk.Fail(sdk.Internal, "gemini reported an error and did not say which", sdk.Detail(clitool.Tail(end.Stderr)))
	}
	e := *s.result.Error
	if e.Type == "FatalTurnLimitedError" {
		return sdk.Fail(sdk.LimitReached, "the turns of the call are used up", sdk.Limit("max_turns"), sdk.Detail(clitool.Clip(e.Message, 2000)))
	}
	message := e.Message
	if m := apiMessage.FindStringSubmatch(e.Message); m != nil {
		message = m[1]
	}
	var body struct {
		Error APIError `json:"error"`
	}
	if json.Unmarshal([]byte(message), &body) == nil && body.Error.Code > 0 {
		return s.account.Classify(body.Error, 0, end.Now)
	}
	return s.unclear(message, end)
}

// unclear is an error without the API's own words.
func (s *Stream) unclear(message string, end End) *sdk.Failure {
	detail := sdk.Detail(clitool.Clip(message, 2000))
	status := end.ExitCode + 256
	switch {
	case notFound.MatchString(end.Stderr):
		status = 404
	case end.ExitCode == 0, end.ExitCode == 1, status > 599:
		return s.broken(message, detail)
	}
	if status == 429 && strings.HasPrefix(message, "You have exhausted your daily quota") {
		f := spentDay(end.Now, "")
		f.Detail, f.UpstreamCode = message, "429"
		return f
	}
	var wait time.Duration
	if m := retryHint.FindStringSubmatch(message); m != nil {
		wait, _ = time.ParseDuration(m[1] + "s") // digits
	}
	return s.account.Classify(APIError{Code: status, Message: message}, wait, end.Now)
}

// broken is an error below the API: the connection, or the program itself.
func (s *Stream) broken(message string, detail sdk.FailOption) *sdk.Failure {
	switch {
	case strings.HasPrefix(message, "exception TypeError: fetch failed"), message == "terminated", strings.HasPrefix(message, "fetch failed"):
		return sdk.Fail(sdk.Network, "the connection to the model's API failed", detail)
	}
	return sdk.Fail(sdk.Internal, "gemini reported an error of a kind that this plugin does not know: "+clitool.Clip(clitool.FirstLine(message), 100), detail)
}
