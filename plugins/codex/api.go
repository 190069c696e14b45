package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"github.com/paxiom/relay/plugins/internal/httpapi"
	"github.com/paxiom/relay/plugins/internal/outschema"
	"github.com/paxiom/relay/sdk"
)

const (
	openAI = "https://api.openai.com/v1"
	keyFix = "put a key into OPENAI_API_KEY: https://platform.openai.com/api-keys"
	// healthTimeout bounds the question of `relay doctor --live`.
	healthTimeout = 15 * time.Second
)

func (p *provider) key() string {
	return cmp.Or(os.Getenv("OPENAI_API_KEY"), os.Getenv("CODEX_API_KEY"))
}

func (p *provider) server() string {
	return strings.TrimRight(cmp.Or(p.BaseURL, os.Getenv("OPENAI_BASE_URL")), "/")
}

// options are all that the client goes by: nothing else of the environment counts,
// and it never tries again by itself. Done ends the call's connections.
func (p *provider) options() (opts []option.RequestOption, done func(), err error) {
	key, server := p.key(), p.server()
	if key == "" && server == "" {
		return nil, nil, sdk.Fail(sdk.NotLoggedIn, "there is no key for the OpenAI API", sdk.EffectNone, sdk.Fix(keyFix))
	}
	client, done := httpapi.Client()
	opts = []option.RequestOption{
		option.WithBaseURL(cmp.Or(server, openAI)), option.WithHTTPClient(client), option.WithMaxRetries(0),
		option.WithHeader("User-Agent", "relay-plugin-codex/"+version),
	}
	if key != "" {
		opts = append(opts, option.WithAPIKey(key))
	}
	return opts, done, nil
}

// askAPI asks the model once and follows its answer as it comes.
func (p *provider) askAPI(ctx context.Context, r *sdk.CompleteRequest, model string, schema *outschema.Schema, out sdk.Events) (*sdk.Completion, error) {
	opts, done, err := p.options()
	if err != nil {
		return nil, err
	}
	defer done()
	params, err := request(r, model, schema)
	if err != nil {
		return nil, err
	}
	if err := p.fits(ctx, r, model); err != nil {
		return nil, err
	}
	if p.server() == "" { // another server may refuse a field that it does not know
		params.PromptCacheKey = param.NewOpt(cacheKey(r))
	}
	inner, alive, stop := httpapi.Watch(ctx, r.IdleTimeout)
	var head *http.Response
	service := responses.NewResponseService(opts...)
	stream := service.NewStreaming(inner, params, option.WithResponseInto(&head))
	defer stream.Close()
	a := answer{out: out}
	if head != nil {
		a.headers(head.Header, time.Now())
	}
	for stream.Next() && !a.ended {
		alive()
		a.take(stream.Current())
	}
	if silent := stop(); !a.ended { // whatever comes after the last event does not count
		a.failed = httpapi.Ended(ctx, r.IdleTimeout, silent, stream.Err(), p.classify)
	}
	return a.completion(p.key())
}

// fits says before anything is spent that a prompt is too long, where the configuration
// tells how much the model takes.
func (p *provider) fits(ctx context.Context, r *sdk.CompleteRequest, model string) error {
	if p.ContextTokens == 0 {
		return nil
	}
	return httpapi.Fits(ctx, r, model, p.countTokens, func(context.Context) ([]sdk.Model, error) {
		return []sdk.Model{{ID: model, ContextTokens: p.ContextTokens}}, nil
	})
}

// countTokens asks the API how long a prompt is; no model sees it.
func (p *provider) countTokens(ctx context.Context, r *sdk.CompleteRequest) (int64, error) {
	model := cmp.Or(r.Model, p.Model)
	if !p.api(model) {
		return 0, errNoAPI
	}
	schema, err := outschema.Compile(r.OutputSchema)
	if err != nil {
		return 0, err
	}
	q, err := request(r, model, schema)
	if err != nil {
		return 0, err
	}
	opts, done, err := p.options()
	if err != nil {
		return 0, err
	}
	defer done()
	service := responses.NewInputTokenService(opts...)
	n, err := service.Count(ctx, responses.InputTokenCountParams{
		Model: param.NewOpt(model), Instructions: q.Instructions, Reasoning: q.Reasoning,
		Input: responses.InputTokenCountParamsInputUnion{OfResponseInputItemArray: q.Input.OfInputItemList},
		Text:  responses.InputTokenCountParamsText{Format: q.Text.Format},
	})
	if err != nil {
		return 0, p.uncounted(err)
	}
	return n.InputTokens, nil
}

// uncounted says why there is no count: many servers that speak the Responses API have
// no such question.
func (p *provider) uncounted(err error) *sdk.Failure {
	f := p.classify(err)
	if f.Reason == sdk.BadConfig {
		f = sdk.Fail(sdk.Unsupported, "the server does not count tokens", sdk.Detail(f.Detail), sdk.Fix("leave context_tokens out of the plugin's configuration"))
	}
	f.Effect = sdk.EffectNone
	return f
}

// cacheKey sends the calls of one role in one project, which begin alike, to the same
// part of the vendor's prompt cache.
func cacheKey(r *sdk.CompleteRequest) string {
	sum := sha256.Sum256([]byte(r.Role + "\x00" + r.System))
	return "relay-" + hex.EncodeToString(sum[:8])
}

// request is what is sent.
func request(r *sdk.CompleteRequest, model string, schema *outschema.Schema) (responses.ResponseNewParams, error) {
	var params responses.ResponseNewParams
	if model == "" {
		return params, sdk.Fail(sdk.BadConfig, "no model is named, and the API has none of its own", sdk.EffectNone,
			sdk.Fix(`set "model" in the plugin's block of the configuration`))
	}
	content, err := contents(r.Contents)
	if err != nil {
		return params, err
	}
	params = responses.ResponseNewParams{
		Model: model, Store: param.NewOpt(false),
		Input: responses.ResponseNewParamsInputUnion{OfInputItemList: responses.ResponseInputParam{
			responses.ResponseInputItemParamOfMessage(content, responses.EasyInputMessageRoleUser),
		}},
	}
	if r.System != "" {
		params.Instructions = param.NewOpt(r.System)
	}
	if r.MaxOutputTokens > 0 {
		params.MaxOutputTokens = param.NewOpt(r.MaxOutputTokens)
	}
	if r.Temperature != nil {
		params.Temperature = param.NewOpt(*r.Temperature)
	}
	if r.Effort != "" {
		params.Reasoning.Effort = shared.ReasoningEffort(r.Effort)
	}
	if schema != nil {
		params.Text.Format.OfJSONSchema = format(schema)
	}
	return params, nil
}

// format asks for an answer in the schema; strictly, where the schema can be put so.
func format(schema *outschema.Schema) *responses.ResponseFormatTextJSONSchemaConfigParam {
	tree, strict := schema.Strict()
	if !strict {
		tree = schema.Tree()
	}
	return &responses.ResponseFormatTextJSONSchemaConfigParam{Name: "answer", Schema: tree, Strict: param.NewOpt(strict)}
}

func contents(list []sdk.Content) (responses.ResponseInputMessageContentListParam, error) {
	var out responses.ResponseInputMessageContentListParam
	for _, c := range list {
		switch {
		case c.MediaType == "":
			if c.Text != "" {
				out = append(out, responses.ResponseInputContentParamOfInputText(c.Text))
			}
		case strings.HasPrefix(c.MediaType, "image/"):
			image := responses.ResponseInputContentParamOfInputImage(responses.ResponseInputImageDetailAuto)
			image.OfInputImage.ImageURL = param.NewOpt("data:" + c.MediaType + ";base64," + base64.StdEncoding.EncodeToString(c.Data))
			out = append(out, image)
		default:
			return nil, sdk.Fail(sdk.Unsupported, "the API takes no attachment of type "+c.MediaType, sdk.EffectNone, sdk.Fix("leave the attachment out"))
		}
	}
	return out, nil
}

func (p *provider) apiHealth(ctx context.Context, deep bool) (*sdk.Health, error) {
	_, done, err := p.options()
	if err != nil {
		return nil, err
	}
	done()
	detail := "the API at " + cmp.Or(p.server(), openAI)
	if p.key() == "" {
		detail += ", no key"
	}
	if deep {
		models, err := p.listModels(ctx)
		if err != nil {
			return nil, err
		}
		if err := httpapi.Listed(models, p.Model); err != nil {
			return nil, err
		}
	}
	return &sdk.Health{Detail: detail}, nil
}

var errNoAPI = sdk.Fail(sdk.Unsupported, "the codex program can't do this; the API can", sdk.EffectNone,
	sdk.Fix(`set "transport": "api", and a key in OPENAI_API_KEY`))

// listModels asks the API; the program has no list to give.
func (p *provider) listModels(ctx context.Context) ([]sdk.Model, error) {
	if !p.api("any") {
		return nil, errNoAPI
	}
	opts, done, err := p.options()
	if err != nil {
		return nil, err
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	service := openai.NewModelService(opts...)
	var out []sdk.Model
	page := service.ListAutoPaging(ctx)
	for page.Next() {
		out = append(out, sdk.Model{ID: page.Current().ID})
	}
	if err := page.Err(); err != nil {
		return nil, p.classify(err)
	}
	return out, nil
}
