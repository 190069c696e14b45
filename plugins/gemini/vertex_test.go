package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/paxiom/relay/plugins/internal/eventtest"
	"github.com/paxiom/relay/plugins/internal/vendortest"
	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/testdata/e2e"
)

// serviceAccount writes the default credentials of a project; status is what its
// token server answers with.
func serviceAccount(t *testing.T, status int) {
	t.Helper()
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprint(w, `{"access_token":"token-canary","token_type":"Bearer","expires_in":3600,"error":"invalid_grant"}`)
	}))
	t.Cleanup(tokens.Close)
	t.Setenv("GEMINI_API_KEY", "")
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", vendortest.ServiceAccount(t, tokens.URL))
}

func TestVertex(t *testing.T) {
	m := server(t, `[{"text":"from Vertex","times":-1}]`)
	serviceAccount(t, 200)
	for config, path := range map[string]string{
		`{"base_url":%q}`: "/v1beta1/projects/my-project/locations/global/publishers/google/models/gemini-2.5-pro:streamGenerateContent",
		`{"base_url":%q,"project":"p-2","location":"us-east1"}`: "/v1beta1/projects/p-2/locations/us-east1/publishers/google/models/gemini-2.5-pro:streamGenerateContent",
		`{"base_url":%q,"backend":"vertex","transport":"api"}`:  "/v1beta1/projects/my-project/locations/global/publishers/google/models/gemini-2.5-pro:streamGenerateContent",
	} {
		before := len(m.Requests())
		p := configured(t, config, m.URL())
		got, err := p.Complete(t.Context(), ask("hello"), &eventtest.Log{})
		if err != nil || got.Text != "from Vertex" {
			t.Fatalf("%s: %+v %v", config, got, err)
		}
		all := e2e.Requests(t, m, before+1)
		if last := all[len(all)-1]; last.Path != path || last.Headers.Get("Authorization") != "Bearer token-canary" || last.Headers.Get("X-Goog-Api-Key") != "" {
			t.Errorf("%s: asked %s with %v", config, last.Path, last.Headers)
		}
	}
}

// A key alone is Vertex's express mode: no project, no token.
func TestVertexWithAKey(t *testing.T) {
	m := server(t, `[{"text":"x"}]`)
	t.Setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
	t.Setenv("GOOGLE_VERTEX_BASE_URL", m.URL())
	if _, err := configured(t, `{}`).Complete(t.Context(), ask("hello"), &eventtest.Log{}); err != nil {
		t.Fatal(err)
	}
	if got := e2e.Requests(t, m, 1)[0]; got.Path != "/v1beta1/publishers/google/models/gemini-2.5-pro:streamGenerateContent" || got.Headers.Get("X-Goog-Api-Key") != key {
		t.Errorf("asked %s", got.Path)
	}
}

func TestVertexWithoutCredentials(t *testing.T) {
	m := server(t, `[]`)
	serviceAccount(t, 400)
	got, err := configured(t, `{"base_url":%q}`, m.URL()).Complete(t.Context(), ask("hello"), &eventtest.Log{})
	vendortest.Want{Reason: sdk.AuthRejected, Effect: sdk.EffectNone}.Hold(t, got, sdk.AsFailure(err))
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", "")
	t.Setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
	t.Setenv("GOOGLE_CLOUD_PROJECT", "p")
	_, err = configured(t, `{"transport":"api"}`).Health(t.Context(), false)
	vendortest.Want{Reason: sdk.NotLoggedIn}.Hold(t, got, sdk.AsFailure(err))
	t.Setenv("GOOGLE_CLOUD_PROJECT", "")
	_, err = configured(t, `{"transport":"api"}`).Health(t.Context(), false)
	vendortest.Want{Reason: sdk.BadConfig}.Hold(t, got, sdk.AsFailure(err))
}
