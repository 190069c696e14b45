package sdk

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/paxiom/relay/sdk/pluginpb"
)

// Provider asks a model. Only Complete must be set; the capabilities ListModels and
// CountTokens follow from the functions.
type Provider struct {
	// Complete asks the model once. What it returns becomes the last event; what it
	// sends to Events on the way is shown and counted. It ends within 2 s of ctx's
	// end. An error that is not a *Failure is reported as Internal.
	Complete func(ctx context.Context, r *CompleteRequest, out Events) (*Completion, error)
	// ListModels names the models that the account may use.
	ListModels func(ctx context.Context) ([]Model, error)
	// CountTokens counts the input tokens of a request without sending it to a model.
	CountTokens func(ctx context.Context, r *CompleteRequest) (int64, error)
	// Health reports whether Complete could work now; an error says why not. With deep
	// it may use the network.
	Health func(ctx context.Context, deep bool) (*Health, error)
	// Configure takes the configuration, once, before any work.
	Configure func(ctx context.Context, c *Config) error

	OutputSchema  bool // can hold an answer to CompleteRequest.OutputSchema
	ReportsCost   bool // sends Usage.CostMicroUSD
	ReportsLimits bool // sends RateLimit events
	Concurrent    bool // Complete may run several times at once; otherwise calls queue
}

// Builder changes a workspace. Only Build must be set.
type Builder struct {
	// Build does the task in r.Workspace. What it says about its changes is shown to
	// people and believed by nobody. It ends within 2 s of ctx's end.
	Build func(ctx context.Context, r *BuildRequest, out Events) (*BuildResult, error)
	// Health reports whether Build could work now; an error says why not.
	Health func(ctx context.Context, deep bool) (*Health, error)
	// Configure takes the configuration, once, before any work.
	Configure func(ctx context.Context, c *Config) error

	Resume        bool // BuildRequest.ResumeSession is honoured
	ReportsCost   bool // sends Usage.CostMicroUSD
	ReportsLimits bool // sends RateLimit events
	Concurrent    bool // Build may run several times at once; otherwise calls queue
}

// Content is one piece of a prompt: a text, or data with a media type.
type Content struct {
	Text      string
	MediaType string // of Data; empty when this is a text
	Data      []byte
	Cacheable bool // the vendor's prompt cache may end here
}

// CompleteRequest is one question to a model.
type CompleteRequest struct {
	CallID          string // unique in the run
	Model           string // empty: the plugin's default
	FallbackModel   string // of the same vendor; empty: none
	System          string
	Contents        []Content
	OutputSchema    json.RawMessage // JSON Schema of Completion.JSON; nil: a text is wanted
	MaxOutputTokens int64           // 0: the model's own limit
	Temperature     *float64        // nil: the model's default
	Effort          string
	MaxCostMicroUSD int64 // a wish, in millionths of a dollar; 0: none
	IdleTimeout     time.Duration
	MaxTurns        int    // for a command line that takes several turns; 0: its default
	Role            string // who asks ("orchestrator"): for logs only
}

// Text is all text contents, with a blank line between two.
func (r *CompleteRequest) Text() string {
	var texts []string
	for _, c := range r.Contents {
		if c.MediaType == "" && c.Text != "" {
			texts = append(texts, c.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// Completion is a model's answer.
type Completion struct {
	Text       string
	JSON       json.RawMessage // the answer in the asked schema; set exactly when one was asked for
	StopReason string          // the vendor's word: "end_turn"
	Model      string          // the model that answered
	Usage      Usage           // of the whole call; joined with what was sent to Events
}

// Model is one model of a provider.
type Model struct {
	ID              string
	ContextTokens   int64 // 0: not known
	MaxOutputTokens int64 // 0: not known
}

// BuildRequest is one task for a builder.
type BuildRequest struct {
	CallID          string
	Workspace       string          // absolute: the repository's root, and the only place to write
	Task            json.RawMessage // the task, canonical JSON
	System          string
	Prompt          string
	Patch           string // unified diff, for a builder that only applies it
	Model           string
	FallbackModel   string
	MaxTurns        int // 0: the builder's default
	ResumeSession   string
	MaxCostMicroUSD int64 // a wish, in millionths of a dollar; 0: none
	IdleTimeout     time.Duration
	Timeout         time.Duration
	ResultSchema    json.RawMessage // JSON Schema of BuildResult.JSON
}

// BuildResult is what a builder says at its end.
type BuildResult struct {
	JSON       json.RawMessage // the builder's own result, as the model gave it; may be empty or broken
	Session    string          // for BuildRequest.ResumeSession
	StopReason string
	Model      string
	Usage      Usage // of the whole call; joined with what was sent to Events
}

func (Provider) kind() pluginpb.GetInfoResponse_Kind { return pluginpb.GetInfoResponse_KIND_PROVIDER }

func (p Provider) common() common { return common{p.Configure, p.Health, p.Concurrent} }

func (p Provider) capabilities() *pluginpb.Capabilities {
	return &pluginpb.Capabilities{
		ListModels: p.ListModels != nil, CountTokens: p.CountTokens != nil, OutputSchema: p.OutputSchema,
		ReportsCost: p.ReportsCost, ReportsLimits: p.ReportsLimits, Concurrent: p.Concurrent,
	}
}

func (Builder) kind() pluginpb.GetInfoResponse_Kind { return pluginpb.GetInfoResponse_KIND_BUILDER }

func (b Builder) common() common { return common{b.Configure, b.Health, b.Concurrent} }

func (b Builder) capabilities() *pluginpb.Capabilities {
	return &pluginpb.Capabilities{
		Resume: b.Resume, ReportsCost: b.ReportsCost, ReportsLimits: b.ReportsLimits, Concurrent: b.Concurrent,
	}
}

func completeRequest(r *pluginpb.CompleteRequest) *CompleteRequest {
	out := &CompleteRequest{
		CallID: r.GetCallId(), Model: r.GetModel(), FallbackModel: r.GetFallbackModel(), System: r.GetSystem(),
		OutputSchema: r.GetOutputSchemaJson(), MaxOutputTokens: r.GetMaxOutputTokens(), Temperature: r.Temperature,
		Effort: r.GetEffort(), MaxCostMicroUSD: r.GetMaxCostMicrousd(), IdleTimeout: r.GetIdleTimeout().AsDuration(),
		MaxTurns: int(r.GetMaxTurns()), Role: r.GetRole(),
	}
	for _, p := range r.GetParts() {
		c := Content{Cacheable: p.GetCacheable()}
		switch x := p.GetPart().(type) {
		case *pluginpb.Part_Text:
			c.Text = x.Text
		case *pluginpb.Part_Blob:
			c.MediaType, c.Data = x.Blob.GetMediaType(), x.Blob.GetData()
			c.MediaType = cmp.Or(c.MediaType, "application/octet-stream")
		default: // a newer host's kind of part
			continue
		}
		out.Contents = append(out.Contents, c)
	}
	return out
}

func buildRequest(r *pluginpb.BuildRequest) *BuildRequest {
	return &BuildRequest{
		CallID: r.GetCallId(), Workspace: r.GetWorkspace(), Task: r.GetTaskJson(), System: r.GetSystem(),
		Prompt: r.GetPrompt(), Patch: r.GetPatch(), Model: r.GetModel(), FallbackModel: r.GetFallbackModel(),
		MaxTurns: int(r.GetMaxTurns()), ResumeSession: r.GetResumeSession(), MaxCostMicroUSD: r.GetMaxCostMicrousd(),
		IdleTimeout: r.GetIdleTimeout().AsDuration(), Timeout: r.GetTimeout().AsDuration(),
		ResultSchema: r.GetResultSchemaJson(),
	}
}
