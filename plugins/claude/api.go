package main

import (
	"cmp"
	"context"
	"encoding/base64"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/paxiom/relay/plugins/internal/httpapi"
	"github.com/paxiom/relay/plugins/internal/outschema"
	"github.com/paxiom/relay/sdk"
)

const (
	anthropicAPI = "https://api.anthropic.com"
	keyFix       = "put a key into ANTHROPIC_API_KEY: https://console.anthropic.com/settings/keys"
	// maxTokens is what a call may write when it names no limit. The API wants a number
	// that is within the model's own limit.
	maxTokens = 32000
	// smallCall bounds the questions that no model answers.
	smallCall = 15 * time.Second
	// answerTool takes an answer in a schema where the API can't be asked for one.
	answerTool = "answer"
)

// api reports whether a request goes to the HTTP API: when it is asked for, or when all
// that it needs is there. Short names ("opus") are the program's own.
func (p *provider) api(model string) bool {
	switch p.Transport {
	case "api":
		return true
	case "cli":
		return false
	}
	if p.cloud() {
		return true
	}
	whole := strings.Contains(model, "-") || p.server() != "" && model != "" && !slices.Contains(shortNames, model)
	return p.Tools == "" && p.credentials() && whole
}

// shortNames are models in the program's own words.
var shortNames = []string{"default", "best", "opus", "sonnet", "haiku", "opusplan"}

// credentials reports whether there is a key or token for the API. A login of the
// program is for the program only.
func (p *provider) credentials() bool {
	return p.cloud() || os.Getenv("ANTHROPIC_API_KEY") != "" || os.Getenv("ANTHROPIC_AUTH_TOKEN") != ""
}

func (p *provider) secrets() []string {
	var values []string
	for _, v := range info().Env {
		if v.Secret {
			values = append(values, os.Getenv(v.Name))
		}
	}
	return values
}

// server is the base URL that was asked for; empty: the backend's own.
func (p *provider) server() string {
	if p.cloud() {
		return p.BaseURL
	}
	return cmp.Or(p.BaseURL, os.Getenv("ANTHROPIC_BASE_URL"))
}

// options are all that the client goes by: nothing else of the environment counts,
// and it never tries again by itself. Done ends the call's connections.
func (p *provider) options(ctx context.Context) (opts []option.RequestOption, done func(), err error) {
	server := p.server()
	if !p.credentials() && server == "" {
		return nil, nil, sdk.Fail(sdk.NotLoggedIn, "there is no key for the Anthropic API", sdk.EffectNone, sdk.Fix(keyFix))
	}
	client, done := httpapi.Client()
	opts = []option.RequestOption{option.WithBaseURL(anthropicAPI), option.WithHTTPClient(client)}
	switch token, key := os.Getenv("ANTHROPIC_AUTH_TOKEN"), os.Getenv("ANTHROPIC_API_KEY"); {
	case p.cloud():
		if opts, err = p.cloudOptions(ctx, client); err != nil {
			done()
			return nil, nil, err
		}
	case token != "":
		opts = append(opts, option.WithAuthToken(token))
	case key != "":
		opts = append(opts, option.WithAPIKey(key))
	}
	if server != "" {
		opts = append(opts, option.WithBaseURL(server))
	}
	return append(opts, option.WithMaxRetries(0), option.WithoutOpenTelemetry(), option.WithHeader("User-Agent", "relay-plugin-claude/"+version)), done, nil
}

// askAPI asks the model, and the fallback model when the first one can't answer now.
func (p *provider) askAPI(ctx context.Context, r *sdk.CompleteRequest, model string, out sdk.Events) (*sdk.Completion, error) {
	schema, err := outschema.Compile(r.OutputSchema)
	if err != nil {
		return nil, err
	}
	return httpapi.Ask(r, model, out, func(model string) (*sdk.Completion, error) { return p.askModel(ctx, r, model, schema, out) })
}

// askModel asks once and follows the answer as it comes.
func (p *provider) askModel(ctx context.Context, r *sdk.CompleteRequest, model string, schema *outschema.Schema, out sdk.Events) (*sdk.Completion, error) {
	opts, done, err := p.options(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	q, err := p.question(r, model, schema)
	if err != nil {
		return nil, err
	}
	if err := httpapi.Fits(ctx, r, model, p.countTokens, p.listModels); err != nil {
		return nil, err
	}
	inner, alive, stop := httpapi.Watch(ctx, r.IdleTimeout)
	var head *http.Response
	service := anthropic.NewMessageService(opts...)
	stream := service.NewStreaming(inner, q.ask(r), option.WithResponseInto(&head))
	defer stream.Close()
	a := answer{out: out, secrets: p.secrets(), tool: q.tools != nil}
	if head != nil {
		a.headers(head.Header, time.Now())
	}
	for !a.ended && stream.Next() {
		alive()
		a.take(stream.Current())
	}
	if silent := stop(); !a.ended { // whatever comes after the last event does not count
		a.failed = httpapi.Ended(ctx, r.IdleTimeout, silent, stream.Err(), func(err error) *sdk.Failure { return p.classify(err, time.Now()) })
	}
	return a.completion(schema)
}

// question is what asking and counting have in common.
type question struct {
	model    string
	system   []anthropic.TextBlockParam
	messages []anthropic.MessageParam
	output   anthropic.OutputConfigParam
	tools    []anthropic.ToolParam // the one that takes the answer; none: the API holds it to the schema
}

func (p *provider) question(r *sdk.CompleteRequest, model string, schema *outschema.Schema) (question, error) {
	if model == "" {
		return question{}, sdk.Fail(sdk.BadConfig, "no model is named, and the API has none of its own", sdk.EffectNone,
			sdk.Fix(`set "model" in the plugin's block of the configuration`))
	}
	q, marks := question{model: model}, cacheMarks
	if r.System != "" { // the same in every call of a role: the vendor's cache may end after it
		q.system = []anthropic.TextBlockParam{{Text: r.System, CacheControl: anthropic.NewCacheControlEphemeralParam()}}
		marks--
	}
	blocks, err := contents(r.Contents, marks)
	if err != nil {
		return question{}, err
	}
	q.messages = []anthropic.MessageParam{anthropic.NewUserMessage(blocks...)}
	q.output.Effort = anthropic.OutputConfigEffort(r.Effort)
	if schema == nil {
		return q, nil
	}
	// The clouds are later than Anthropic's own API: what all of them have is a tool.
	if tree, ok := schema.Strict(); ok && p.StructuredOutput != "tool" && (p.StructuredOutput != "" || !p.cloud()) {
		q.output.Format.Schema = tree
		return q, nil
	}
	tree := schema.Tree()
	input := anthropic.ToolInputSchemaParam{ExtraFields: tree}
	delete(tree, "type") // the client writes it
	q.tools = []anthropic.ToolParam{{Name: answerTool, Description: param.NewOpt("Give the answer."), InputSchema: input}}
	return q, nil
}

func (q question) ask(r *sdk.CompleteRequest) anthropic.MessageNewParams {
	params := anthropic.MessageNewParams{
		Model: q.model, MaxTokens: cmp.Or(r.MaxOutputTokens, maxTokens), Messages: q.messages, System: q.system, OutputConfig: q.output,
	}
	if r.Temperature != nil {
		params.Temperature = param.NewOpt(*r.Temperature)
	}
	for _, t := range q.tools {
		params.Tools = append(params.Tools, anthropic.ToolUnionParam{OfTool: &t})
		params.ToolChoice = anthropic.ToolChoiceParamOfTool(t.Name)
	}
	return params
}

func (q question) count() anthropic.MessageCountTokensParams {
	params := anthropic.MessageCountTokensParams{Model: q.model, Messages: q.messages, OutputConfig: q.output}
	if q.system != nil {
		params.System.OfTextBlockArray = q.system
	}
	for _, t := range q.tools {
		params.Tools = append(params.Tools, anthropic.MessageCountTokensToolUnionParam{OfTool: &t})
		params.ToolChoice = anthropic.ToolChoiceParamOfTool(t.Name)
	}
	return params
}

// cacheMarks is how many places the API lets a request mark for its prompt cache.
const cacheMarks = 4

func contents(list []sdk.Content, marks int) ([]anthropic.ContentBlockParamUnion, error) {
	var out []anthropic.ContentBlockParamUnion
	for _, c := range list {
		data := base64.StdEncoding.EncodeToString(c.Data)
		switch {
		case c.MediaType == "" && c.Text == "":
			continue
		case c.MediaType == "":
			block := anthropic.NewTextBlock(c.Text)
			if c.Cacheable && marks > 0 {
				block.OfText.CacheControl = anthropic.NewCacheControlEphemeralParam()
				marks--
			}
			out = append(out, block)
		case slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, c.MediaType):
			out = append(out, anthropic.NewImageBlockBase64(c.MediaType, data))
		case c.MediaType == "application/pdf":
			out = append(out, anthropic.NewDocumentBlock(anthropic.Base64PDFSourceParam{Data: data}))
		default:
			return nil, sdk.Fail(sdk.Unsupported, "the API takes no attachment of type "+c.MediaType, sdk.EffectNone, sdk.Fix("leave the attachment out"))
		}
	}
	return out, nil
}

var errNoAPI = sdk.Fail(sdk.Unsupported, "the claude program can't do this; the API can", sdk.EffectNone,
	sdk.Fix(`set "transport": "api", and a key in ANTHROPIC_API_KEY`))

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
	q, err := p.question(r, model, schema)
	if err != nil {
		return 0, err
	}
	if p.Backend == onBedrock {
		return 0, sdk.Fail(sdk.Unsupported, "Amazon Bedrock does not count tokens", sdk.EffectNone, sdk.Fix("count with another backend"))
	}
	opts, done, err := p.options(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	service := anthropic.NewMessageService(opts...)
	n, err := service.CountTokens(ctx, q.count())
	if err != nil {
		return 0, p.classified(err)
	}
	return n.InputTokens, nil
}

func (p *provider) listModels(ctx context.Context) ([]sdk.Model, error) {
	if !p.api("claude-any") {
		return nil, errNoAPI
	}
	if p.cloud() {
		return nil, sdk.Fail(sdk.Unsupported, "the clouds' models are listed in their consoles", sdk.EffectNone, sdk.Fix("look there"))
	}
	opts, done, err := p.options(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, smallCall)
	defer cancel()
	service := anthropic.NewModelService(opts...)
	var out []sdk.Model
	page := service.ListAutoPaging(ctx, anthropic.ModelListParams{})
	for page.Next() {
		m := page.Current()
		out = append(out, sdk.Model{ID: m.ID, ContextTokens: m.MaxInputTokens, MaxOutputTokens: m.MaxTokens})
	}
	if err := page.Err(); err != nil {
		return nil, p.classified(err)
	}
	return out, nil
}

// classified is classify for calls that charge nothing.
func (p *provider) classified(err error) *sdk.Failure {
	f := p.classify(err, time.Now())
	f.Detail, f.Effect = httpapi.Clip(f.Detail, p.secrets()...), sdk.EffectNone
	return f
}

func (p *provider) apiHealth(ctx context.Context, deep bool) (*sdk.Health, error) {
	_, done, err := p.options(ctx)
	if err != nil {
		return nil, err
	}
	done()
	if p.cloud() {
		return p.cloudHealth(ctx, deep)
	}
	detail := "the API at " + cmp.Or(p.server(), anthropicAPI)
	if !p.credentials() {
		detail += ", no key"
	}
	if deep {
		if _, err := p.listModels(ctx); err != nil {
			return nil, err
		}
	}
	return &sdk.Health{Detail: detail}, nil
}
