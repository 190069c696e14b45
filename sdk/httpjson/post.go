package httpjson

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/paxiom/relay/sdk"
)

// maxDetail is how much of the body of an error is told, in bytes.
const maxDetail = 2000

// Post sends a value as JSON and decodes the JSON that answers it into got, a pointer.
// header, which may be nil, goes with it: a key in "Authorization", say. The error is an
// *[sdk.Failure], which a handler can return as it is; nil when the API answered with a
// status of 200 to 299.
func Post(ctx context.Context, url string, header http.Header, send, got any) error {
	r, err := request(ctx, http.MethodPost, url, header, send)
	if err != nil {
		return err
	}
	return exchange(r, got)
}

// Get is [Post] without a value to send.
func Get(ctx context.Context, url string, header http.Header, got any) error {
	r, err := request(ctx, http.MethodGet, url, header, nil)
	if err != nil {
		return err
	}
	return exchange(r, got)
}

func exchange(r *http.Request, got any) error {
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return Broken(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return Status(resp)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, sdk.MaxMessage+1))
	switch {
	case err != nil:
		return Broken(err)
	case len(text) > sdk.MaxMessage:
		return sdk.Fail(sdk.BadOutput, "the model's API answered with more than anybody reads", sdk.EffectCharged)
	}
	if err := json.Unmarshal(text, got); err != nil {
		return sdk.Fail(sdk.BadOutput, "the model's API answered with something else than JSON of the expected form", sdk.Cause(err), sdk.EffectCharged)
	}
	return nil
}

func request(ctx context.Context, method, url string, header http.Header, send any) (*http.Request, error) {
	var body io.Reader
	if method != http.MethodGet {
		text, err := json.Marshal(send)
		if err != nil {
			return nil, sdk.Fail(sdk.Internal, "the request can't be written as JSON", sdk.Cause(err), sdk.EffectNone)
		}
		body = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return nil, sdk.Fail(sdk.BadConfig, "the address of the model's API is none", sdk.Cause(err), sdk.Fix("correct the address in the plugin's configuration"))
	}
	for name, values := range header {
		r.Header[name] = values
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	return r, nil
}

// Status is what an answer means that is no success. It reads some of the body, for people.
func Status(resp *http.Response) *sdk.Failure {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxDetail))
	options := []sdk.FailOption{sdk.Detail(string(text)), sdk.Upstream(strconv.Itoa(resp.StatusCode), resp.Header.Get("X-Request-Id"))}
	fail := func(reason sdk.Reason, summary string, more ...sdk.FailOption) *sdk.Failure {
		return sdk.Fail(reason, summary+" ("+resp.Status+")", append(options, more...)...)
	}
	const refused = "the model's API refused the call"
	switch code := resp.StatusCode; {
	case code == http.StatusUnauthorized:
		return fail(sdk.AuthRejected, refused, sdk.Fix("set a key that the API takes"))
	case code == http.StatusPaymentRequired:
		return fail(sdk.Billing, refused, sdk.Fix("look at the account's balance"))
	case code == http.StatusForbidden:
		return fail(sdk.Permission, refused, sdk.Fix("ask for access to this model, or take another"))
	case code == http.StatusNotFound:
		return fail(sdk.ModelUnknown, "the model's API knows no such model or address", sdk.Fix("correct the model's name or the address"))
	case code == http.StatusRequestEntityTooLarge:
		return fail(sdk.TooLarge, refused, sdk.EffectNone)
	case code == http.StatusRequestTimeout || code == http.StatusGatewayTimeout:
		return fail(sdk.Timeout, "the model's API took too long")
	case code == http.StatusTooManyRequests:
		wait := cmp.Or(RetryAfter(resp.Header, time.Now()), time.Minute)
		return fail(sdk.RateLimited, "the model's API asks to wait", sdk.RetryAfter(wait))
	case code >= 500:
		return fail(sdk.Overloaded, "the model's API can't answer now")
	}
	return fail(sdk.BadRequest, refused)
}
