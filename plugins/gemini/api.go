package main

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"cloud.google.com/go/auth/credentials"
	"cloud.google.com/go/auth/httptransport"
	"google.golang.org/genai"

	"github.com/paxiom/relay/plugins/internal/geminicli"
	"github.com/paxiom/relay/plugins/internal/httpapi"
	"github.com/paxiom/relay/plugins/internal/outschema"
	"github.com/paxiom/relay/sdk"
)

const (
	// smallCall bounds the questions that no model answers.
	smallCall = 15 * time.Second
	// cloudScope is what Vertex AI wants of a token.
	cloudScope = "https://www.googleapis.com/auth/cloud-platform"
)

// session is a client for one call, and what it was told on the way.
type session struct {
	*genai.Client
	account geminicli.Account
	wire    *wire
	done    func() // ends its connections
}

// wire keeps the headers of the last answer, which the client gives away only with a
// good one, and takes out a key that is none.
type wire struct {
	base  http.RoundTripper
	noKey bool
	head  http.Header
	begun bool // the last answer began as a good one
}

// placeholder is sent to nobody: the client insists on a key, servers of one's own
// often have none.
const placeholder = "none"

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if w.noKey {
		r = r.Clone(r.Context())
		r.Header.Del("X-Goog-Api-Key")
	}
	res, err := w.base.RoundTrip(r)
	if res != nil {
		w.head, w.begun = res.Header, res.StatusCode < 400
	}
	return res, err
}

// requestID is the name of the last request, as far as a server gave it one.
func (w *wire) requestID() string {
	for _, name := range []string{"X-Goog-Request-Id", "X-Request-Id", "X-Cloud-Trace-Context"} {
		if id := w.head.Get(name); id != "" {
			return id
		}
	}
	return ""
}

// client is all set for one call. It never tries again by itself.
func (p *provider) client(ctx context.Context) (*session, error) {
	a := p.Account()
	server := p.Server(a.Vertex)
	if !a.Vertex && a.KeyName == "" && server == "" {
		return nil, sdk.Fail(sdk.NotLoggedIn, "there is no key for the Gemini API", sdk.EffectNone, sdk.Fix(geminicli.KeyFix))
	}
	plain, done := httpapi.Client()
	s := &session{account: a, done: done, wire: &wire{base: plain.Transport}}
	plain.Transport = s.wire
	cc := &genai.ClientConfig{
		Backend: genai.BackendGeminiAPI, HTTPClient: plain, APIKey: a.Key(), Project: a.Project, Location: a.Location,
		HTTPOptions: genai.HTTPOptions{BaseURL: server, Headers: http.Header{"User-Agent": {"relay-plugin-gemini/" + version}}},
	}
	var err error
	switch {
	case a.Vertex && a.KeyName == "" && server == "":
		cc.Backend = genai.BackendVertexAI
		err = p.authorize(ctx, a, cc)
	case a.Vertex && a.KeyName == "": // a gateway of one's own may want the credentials
		cc.Backend = genai.BackendVertexAI
		if a.Credentials != "" {
			err = p.authorize(ctx, a, cc)
		}
	case a.Vertex:
		cc.Backend = genai.BackendVertexAI
	case a.KeyName == "":
		s.wire.noKey, cc.APIKey = true, placeholder
	}
	if err == nil {
		s.Client, err = genai.NewClient(ctx, cc)
	}
	if err != nil {
		done()
		if f := sdk.AsFailure(err); f.Reason != sdk.Internal {
			return nil, f
		}
		return nil, sdk.Fail(sdk.BadConfig, "the client of Google's API does not accept the configuration", sdk.EffectNone,
			sdk.Detail(httpapi.Clip(err.Error(), p.secrets()...)), sdk.Fix("`relay config show plugins` shows base_url, project and location"))
	}
	return s, nil
}

// authorize makes the client send tokens of Google Cloud's default credentials.
func (p *provider) authorize(ctx context.Context, a geminicli.Account, cc *genai.ClientConfig) error {
	if a.Project == "" {
		return sdk.Fail(sdk.BadConfig, "Vertex AI needs a project", sdk.EffectNone,
			sdk.Fix(`set "project" in the plugin's configuration, or GOOGLE_CLOUD_PROJECT`))
	}
	missing := func(err error) error {
		return sdk.Fail(sdk.NotLoggedIn, "there are no application default credentials for Vertex AI", sdk.Cause(err), sdk.EffectNone, sdk.Fix(a.LoginFix()))
	}
	if a.Credentials == "" && p.Backend != "vertex" { // only where it is asked for is a machine's own service looked for
		return missing(nil)
	}
	creds, err := credentials.DetectDefault(&credentials.DetectOptions{
		Scopes: []string{cloudScope}, CredentialsFile: a.Credentials, Client: &http.Client{Transport: cc.HTTPClient.Transport.(*wire).base},
	})
	if err != nil {
		return missing(err)
	}
	if quota, err := creds.QuotaProjectID(ctx); err == nil && quota != "" {
		cc.HTTPOptions.Headers.Set("X-Goog-User-Project", quota)
	}
	cc.Credentials = creds
	return httptransport.AddAuthorizationMiddleware(cc.HTTPClient, creds)
}

func (p *provider) secrets() []string { return []string{p.Account().Key()} }

func needModel(model string) error {
	if model != "" {
		return nil
	}
	return sdk.Fail(sdk.BadConfig, "no model is named, and the API has none of its own", sdk.EffectNone,
		sdk.Fix(`set "model" in the plugin's block of the configuration`))
}

// askAPI asks the model, and the fallback model when the first one can't answer now.
func (p *provider) askAPI(ctx context.Context, r *sdk.CompleteRequest, model string, schema *outschema.Schema, out sdk.Events) (*sdk.Completion, error) {
	if err := needModel(model); err != nil {
		return nil, err
	}
	return httpapi.Ask(r, model, out, func(model string) (*sdk.Completion, error) { return p.askModel(ctx, r, model, schema, out) })
}

// askModel asks once and follows the answer as it comes.
func (p *provider) askModel(ctx context.Context, r *sdk.CompleteRequest, model string, schema *outschema.Schema, out sdk.Events) (*sdk.Completion, error) {
	content, err := contents(r.Contents)
	if err != nil {
		return nil, err
	}
	s, err := p.client(ctx)
	if err != nil {
		return nil, err
	}
	defer s.done()
	if err := httpapi.Fits(ctx, r, model, p.countTokens, p.listModels); err != nil {
		return nil, err
	}
	inner, alive, stop := httpapi.Watch(ctx, r.IdleTimeout)
	a := answer{out: out, model: model, secrets: p.secrets()}
	var broken error
	for chunk, err := range s.Models.GenerateContentStream(inner, model, content, request(r, model, schema)) {
		if broken = err; err != nil {
			break
		}
		alive()
		a.take(chunk)
	}
	if silent := stop(); a.finish == "" || broken != nil {
		a.failed = httpapi.Ended(ctx, r.IdleTimeout, silent, broken, func(err error) *sdk.Failure { return s.classify(err, time.Now()) })
	}
	return a.completion(s.wire.requestID())
}

func (p *provider) apiHealth(ctx context.Context, deep bool) (*sdk.Health, error) {
	s, err := p.client(ctx)
	if err != nil {
		return nil, err
	}
	s.done()
	detail := s.account.String()
	if server := p.Server(s.account.Vertex); server != "" {
		detail += " at " + server
	}
	if deep {
		models, err := p.listModels(ctx)
		if err != nil {
			return nil, err
		}
		if len(models) > 0 { // none: it says nothing of any
			if err := httpapi.Listed(models, p.Model); err != nil {
				return nil, err
			}
		}
	}
	return &sdk.Health{Detail: detail}, nil
}

var errNoAPI = sdk.Fail(sdk.Unsupported, "the gemini program can't do this; the API can", sdk.EffectNone,
	sdk.Fix(`set "transport": "api", and a key in GEMINI_API_KEY`))

// countTokens asks the API how long a prompt is; no model sees it. The schema is not
// counted: the API has no place for it there.
func (p *provider) countTokens(ctx context.Context, r *sdk.CompleteRequest) (int64, error) {
	model := cmp.Or(r.Model, p.Model)
	if !p.api(model) {
		return 0, errNoAPI
	}
	if err := needModel(model); err != nil {
		return 0, err
	}
	content, err := contents(r.Contents)
	if err != nil {
		return 0, err
	}
	if r.System != "" { // the Gemini API counts contents only
		content = append([]*genai.Content{genai.NewContentFromText(r.System, genai.RoleUser)}, content...)
	}
	s, err := p.client(ctx)
	if err != nil {
		return 0, err
	}
	defer s.done()
	n, err := s.Models.CountTokens(ctx, model, content, nil)
	if err != nil {
		return 0, p.unpaid(s, err)
	}
	return int64(n.TotalTokens), nil
}

func (p *provider) listModels(ctx context.Context) ([]sdk.Model, error) {
	if !p.api("any") {
		return nil, errNoAPI
	}
	s, err := p.client(ctx)
	if err != nil {
		return nil, err
	}
	defer s.done()
	ctx, cancel := context.WithTimeout(ctx, smallCall)
	defer cancel()
	var out []sdk.Model
	for m, err := range s.Models.All(ctx) {
		if err != nil {
			return nil, p.unpaid(s, err)
		}
		if id := m.Name[strings.LastIndex(m.Name, "/")+1:]; answers(m) {
			out = append(out, sdk.Model{ID: id, ContextTokens: int64(m.InputTokenLimit), MaxOutputTokens: int64(m.OutputTokenLimit)})
		}
	}
	return out, nil
}

// answers leaves out models that only embed texts or draw.
func answers(m *genai.Model) bool {
	for _, action := range m.SupportedActions {
		if action == "generateContent" {
			return true
		}
	}
	return len(m.SupportedActions) == 0
}

// unpaid is classify for calls that charge nothing.
func (p *provider) unpaid(s *session, err error) *sdk.Failure {
	f := s.classify(err, time.Now())
	f.Detail, f.Effect = httpapi.Clip(f.Detail, p.secrets()...), sdk.EffectNone
	return f
}
