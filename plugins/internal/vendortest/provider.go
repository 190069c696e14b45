package vendortest

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/plugins/internal/eventtest"
	"github.com/paxiom/relay/sdk"
)

// Model is a scripted server.
type Model interface {
	URL() string
	Arrived() int // requests so far
}

// Provider makes providers for a test's scripts.
type Provider struct {
	// Serve serves a script and prepares the environment.
	Serve func(t *testing.T, script string) Model
	// At is a provider that asks the server at url.
	At func(t *testing.T, url string) sdk.Provider
	// Ask is a request that is fine.
	Ask func(prompt string) *sdk.CompleteRequest
	// Secret must not be in any failure.
	Secret string
	// Idle is how long a silence may last; 0: 2 s.
	Idle time.Duration
}

// Failing is a script that a call must fail with.
type Failing struct {
	Script string
	Want
}

// RequestID is the id that the scripts' errors give the request.
const RequestID = "req_7"

// Failures calls the provider once for each script and holds what comes to what is
// wanted. A failure that charged nothing was said by the server, which gave the request
// an id; the client asks only once.
func (p Provider) Failures(t *testing.T, cases map[string]Failing) {
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := p.Serve(t, tc.Script)
			said := tc.Effect == 0
			if said {
				tc.Effect = sdk.EffectNone
			}
			got, f := p.fail(t, m)
			tc.Hold(t, got, f)
			if said && f.UpstreamRequestID != RequestID {
				t.Errorf("request id %q", f.UpstreamRequestID)
			}
			if n := m.Arrived(); n != 1 {
				t.Errorf("%d requests: the client tried again by itself", n)
			}
		})
	}
}

// ProgramFailures does the same for a program, which may try again and hides ids.
func (p Provider) ProgramFailures(t *testing.T, cases map[string]Failing) {
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, f := p.fail(t, p.Serve(t, tc.Script))
			tc.Hold(t, got, f)
		})
	}
}

func (p Provider) fail(t *testing.T, m Model) (*sdk.Completion, *sdk.Failure) {
	t.Helper()
	r := p.Ask("hello")
	if r.IdleTimeout = p.Idle; p.Idle == 0 {
		r.IdleTimeout = 2 * time.Second
	}
	got, err := p.At(t, m.URL()).Complete(t.Context(), r, &eventtest.Log{})
	f := sdk.AsFailure(err)
	if f != nil && p.Secret != "" && strings.Contains(f.Error(), p.Secret) {
		t.Errorf("the key is in the failure: %v", f)
	}
	return got, f
}

// Refused calls a server that does not listen.
func (p Provider) Refused(t *testing.T, effect sdk.Effect) {
	p.Serve(t, `[]`)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close() // nobody listens there now
	got, err := p.At(t, "http://"+l.Addr().String()).Complete(t.Context(), p.Ask("hello"), &eventtest.Log{})
	Want{Reason: sdk.Network, Effect: effect}.Hold(t, got, sdk.AsFailure(err))
}

// Cancelled cancels a call whose answer does not come.
func (p Provider) Cancelled(t *testing.T) {
	m := p.Serve(t, `[{"hang":true,"times":-1}]`)
	provider := p.At(t, m.URL())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	returned := make(chan error, 1)
	go func() {
		_, err := provider.Complete(ctx, p.Ask("hello"), &eventtest.Log{})
		returned <- err
	}()
	for end := time.Now().Add(30 * time.Second); m.Arrived() == 0 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	cancel()
	select {
	case err := <-returned:
		Want{Reason: sdk.Cancelled}.Hold(t, nil, sdk.AsFailure(err))
	case <-time.After(30 * time.Second):
		t.Fatal("the call continues after it was canceled")
	}
}
