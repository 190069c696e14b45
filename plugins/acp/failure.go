package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	acp "github.com/coder/acp-go-sdk"

	"github.com/paxiom/relay/sdk"
)

// authRequired is the protocol's code for an agent that is not logged in.
const authRequired = -32000

// wantsLogin says how to log in when an agent wants that; other errors stay as they are.
func wantsLogin(hello acp.InitializeResponse, err error) error {
	var e *acp.RequestError
	if !errors.As(err, &e) || e.Code != authRequired {
		return err
	}
	var ways []string
	for _, m := range hello.AuthMethods {
		switch {
		case m.Agent != nil:
			ways = append(ways, m.Agent.Id)
		case m.EnvVar != nil:
			ways = append(ways, m.EnvVar.Id)
		case m.Terminal != nil:
			ways = append(ways, m.Terminal.Id)
		}
	}
	return sdk.Fail(sdk.NotLoggedIn, "the agent wants a login", sdk.Detail(clip(e.Error(), 2000)), sdk.EffectNone,
		sdk.Fix(`log in with the agent's own program, give its key in "keys" of the plugin acp, or set "auth_method" to one of: `+strings.Join(ways, ", ")))
}

// shortWait is for a limit that the protocol has no words for.
const shortWait = 30 * time.Second

// protocolFailure says what an error of the agent means, by its code: many agents
// pass the status of their model's API on.
func protocolFailure(err error) error {
	var f *sdk.Failure
	var e *acp.RequestError
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case !errors.As(err, &e):
		return sdk.Fail(sdk.Internal, "the talk with the agent broke", sdk.Cause(err))
	}
	detail, code := sdk.Detail(clip(e.Error(), 2000)), sdk.Upstream(fmt.Sprint(e.Code), "")
	switch {
	case e.Code == 401, e.Code == authRequired:
		return sdk.Fail(sdk.AuthRejected, "the agent's login was rejected", detail, code, sdk.Fix("log in with the agent's own program, or correct its key"))
	case e.Code == 402:
		return sdk.Fail(sdk.Billing, "the agent's account has no credit", detail, code, sdk.Fix("look at the account of the agent's vendor"))
	case e.Code == 403:
		return sdk.Fail(sdk.Permission, "the agent's account may not do this", detail, code, sdk.Fix("look at the account of the agent's vendor"))
	case e.Code == 404:
		return sdk.Fail(sdk.ModelUnknown, "the agent's API does not know its model", detail, code)
	case e.Code == 429:
		return sdk.Fail(sdk.RateLimited, "the agent's API limits the rate of requests", detail, code, sdk.RetryAfter(shortWait))
	case e.Code >= 500 && e.Code < 600:
		return sdk.Fail(sdk.Overloaded, "the agent's API failed", detail, code)
	}
	return sdk.Fail(sdk.Internal, "the agent reported an error: "+clip(e.Message, 100), detail, code)
}

// crashed is an agent that ended in the middle.
func crashed(res sdk.CLIResult, s state) error {
	how := fmt.Sprintf("exit code %d", res.ExitCode)
	if res.Signal != 0 {
		how = "a signal (" + res.Signal.String() + ")"
	}
	detail := sdk.Detail(clip(strings.TrimSpace(res.Stderr), 4000))
	if s == before {
		return sdk.Fail(sdk.BadConfig, "the agent ended with "+how+" before it spoke the protocol", detail, sdk.EffectNone, sdk.Fix(agentFix))
	}
	return sdk.Fail(sdk.Internal, "the agent ended with "+how+" in the middle of its work", detail)
}

// stopped reports whether the agent came to the end that was wanted.
func stopped(why acp.StopReason) *sdk.Failure {
	code := sdk.Upstream(string(why), "")
	switch why {
	case acp.StopReasonEndTurn:
		return nil
	case acp.StopReasonMaxTokens:
		return sdk.Fail(sdk.TooLarge, "the agent's model wrote more than it may", code)
	case acp.StopReasonMaxTurnRequests:
		return sdk.Fail(sdk.LimitReached, "the agent used up its turns", code, sdk.Limit("max_turns"))
	case acp.StopReasonRefusal:
		return sdk.Fail(sdk.Refused, "the agent refused the task", code)
	case acp.StopReasonCancelled:
		return sdk.Fail(sdk.Cancelled, "the agent says that the work was canceled", code)
	}
	return sdk.Fail(sdk.BadOutput, "the agent ended in a way that this plugin does not know", code)
}

// clip bounds a text that an agent wrote.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.ToValidUTF8(s[:limit], "") + " …"
}
