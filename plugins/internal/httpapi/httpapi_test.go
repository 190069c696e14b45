package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/sdk"
)

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

func TestReachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.Header["Authorization"])+len(r.Header["X-Api-Key"]) > 0 {
			t.Error("a key was sent")
		}
		http.Error(w, "no", http.StatusNotFound)
	})}
	go s.Serve(l)
	if err := Reachable(t.Context(), "http://"+l.Addr().String()+"/v1"); err != nil {
		t.Errorf("a server that answers 404 is there: %v", err)
	}
	s.Close()
	if f := sdk.AsFailure(Reachable(t.Context(), "http://"+l.Addr().String())); f == nil || f.Reason != sdk.Network || f.Fix == "" {
		t.Errorf("nobody is there: %+v", f)
	}
	if f := sdk.AsFailure(Reachable(t.Context(), "http://[::1")); f == nil || f.Reason != sdk.BadConfig {
		t.Errorf("no address: %+v", f)
	}
}

func TestWatch(t *testing.T) {
	ctx, _, stop := Watch(t.Context(), time.Millisecond)
	<-ctx.Done()
	if !stop() {
		t.Error("the silence was not told")
	}
	ctx, alive, stop := Watch(t.Context(), time.Hour)
	alive()
	if stop() || ctx.Err() == nil {
		t.Error("a normal end")
	}
	outer, cancel := context.WithCancel(t.Context())
	ctx, _, stop = Watch(outer, time.Hour)
	cancel()
	<-ctx.Done()
	if stop() {
		t.Error("a cancel is not a silence")
	}
}

func TestClip(t *testing.T) {
	if got := Clip("bad key sk-1\xff", "", "sk-1"); got != "bad key [secret]\uFFFD" {
		t.Errorf("%q", got)
	}
	if len(Clip(strings.Repeat("x", 5000))) > 2010 {
		t.Error("too long")
	}
}
