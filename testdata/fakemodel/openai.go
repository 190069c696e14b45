package fakemodel

import (
	"fmt"
	"maps"
	"net/http"
	"time"
)

// openai speaks the Responses API.
type openai struct{}

func (openai) name() string                         { return "openai" }
func (openai) ask(_ *http.Request, body []byte) ask { return bodyAsk(body) }

func (openai) fault(f *Fault) event {
	if f.Stream {
		return event{"", object{"type": "response.failed", "response": object{"id": "resp_fake", "status": "failed",
			"error": object{"code": "server_error", "message": "fake stream failure"}}}}
	}
	return event{"", object{"error": object{"type": "fake_error", "code": nil, "param": nil,
		"message": fmt.Sprintf("fake error %d", f.Status)}}}
}

func (o openai) whole(q ask, t *Turn, n int64) any {
	return o.response(q, t, n, "completed", o.items(t, n))
}

func (o openai) stream(q ask, t *Turn, n int64) []event {
	items := o.items(t, n)
	events := []event{typed("response.created", object{"response": o.response(q, t, n, "in_progress", []object{})})}
	for i, item := range items {
		open := maps.Clone(item)
		message := item["type"] == "message"
		if message {
			open["content"], open["status"] = []any{}, "in_progress"
		}
		events = append(events, typed("response.output_item.added", object{"output_index": i, "item": open}))
		if message {
			for _, s := range pieces(t.Text) {
				events = append(events, typed("response.output_text.delta",
					object{"item_id": item["id"], "output_index": i, "content_index": 0, "delta": s}))
			}
		}
		events = append(events, typed("response.output_item.done", object{"output_index": i, "item": item}))
	}
	status := "completed"
	if t.StopReason == "incomplete" {
		status = t.StopReason
	}
	return append(events, typed("response."+status, object{"response": o.response(q, t, n, status, items)}))
}

func (openai) response(q ask, t *Turn, n int64, status string, items []object) object {
	r := object{"id": fmt.Sprintf("resp_fake%06d", n), "object": "response", "created_at": time.Now().Unix(),
		"status": status, "model": q.model, "output": items, "error": nil, "incomplete_details": nil}
	if status == "in_progress" {
		return r
	}
	u := t.usage()
	r["usage"] = object{
		"input_tokens": u.Input, "input_tokens_details": object{"cached_tokens": u.CacheRead},
		"output_tokens": u.Output, "output_tokens_details": object{"reasoning_tokens": u.Reasoning},
		"total_tokens": u.Input + u.Output,
	}
	if status == "incomplete" {
		r["incomplete_details"] = object{"reason": "max_output_tokens"}
	}
	return r
}

func (openai) items(t *Turn, n int64) []object {
	var items []object
	if t.Thinking != "" {
		items = append(items, object{"type": "reasoning", "id": fmt.Sprintf("rs_fake%06d", n), "content": []any{},
			"summary": []any{object{"type": "summary_text", "text": t.Thinking}}, "encrypted_content": "ZmFrZQ=="})
	}
	if t.Text != "" {
		m := object{"type": "message", "id": fmt.Sprintf("msg_fake%06d", n), "role": "assistant", "status": "completed",
			"content": []any{object{"type": "output_text", "text": t.Text, "annotations": []any{}}}}
		if t.Phase != "" {
			m["phase"] = t.Phase
		}
		items = append(items, m)
	}
	for i, c := range t.calls() {
		items = append(items, c.openai(c.id("call_fake", n, i)))
	}
	return items
}

func (c Tool) openai(id string) object {
	switch {
	case len(c.LocalShell) > 0:
		return object{"type": "local_shell_call", "id": "lsh_" + id, "call_id": id, "status": "completed",
			"action": object{"type": "exec", "command": c.LocalShell, "env": object{}}}
	case c.Custom || c.Raw != "":
		return object{"type": "custom_tool_call", "id": "ctc_" + id, "call_id": id, "status": "completed",
			"name": c.Name, "input": c.Raw}
	}
	call := object{"type": "function_call", "id": "fc_" + id, "call_id": id, "status": "completed",
		"name": c.Name, "arguments": string(c.input())}
	if c.Namespace != "" {
		call["namespace"] = c.Namespace
	}
	return call
}
