package httpapi

import (
	"fmt"

	"github.com/paxiom/relay/sdk"
)

// Fixes are what a vendor's user can do about a failure.
type Fixes struct{ Key, Billing, Access, Model string }

// Status is what an HTTP status of a vendor's API means that has no more to say. Limits on
// the rate of requests are the vendors' own.
func (f Fixes) Status(status int, opts ...sdk.FailOption) *sdk.Failure {
	fail := func(r sdk.Reason, summary, fix string) *sdk.Failure {
		return sdk.Fail(r, summary, append([]sdk.FailOption{sdk.Fix(fix)}, opts...)...)
	}
	switch status {
	case 401:
		return fail(sdk.AuthRejected, "the model's API rejected the key or the login", f.Key)
	case 402:
		return fail(sdk.Billing, "the API asks for payment", f.Billing)
	case 403:
		return fail(sdk.Permission, "the account may not do this", f.Access)
	case 404:
		return fail(sdk.ModelUnknown, "the API does not know this model", f.Model)
	case 408:
		return fail(sdk.Timeout, "the model's API gave the request up", "")
	case 413:
		return fail(sdk.TooLarge, "the request is larger than the API accepts", "")
	case 503, 529:
		return fail(sdk.Overloaded, "the model's API is overloaded", "")
	case 400, 422:
		return fail(sdk.BadRequest, "the model's API refused the request", "")
	}
	if status >= 500 {
		return fail(sdk.Overloaded, fmt.Sprintf("the model's API failed with status %d", status), "")
	}
	return fail(sdk.Internal, fmt.Sprintf("the model's API answered with status %d, which this plugin does not know", status), "")
}
