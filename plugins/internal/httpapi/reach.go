package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/httpjson"
)

// reachTimeout bounds the question whether a server is there.
const reachTimeout = 10 * time.Second

// Reachable reports whether a server answers, whatever it answers: it asks for nothing
// that needs a key, sends none, and follows no redirect. The error is a *sdk.Failure.
func Reachable(ctx context.Context, server string) error {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	client, done := Client()
	defer done()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, server, nil)
	if err != nil {
		return sdk.Fail(sdk.BadConfig, "base_url is not an address", sdk.Cause(err), sdk.EffectNone, sdk.Fix("correct base_url in the plugin's configuration"))
	}
	res, err := client.Do(req)
	if err != nil {
		f := httpjson.Broken(err)
		f.Effect = sdk.EffectNone
		f.Fix = cmp.Or(f.Fix, "look at the network, at HTTPS_PROXY and at base_url in the plugin's configuration")
		return f
	}
	return res.Body.Close()
}
