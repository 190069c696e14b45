package fakemodel

import (
	"fmt"
	"net/http"
	"path"
	"strings"
)

// gemini speaks the Generative Language API.
type gemini struct{}

func (gemini) name() string { return "gemini" }

func (gemini) ask(r *http.Request, _ []byte) ask {
	model, verb, _ := strings.Cut(path.Base(r.URL.Path), ":")
	return ask{model, verb == "streamGenerateContent"}
}

var geminiErrors = map[int]string{
	400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
	429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE",
}

func (gemini) fault(f *Fault) event {
	status := geminiErrors[f.Status]
	return event{"", object{"error": object{"code": f.Status, "message": "fake " + status, "status": status}}}
}

func (g gemini) whole(q ask, t *Turn, n int64) any {
	return g.chunk(q, n, g.parts(t, n), g.ending(t))
}

// stream sends a chunk for each part; finish reason and usage are in the last.
func (g gemini) stream(q ask, t *Turn, n int64) []event {
	parts := g.parts(t, n)
	var events []event
	for len(parts) > 1 {
		events = append(events, event{"", g.chunk(q, n, parts[:1], nil)})
		parts = parts[1:]
	}
	return append(events, event{"", g.chunk(q, n, parts, g.ending(t))})
}

func (gemini) ending(t *Turn) object {
	finish := t.StopReason
	if finish == "" {
		finish = "STOP"
	}
	u := t.usage()
	return object{"finish": finish, "usage": object{
		"promptTokenCount": u.Input, "cachedContentTokenCount": u.CacheRead, "candidatesTokenCount": u.Output,
		"thoughtsTokenCount": u.Reasoning, "totalTokenCount": u.Input + u.Output + u.Reasoning}}
}

func (gemini) chunk(q ask, n int64, parts []any, ending object) object {
	candidate := object{"content": object{"role": "model", "parts": parts}, "index": 0}
	c := object{"candidates": []any{candidate}, "modelVersion": q.model, "responseId": fmt.Sprintf("fake%06d", n)}
	if ending != nil {
		candidate["finishReason"], c["usageMetadata"] = ending["finish"], ending["usage"]
	}
	return c
}

func (gemini) parts(t *Turn, n int64) []any {
	parts := []any{}
	if t.Thinking != "" {
		parts = append(parts, object{"text": t.Thinking, "thought": true})
	}
	if t.Text != "" {
		parts = append(parts, object{"text": t.Text})
	}
	for i, c := range t.calls() {
		parts = append(parts, object{"thoughtSignature": "ZmFrZQ==",
			"functionCall": object{"id": c.id("fc", n, i), "name": c.Name, "args": c.input()}})
	}
	return parts
}
