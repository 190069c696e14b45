package main

import (
	"math"
	"strings"

	"google.golang.org/genai"

	"github.com/paxiom/relay/plugins/internal/outschema"
	"github.com/paxiom/relay/sdk"
)

// contents is the prompt as the API takes it: one turn of the user.
func contents(list []sdk.Content) ([]*genai.Content, error) {
	var parts []*genai.Part
	for _, c := range list {
		kind, _, _ := strings.Cut(c.MediaType, "/")
		switch {
		case c.MediaType == "" && c.Text == "":
		case c.MediaType == "":
			parts = append(parts, genai.NewPartFromText(c.Text))
		case kind == "image", kind == "audio", kind == "video", kind == "text", c.MediaType == "application/pdf":
			parts = append(parts, genai.NewPartFromBytes(c.Data, c.MediaType))
		default:
			return nil, sdk.Fail(sdk.Unsupported, "the API takes no attachment of type "+c.MediaType, sdk.EffectNone, sdk.Fix("leave the attachment out"))
		}
	}
	return []*genai.Content{genai.NewContentFromParts(parts, genai.RoleUser)}, nil
}

// request is how the answer is wanted. The schema goes as it is: the API leaves out of
// it what it does not know, and relay holds the answer to all of it.
func request(r *sdk.CompleteRequest, model string, schema *outschema.Schema) *genai.GenerateContentConfig {
	c := &genai.GenerateContentConfig{MaxOutputTokens: int32(min(r.MaxOutputTokens, math.MaxInt32)), ThinkingConfig: thinking(r.Effort, model)}
	if r.System != "" {
		c.SystemInstruction = genai.NewContentFromText(r.System, genai.RoleUser)
	}
	if r.Temperature != nil {
		t := float32(*r.Temperature)
		c.Temperature = &t
	}
	if schema != nil {
		c.ResponseMIMEType, c.ResponseJsonSchema = "application/json", schema.Tree()
	}
	return c
}

// budgets are the tokens that models before Gemini 3 may think for, by Google's own
// table of what the words mean.
var budgets = map[string]int32{"none": 0, "minimal": 1024, "low": 1024, "medium": 8192, "high": 24576}

// thinking says how hard the model is to think: in a word, or for older models in
// tokens.
func thinking(effort, model string) *genai.ThinkingConfig {
	if effort == "" {
		return nil
	}
	if budget, known := budgets[strings.ToLower(effort)]; known && strings.HasPrefix(model, "gemini-2") {
		return &genai.ThinkingConfig{ThinkingBudget: &budget}
	}
	return &genai.ThinkingConfig{ThinkingLevel: genai.ThinkingLevel(strings.ToUpper(effort))}
}
