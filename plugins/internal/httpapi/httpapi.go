package httpapi

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/paxiom/relay/sdk"
)

// Client gives a client of its own to one call. Done closes what it keeps open: calls
// are minutes apart, and a connection that waits for the next one is often dead.
func Client() (client *http.Client, done func()) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	return &http.Client{Transport: t}, t.CloseIdleConnections
}

// DefaultIdle is how long an API may be silent when a request names no limit.
// Models think for minutes without a word.
const DefaultIdle = 10 * time.Minute

// maxWait bounds what is believed of a server's wish.
const maxWait = 32 * 24 * time.Hour

// RetryAfter is how long the server asks to wait, by retry-after-ms or Retry-After
// in seconds or as a date; 0 when it does not say so.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	var d time.Duration
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		d = seconds(ms / 1000)
	} else if s, err := strconv.ParseFloat(h.Get("Retry-After"), 64); err == nil {
		d = seconds(s)
	} else if at, err := http.ParseTime(h.Get("Retry-After")); err == nil {
		d = at.Sub(now)
	}
	if d < 0 || d > maxWait {
		return 0
	}
	return d
}

func seconds(s float64) time.Duration {
	if !(s >= 0 && s <= maxWait.Seconds()) {
		return 0
	}
	return time.Duration(s * float64(time.Second))
}

// Broken says what an error below HTTP means. Nothing is known to have been charged
// when the connection was never made.
func Broken(err error) *sdk.Failure {
	var dns *net.DNSError
	var op *net.OpError
	var cert *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	switch {
	case errors.Is(err, context.Canceled):
		return sdk.Fail(sdk.Cancelled, "the call was cancelled", sdk.Cause(err))
	case errors.Is(err, context.DeadlineExceeded):
		return sdk.Fail(sdk.Timeout, "the call took longer than it may", sdk.Cause(err))
	case errors.As(err, &cert), errors.As(err, &authority):
		return sdk.Fail(sdk.BadConfig, "the certificate of the model's API is not trusted", sdk.Cause(err), sdk.EffectNone,
			sdk.Fix("set SSL_CERT_FILE to your organisation's certificates, or correct base_url"))
	case errors.As(err, &dns):
		return sdk.Fail(sdk.Network, "the name of the model's API was not found: "+dns.Name, sdk.Cause(err), sdk.EffectNone)
	case errors.As(err, &op) && op.Op == "dial", errors.Is(err, syscall.ECONNREFUSED):
		return sdk.Fail(sdk.Network, "no connection to the model's API", sdk.Cause(err), sdk.EffectNone)
	}
	return sdk.Fail(sdk.Network, "the connection to the model's API broke", sdk.Cause(err))
}

// Watch gives a context that ends when nothing happened for so long. Alive says
// that something did. Stop must be called at the end; it says whether the silence
// was too long.
func Watch(ctx context.Context, idle time.Duration) (inner context.Context, alive func(), stop func() (silent bool)) {
	if idle <= 0 {
		idle = DefaultIdle
	}
	inner, cancel := context.WithCancel(ctx)
	var mu sync.Mutex
	fired := false
	timer := time.AfterFunc(idle, func() {
		mu.Lock()
		defer mu.Unlock()
		fired = true
		cancel()
	})
	alive = func() { timer.Reset(idle) }
	stop = func() bool {
		timer.Stop()
		mu.Lock()
		defer mu.Unlock()
		cancel()
		return fired && ctx.Err() == nil
	}
	return inner, alive, stop
}

// Silent is the failure of a call that Watch ended.
func Silent(idle time.Duration) *sdk.Failure {
	if idle <= 0 {
		idle = DefaultIdle
	}
	return sdk.Fail(sdk.Timeout, fmt.Sprintf("the model's API said nothing for %v", idle))
}

// Clip bounds a text that a server wrote, and takes out secrets that it repeats.
func Clip(text string, secrets ...string) string {
	for _, s := range secrets {
		if s != "" {
			text = strings.ReplaceAll(text, s, "[secret]")
		}
	}
	const limit = 2000
	if len(text) > limit {
		text = text[:limit] + " …"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// Ended says why a stream of events was over before its last one: a silence that
// Watch ended, the end of the call's context, an error of the client, or nothing
// that anybody tells.
func Ended(ctx context.Context, idle time.Duration, silent bool, err error, classify func(error) *sdk.Failure) *sdk.Failure {
	switch {
	case silent:
		return Silent(idle)
	case ctx.Err() != nil:
		return Broken(ctx.Err())
	case err != nil:
		return classify(err)
	}
	return sdk.Fail(sdk.Network, "the model's API ended its answer in the middle")
}

// Ask asks a model, and the request's fallback model when the first one can't answer
// now and nothing was charged.
func Ask(r *sdk.CompleteRequest, model string, out sdk.Events, ask func(model string) (*sdk.Completion, error)) (*sdk.Completion, error) {
	done, err := ask(model)
	f := sdk.AsFailure(err)
	if f == nil || r.FallbackModel == "" || r.FallbackModel == model || f.Effect != sdk.EffectNone ||
		f.Reason != sdk.Overloaded && f.Reason != sdk.ModelUnknown {
		return done, err
	}
	out.Notice("asking " + r.FallbackModel + " instead: " + f.Summary)
	return ask(r.FallbackModel)
}
