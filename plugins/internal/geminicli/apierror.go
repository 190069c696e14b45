package geminicli

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // the day of a quota ends in California

	"github.com/paxiom/relay/plugins/internal/httpapi"
	"github.com/paxiom/relay/sdk"
)

// APIError is an error of Google's API, as it stands in an answer's body.
type APIError struct {
	Code    int              `json:"code"` // the HTTP status
	Message string           `json:"message"`
	Status  string           `json:"status"`
	Details []map[string]any `json:"details"`
}

// details is what an error's details say.
type details struct {
	reason    string // of ErrorInfo: API_KEY_INVALID
	requestID string
	wait      time.Duration
	quota     string // the name of the limit that was reached
	none      bool   // the account has nothing of it at all
}

func (e APIError) read() details {
	var out details
	for _, d := range e.Details {
		kind, _ := d["@type"].(string)
		text := func(name string) string { s, _ := d[name].(string); return s }
		switch kind[strings.LastIndex(kind, ".")+1:] {
		case "ErrorInfo":
			out.reason = text("reason")
		case "RequestInfo":
			out.requestID = text("requestId")
		case "RetryInfo":
			out.wait, _ = time.ParseDuration(text("retryDelay")) // none when it can't be read
		case "QuotaFailure":
			list, _ := d["violations"].([]any)
			for _, v := range list {
				m, _ := v.(map[string]any)
				if id, _ := m["quotaId"].(string); id != "" && (out.quota == "" || perDay(id)) {
					out.quota = id
				}
				out.none = out.none || m["quotaValue"] == "0"
			}
		}
	}
	return out
}

func perDay(quota string) bool { return strings.Contains(quota, "PerDay") }

// Classify says what an error means: its status and details first, its words never
// but for a prompt's length, which has no status of its own. Asked is how long the
// server's headers ask to wait.
func (a Account) Classify(e APIError, asked time.Duration, now time.Time) *sdk.Failure {
	d := e.read()
	d.wait = max(d.wait, asked)
	f := a.byStatus(e, d, now)
	f.Detail, f.UpstreamRequestID = e.Message, d.requestID
	f.UpstreamCode = strings.TrimSpace(fmt.Sprintf("%d %s", e.Code, e.Status))
	f.Effect = cmp.Or(f.Effect, sdk.EffectNone)
	return f
}

const billing = "look at https://console.cloud.google.com/billing"

func (a Account) byStatus(e APIError, d details, now time.Time) *sdk.Failure {
	switch {
	case d.reason == "API_KEY_INVALID", d.reason == "API_KEY_EXPIRED":
		return sdk.Fail(sdk.AuthRejected, "the model's API rejected the key", sdk.Fix(a.LoginFix()))
	case d.reason == "BILLING_DISABLED":
		return sdk.Fail(sdk.Billing, "the project has no billing", sdk.Fix(billing))
	case e.Code == 401 && !a.Complete():
		return sdk.Fail(sdk.NotLoggedIn, "the model's API wants a key", sdk.Fix(a.LoginFix()))
	case e.Code == 400 && e.Status == "FAILED_PRECONDITION":
		return sdk.Fail(sdk.Permission, "the API is not open to this account",
			sdk.Fix("the detail says why; where the free tier is not offered, billing opens it: https://aistudio.google.com"))
	case e.Code == 413, e.Code == 400 && strings.HasPrefix(e.Message, "The input token count"):
		return sdk.Fail(sdk.TooLarge, "the prompt is longer than the model's context")
	case e.Code == 429:
		return limited(d, now)
	case e.Code == 408, e.Code == 504:
		return sdk.Fail(sdk.Timeout, "the model's API gave the request up", sdk.EffectUnknown)
	}
	fixes := httpapi.Fixes{Key: a.LoginFix(), Billing: billing, Access: "use a key or project in which the API is on and the model allowed: https://aistudio.google.com",
		Model: "correct the model's name in the configuration, or base_url"}
	return fixes.Status(e.Code, sdk.RetryAfter(d.wait))
}

// shortWait is for a limit that does not say until when.
const shortWait = 30 * time.Second

// limited is a limit on requests or tokens: of a minute, or of a day.
func limited(d details, now time.Time) *sdk.Failure {
	switch {
	case d.none:
		return sdk.Fail(sdk.Billing, "the account has no quota for this model", sdk.Limit(d.quota),
			sdk.Fix("choose another model, or a plan that has it: https://aistudio.google.com/usage"))
	case perDay(d.quota):
		return spentDay(now, d.quota)
	}
	return sdk.Fail(sdk.RateLimited, "the model's API limits the rate of requests", sdk.Limit(d.quota), sdk.RetryAfter(cmp.Or(d.wait, shortWait)))
}

func spentDay(now time.Time, quota string) *sdk.Failure {
	return sdk.Fail(sdk.QuotaExhausted, "the account's quota of the day is used up", sdk.Limit(quota), sdk.ResetAt(nextDay(now)))
}

// nextDay is when quotas of a day are renewed: midnight in California.
func nextDay(now time.Time) time.Time {
	zone, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		panic(err) // it is linked in
	}
	y, m, d := now.In(zone).Date()
	return time.Date(y, m, d+1, 0, 0, 0, 0, zone).UTC()
}
