package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/httpjson"
)

// Client gives a client of its own to one call. Done closes what it keeps open: calls
// are minutes apart, and a connection that waits for the next one is often dead.
func Client() (client *http.Client, done func()) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	return &http.Client{Transport: t}, t.CloseIdleConnections
}

// Watch gives a context that ends when nothing happened for so long. Alive says
// that something did. Stop must be called at the end; it reports whether the silence
// was too long.
func Watch(ctx context.Context, idle time.Duration) (inner context.Context, alive func(), stop func() (silent bool)) {
	if idle <= 0 {
		idle = httpjson.DefaultIdle
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
		idle = httpjson.DefaultIdle
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
		return httpjson.Broken(ctx.Err())
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
