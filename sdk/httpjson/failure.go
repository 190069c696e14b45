package httpjson

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"github.com/paxiom/relay/sdk"
)

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

// Epoch is the moment that a server writes as a number: of seconds since 1970, or of
// milliseconds where so many seconds would be thousands of years. Zero for what is neither.
func Epoch(n float64) time.Time {
	const far = 1e11 // seconds: the year 5138; milliseconds: 1973
	if n > far {
		n /= 1000
	}
	if !(n > 0 && n <= far) {
		return time.Time{}
	}
	return time.UnixMilli(int64(n * 1000))
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
		return sdk.Fail(sdk.Cancelled, "the call was canceled", sdk.Cause(err))
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
