package script

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strings"

	"github.com/paxiom/relay/sdk/pluginpb"
)

// PromptSHA256 is the hash that identifies a request: its system prompt and its
// parts, each with its length before it, in lower-case hexadecimal.
func PromptSHA256(r *pluginpb.CompleteRequest) string {
	h := sha256.New()
	field(h, "system", []byte(r.GetSystem()))
	for _, p := range r.GetParts() {
		if b := p.GetBlob(); b != nil {
			field(h, b.GetMediaType(), b.GetData())
			continue
		}
		field(h, "text", []byte(p.GetText()))
	}
	return hex.EncodeToString(h.Sum(nil))
}

func field(h hash.Hash, name string, data []byte) {
	var size [8]byte
	for i, n := 0, uint64(len(data)); i < 8; i, n = i+1, n>>8 {
		size[i] = byte(n)
	}
	h.Write([]byte(name))
	h.Write([]byte{0})
	h.Write(size[:])
	h.Write(data)
}

// PromptText is the text of all text parts, one after another.
func PromptText(r *pluginpb.CompleteRequest) string {
	var b strings.Builder
	for _, p := range r.GetParts() {
		b.WriteString(p.GetText())
	}
	return b.String()
}

// AskedOf describes a request for Call.Asked.
func AskedOf(r *pluginpb.CompleteRequest) *Asked {
	return &Asked{
		Role:         r.GetRole(),
		Model:        r.GetModel(),
		PromptSHA256: PromptSHA256(r),
		PromptBytes:  len(PromptText(r)),
		HasSchema:    len(r.GetOutputSchemaJson()) > 0,
	}
}

// Fits reports whether the call may answer the request. It needs a validated
// script, and does not count uses.
func (c *Call) Fits(r *pluginpb.CompleteRequest) bool {
	w := c.When
	switch {
	case w == nil:
		return true
	case w.Role != "" && w.Role != r.GetRole():
		return false
	case w.Model != "" && w.Model != r.GetModel():
		return false
	case w.prompt != nil && !w.prompt.MatchString(PromptText(r)):
		return false
	case w.system != nil && !w.system.MatchString(r.GetSystem()):
		return false
	case w.PromptSHA256 != "" && !strings.EqualFold(w.PromptSHA256, PromptSHA256(r)):
		return false
	}
	return true
}
