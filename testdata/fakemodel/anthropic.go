package fakemodel

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// anthropic speaks the Messages API.
type anthropic struct{}

func (anthropic) name() string                         { return "anthropic" }
func (anthropic) ask(_ *http.Request, body []byte) ask { return bodyAsk(body) }

var anthropicErrors = map[int]string{
	400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
	413: "request_too_large", 429: "rate_limit_error", 529: "overloaded_error",
}

func (anthropic) fault(f *Fault) event {
	kind := anthropicErrors[f.Status]
	if kind == "" {
		kind = "api_error"
	}
	return event{"error", object{"type": "error", "error": object{"type": kind, "message": "fake " + kind}}}
}

func (a anthropic) whole(q ask, t *Turn, n int64) any {
	blocks, stop := a.content(t, n)
	m := a.message(q, n, a.usage(t))
	m["content"], m["stop_reason"] = blocks, stop
	return m
}

func (a anthropic) stream(q ask, t *Turn, n int64) []event {
	blocks, stop := a.content(t, n)
	begin := a.usage(t)
	begin["output_tokens"] = 1 // the real API counts them at the end only
	events := []event{typed("message_start", object{"message": a.message(q, n, begin)})}
	for i, b := range blocks {
		open, deltas := a.block(b)
		events = append(events, typed("content_block_start", object{"index": i, "content_block": open}))
		for _, d := range deltas {
			events = append(events, typed("content_block_delta", object{"index": i, "delta": d}))
		}
		events = append(events, typed("content_block_stop", object{"index": i}))
	}
	return append(events,
		typed("message_delta", object{"delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": a.usage(t)}),
		typed("message_stop", object{}))
}

// typed is an event whose data repeats its name as "type".
func typed(name string, data object) event {
	data["type"] = name
	return event{name, data}
}

func (anthropic) message(q ask, n int64, usage object) object {
	return object{"id": fmt.Sprintf("msg_fake%06d", n), "type": "message", "role": "assistant", "model": q.model,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage}
}

func (anthropic) usage(t *Turn) object {
	u := t.usage()
	return object{"input_tokens": u.Input, "output_tokens": u.Output, "service_tier": "standard",
		"cache_creation_input_tokens": u.CacheWrite, "cache_read_input_tokens": u.CacheRead}
}

func (anthropic) content(t *Turn, n int64) (blocks []object, stop string) {
	stop = "end_turn"
	if t.Thinking != "" {
		blocks = append(blocks, object{"type": "thinking", "thinking": t.Thinking, "signature": "ZmFrZQ=="})
	}
	if t.Text != "" {
		blocks = append(blocks, object{"type": "text", "text": t.Text})
	}
	for i, c := range t.calls() {
		stop = "tool_use"
		blocks = append(blocks, object{"type": "tool_use", "id": c.id("toolu_fake", n, i), "name": c.Name, "input": c.input()})
	}
	if t.StopReason != "" {
		stop = t.StopReason
	}
	return blocks, stop
}

// block takes a whole content block apart into its empty opening and its deltas.
func (anthropic) block(b object) (open object, deltas []object) {
	switch b["type"] {
	case "text":
		open = object{"type": "text", "text": ""}
		for _, s := range pieces(b["text"].(string)) {
			deltas = append(deltas, object{"type": "text_delta", "text": s})
		}
	case "thinking":
		open = object{"type": "thinking", "thinking": "", "signature": ""}
		deltas = []object{{"type": "thinking_delta", "thinking": b["thinking"]},
			{"type": "signature_delta", "signature": b["signature"]}}
	case "tool_use":
		open = object{"type": "tool_use", "id": b["id"], "name": b["name"], "input": object{}}
		for _, s := range pieces(string(b["input"].(json.RawMessage))) {
			deltas = append(deltas, object{"type": "input_json_delta", "partial_json": s})
		}
	}
	return open, deltas
}
