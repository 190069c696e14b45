package httpjson

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/sdk"
)

// What is sent arrives with its header, and what comes back is decoded; each status is told
// by the reason that relay decides by, with what a failure of that reason must carry.
func TestPost(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/answers", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, `{"text": %q}`, r.Header.Get("Authorization")+" "+r.Header.Get("Content-Type")+" "+string(body))
	})
	mux.HandleFunc("/status/{code}", func(w http.ResponseWriter, r *http.Request) {
		code := 0
		fmt.Sscan(r.PathValue("code"), &code)
		w.Header().Set("X-Request-Id", "r1")
		if r.URL.RawQuery != "" {
			w.Header().Set("Retry-After", "7")
		}
		w.WriteHeader(code)
		io.WriteString(w, strings.Repeat("no ", 5000))
	})
	mux.HandleFunc("/broken", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"text": 1`) })
	mux.HandleFunc("/half", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		io.WriteString(w, "{")
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	var got struct{ Text string }
	f := sdk.AsFailure(Post(t.Context(), server.URL+"/answers", http.Header{"Authorization": {"Bearer x"}}, map[string]string{"a": "b"}, &got))
	if f != nil || got.Text != `Bearer x application/json {"a":"b"}` {
		t.Errorf("%q %v", got.Text, f)
	}
	for path, want := range map[string]sdk.Reason{
		"/status/400": sdk.BadRequest, "/status/401": sdk.AuthRejected, "/status/402": sdk.Billing, "/status/403": sdk.Permission, "/status/404": sdk.ModelUnknown,
		"/status/408": sdk.Timeout, "/status/413": sdk.TooLarge, "/status/422": sdk.BadRequest, "/status/429": sdk.RateLimited, "/status/429?7": sdk.RateLimited,
		"/status/500": sdk.Overloaded, "/status/529": sdk.Overloaded, "/broken": sdk.BadOutput, "/half": sdk.Network,
	} {
		f := sdk.AsFailure(Post(t.Context(), server.URL+path, nil, 1, &got))
		if f == nil || f.Reason != want || f.Reason.UserCanFix() && f.Fix == "" {
			t.Errorf("%s: %v", path, f)
			continue
		}
		if strings.HasPrefix(path, "/status/") && (f.UpstreamRequestID != "r1" || !strings.Contains(path, f.UpstreamCode) || len(f.Detail) != maxDetail) {
			t.Errorf("%s: %+v", path, f)
		}
		if wait := map[string]time.Duration{"/status/429": time.Minute, "/status/429?7": 7 * time.Second}[path]; f.RetryAfter != wait {
			t.Errorf("%s: wait %v", path, f.RetryAfter)
		}
	}
	if f := sdk.AsFailure(Post(t.Context(), "http://[", nil, 1, &got)); f == nil || f.Reason != sdk.BadConfig || f.Fix == "" {
		t.Errorf("no address: %v", f)
	}
	if f := sdk.AsFailure(Post(t.Context(), server.URL, nil, func() {}, &got)); f == nil || f.Reason != sdk.Internal {
		t.Errorf("no JSON: %v", f)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if f := sdk.AsFailure(Post(ended, server.URL+"/answers", nil, 1, &got)); f == nil || f.Reason != sdk.Cancelled {
		t.Errorf("cancelled: %v", f)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for in, want := range map[string]time.Duration{
		"retry-after: 3": 3 * time.Second, "retry-after: 1.5": 1500 * time.Millisecond, "retry-after-ms: 250": 250 * time.Millisecond,
		"retry-after: Fri, 20 Nov 2026 12:01:00 GMT": time.Minute, "retry-after: Fri, 20 Nov 2026 11:00:00 GMT": 0,
		"retry-after: -1": 0, "retry-after: 1e300": 0, "retry-after: NaN": 0, "retry-after: soon": 0, "retry-after: ": 0,
	} {
		h := http.Header{}
		name, value, _ := strings.Cut(in, ": ")
		h.Set(name, value)
		if got := RetryAfter(h, now); got != want {
			t.Errorf("%s: %v", in, got)
		}
	}
}

func TestEpoch(t *testing.T) {
	for in, want := range map[float64]time.Time{
		1795240800: time.Unix(1795240800, 0), 1795240800.5: time.UnixMilli(1795240800500), 1795240800123: time.UnixMilli(1795240800123),
		0: {}, -1: {}, 1e300: {}, math.NaN(): {}, math.Inf(1): {}, math.Inf(-1): {},
	} {
		if got := Epoch(in); !got.Equal(want) {
			t.Errorf("%v: %v", in, got)
		}
	}
}

func TestBroken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close() // nobody listens there now
	_, refused := http.Get("http://" + l.Addr().String())
	for _, tc := range []struct {
		err    error
		reason sdk.Reason
		effect sdk.Effect
	}{
		{refused, sdk.Network, sdk.EffectNone},
		{fmt.Errorf("x: %w", &net.DNSError{Name: "no.example"}), sdk.Network, sdk.EffectNone},
		{io.ErrUnexpectedEOF, sdk.Network, 0},
		{fmt.Errorf("x: %w", context.Canceled), sdk.Cancelled, 0},
		{context.DeadlineExceeded, sdk.Timeout, 0},
		{errors.New("odd"), sdk.Network, 0},
	} {
		if f := Broken(tc.err); f.Reason != tc.reason || f.Effect != tc.effect {
			t.Errorf("%v: %v %v", tc.err, f.Reason, f.Effect)
		}
	}
}

// A success is no error in the hands of a caller who passes it on.
func TestSuccessIsNoError(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(`{}`)) }))
	defer server.Close()
	ask := func() error { return Post(t.Context(), server.URL, nil, 1, &struct{}{}) }
	if err := ask(); err != nil {
		t.Errorf("%T: %v", err, err)
	}
}
