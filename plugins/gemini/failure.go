package main

import (
	"errors"
	"time"

	"cloud.google.com/go/auth"
	"google.golang.org/genai"

	"github.com/paxiom/relay/plugins/internal/geminicli"
	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/httpjson"
)

// classify says what an error of the client means: its status and details first.
func (s *session) classify(err error, now time.Time) *sdk.Failure {
	var api genai.APIError
	var token *auth.Error
	switch {
	case errors.As(err, &api):
		f := s.account.Classify(geminicli.APIError(api), httpjson.RetryAfter(s.wire.head, now), now)
		if s.wire.begun { // inside an answer: nothing tells what of it is charged
			f.Effect = sdk.EffectUnknown
		}
		return f
	case errors.As(err, &token):
		return sdk.Fail(sdk.AuthRejected, "Google gave no token for the default credentials", sdk.Cause(err), sdk.EffectNone,
			sdk.Fix(s.account.LoginFix()))
	}
	return httpjson.Broken(err)
}
