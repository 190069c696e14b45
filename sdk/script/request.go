package script

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"strings"

	"github.com/paxiom/relay/sdk/pluginpb"
)

// Request is what a script looks at in a request to a model.
type Request struct {
	Role      string
	Model     string
	System    string
	Parts     []Part
	HasSchema bool // an output schema was asked for
}

// Part is one piece of a prompt: a text when MediaType is empty, otherwise data.
type Part struct {
	MediaType string
	Data      string
}

// RequestOf takes from a request of the protocol what a script looks at.
func RequestOf(r *pluginpb.CompleteRequest) Request {
	out := Request{
		Role: r.GetRole(), Model: r.GetModel(), System: r.GetSystem(),
		HasSchema: len(r.GetOutputSchemaJson()) > 0,
	}
	for _, p := range r.GetParts() {
		if b := p.GetBlob(); b != nil {
			out.Parts = append(out.Parts, Part{b.GetMediaType(), string(b.GetData())})
			continue
		}
		out.Parts = append(out.Parts, Part{Data: p.GetText()})
	}
	return out
}

// Text is all texts of the prompt, with a blank line between two.
func (r Request) Text() string {
	var texts []string
	for _, p := range r.Parts {
		if p.MediaType == "" && p.Data != "" {
			texts = append(texts, p.Data)
		}
	}
	return strings.Join(texts, "\n\n")
}

// PromptSHA256 identifies what was asked: the system prompt and the parts, each
// with its kind and length before it, in lower-case hexadecimal. Role and model
// are not part of it.
func (r Request) PromptSHA256() string {
	h := sha256.New()
	field(h, "system", r.System)
	for _, p := range r.Parts {
		field(h, "part/"+p.MediaType, p.Data)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func field(h hash.Hash, name, data string) {
	size := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	h.Write([]byte(name + "\x00" + string(size) + data))
}

// Asked describes the request for Call.Asked.
func (r Request) Asked() *Asked {
	return &Asked{
		Role: r.Role, Model: r.Model, HasSchema: r.HasSchema,
		PromptSHA256: r.PromptSHA256(), PromptBytes: len(r.Text()),
	}
}

// Fits reports whether the call may answer the request. It needs a validated
// script, and does not count uses.
func (c *Call) Fits(r Request) bool {
	w := c.When
	switch {
	case w == nil:
		return true
	case w.Role != "" && w.Role != r.Role:
		return false
	case w.Model != "" && w.Model != r.Model:
		return false
	case w.prompt != nil && !w.prompt.MatchString(r.Text()):
		return false
	case w.system != nil && !w.system.MatchString(r.System):
		return false
	case w.PromptSHA256 != "" && !strings.EqualFold(w.PromptSHA256, r.PromptSHA256()):
		return false
	}
	return true
}

// RecordedFor reports whether the call was recorded for this very prompt. A call
// that was written by hand, without Asked, is for any.
func (c *Call) RecordedFor(r Request) bool {
	return c.Asked == nil || strings.EqualFold(c.Asked.PromptSHA256, r.PromptSHA256())
}
