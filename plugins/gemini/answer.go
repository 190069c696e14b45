package main

import (
	"cmp"
	"strings"

	"google.golang.org/genai"

	"github.com/paxiom/relay/plugins/internal/httpapi"
	"github.com/paxiom/relay/sdk"
)

// answer is what came of one call.
type answer struct {
	out     sdk.Events
	model   string
	secrets []string

	begun  bool // the model was reached
	id     string
	text   strings.Builder
	finish genai.FinishReason // empty: it did not come to an end
	why    string             // of a finish that is none
	usage  sdk.Usage
	failed *sdk.Failure
}

// blocked is our own finish of an answer to a prompt that was not let through.
const blocked genai.FinishReason = "PROMPT_BLOCKED"

// maxAnswer bounds what is kept of an answer that never ends.
const maxAnswer = 24 << 20

// take follows one piece of the answer.
func (a *answer) take(c *genai.GenerateContentResponse) {
	if c.ModelVersion != "" {
		a.model = c.ModelVersion
	}
	if a.id == "" && c.ResponseID != "" {
		a.id = c.ResponseID
		a.out.Started(sdk.Started{Model: a.model, UpstreamRequestID: a.id})
	}
	if u := c.UsageMetadata; u != nil && u.PromptTokenCount > 0 {
		a.usage = usage(u)
		a.out.Usage(a.usage)
	}
	if f := c.PromptFeedback; f != nil && f.BlockReason != "" {
		a.finish, a.why = blocked, strings.TrimSpace(string(f.BlockReason)+" "+f.BlockReasonMessage)
	}
	for _, candidate := range c.Candidates {
		a.begun = true
		a.candidate(candidate)
	}
}

func (a *answer) candidate(c *genai.Candidate) {
	if c.Content != nil {
		for _, part := range c.Content.Parts {
			if part.Thought || part.Text == "" || a.text.Len() > maxAnswer {
				continue
			}
			a.text.WriteString(part.Text)
			a.out.Text(part.Text)
		}
	}
	if c.FinishReason != "" {
		a.finish, a.why = c.FinishReason, c.FinishMessage
	}
}

// usage takes the cached tokens out of the input. A zero is not sent, so that what is
// missing beside a prompt's tokens is one. There is never a cost.
func usage(u *genai.GenerateContentResponseUsageMetadata) sdk.Usage {
	return sdk.Usage{
		Input:     sdk.Known(max(int64(u.PromptTokenCount-u.CachedContentTokenCount), 0) + int64(u.ToolUsePromptTokenCount)),
		CacheRead: sdk.Known(int64(u.CachedContentTokenCount)),
		Output:    sdk.Known(int64(u.CandidatesTokenCount) + int64(u.ThoughtsTokenCount)),
		Reasoning: sdk.Known(int64(u.ThoughtsTokenCount)),
	}
}

// completion is the verdict: the answer, or why there is none.
func (a *answer) completion(requestID string) (*sdk.Completion, error) {
	f := a.failed
	if f == nil {
		f = a.ended()
	}
	if f == nil {
		return &sdk.Completion{Text: a.text.String(), StopReason: string(a.finish), Model: a.model, Usage: a.usage}, nil
	}
	f.Detail, f.Usage = httpapi.Clip(f.Detail, a.secrets...), a.usage
	for _, id := range []string{requestID, a.id} {
		f.UpstreamRequestID = cmp.Or(f.UpstreamRequestID, id)
	}
	if _, counted := a.usage.Input.Value(); counted || a.begun {
		f.Effect = sdk.EffectCharged
	}
	return nil, f
}

// ended reports whether the model came to the end that was wanted.
func (a *answer) ended() *sdk.Failure {
	up := sdk.Upstream(string(a.finish), "")
	switch a.finish {
	case genai.FinishReasonStop:
		switch {
		case a.text.Len() > maxAnswer:
			return sdk.Fail(sdk.TooLarge, "the answer is larger than a plugin may send", up)
		case strings.TrimSpace(a.text.String()) == "":
			return sdk.Fail(sdk.BadOutput, "the model's answer is empty", up)
		}
		return nil
	case genai.FinishReasonMaxTokens:
		return sdk.Fail(sdk.TooLarge, "the answer is longer than the model may write", up)
	case blocked:
		return sdk.Fail(sdk.Refused, "the prompt was held back by a filter", up, sdk.Detail(a.why))
	case genai.FinishReasonSafety, genai.FinishReasonRecitation, genai.FinishReasonBlocklist, genai.FinishReasonProhibitedContent, genai.FinishReasonSPII:
		return sdk.Fail(sdk.Refused, "the answer was held back by a filter", up, sdk.Detail(a.why))
	}
	return sdk.Fail(sdk.BadOutput, "the model's answer is not complete", up, sdk.Detail(a.why))
}
