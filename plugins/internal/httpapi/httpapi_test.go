package httpapi

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/sdk"
)

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

func TestListed(t *testing.T) {
	listed := []sdk.Model{{ID: "a-1"}, {ID: "a-2"}}
	for name, want := range map[string]bool{"": true, "a-1": true, "a-2": true, "a": false, "A-1": false} {
		err := Listed(listed, name)
		if (err == nil) != want {
			t.Errorf("%q: %v", name, err)
		}
		if f := sdk.AsFailure(err); !want && (f.Reason != sdk.ModelUnknown || !strings.HasSuffix(f.Summary, name)) {
			t.Errorf("%q: %+v", name, f)
		}
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
