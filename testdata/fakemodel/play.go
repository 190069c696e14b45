package fakemodel

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

type object = map[string]any

// ask is what an API's request asks for, as far as a script cares.
type ask struct {
	model  string
	stream bool
}

// event is one server-sent event; an empty name sends data only.
type event struct {
	name string
	data any
}

// api is one vendor's way to say things.
type api interface {
	name() string
	ask(r *http.Request, body []byte) ask
	whole(q ask, t *Turn, n int64) any
	stream(q ask, t *Turn, n int64) []event
	fault(f *Fault) event
}

// play serves the turn that fits, and says what it did.
func (s *Server) play(w *response, r *http.Request, body []byte, turns []*Turn, a api) string {
	q := a.ask(r, body)
	t, which := pick(turns, q.model, body)
	served := a.name() + " " + which
	if !q.stream {
		served += " (plain)"
	}
	if !wait(r, t.DelayMS) {
		return served + " client gone in delay"
	}
	n := s.seq.Load()
	switch {
	case t.Hang:
		<-r.Context().Done()
		return served + " hang"
	case t.Drop:
		w.hangUp()
		return served + " drop"
	case t.Error != nil:
		w.fault(t.Error, a)
		return served + " error"
	case !q.stream:
		w.json(http.StatusOK, a.whole(q, t, n))
		return served
	}
	return served + w.stream(r, t, a.stream(q, t, n))
}

// wait sleeps, and reports whether the client is still there.
func wait(r *http.Request, ms int) bool {
	if ms <= 0 {
		return true
	}
	select {
	case <-time.After(time.Duration(ms) * time.Millisecond):
		return true
	case <-r.Context().Done():
		return false
	}
}

// response remembers the status that it sent.
type response struct {
	http.ResponseWriter
	status int
}

func (w *response) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *response) json(status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

func (w *response) hangUp() {
	if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
		c.Close()
	}
}

func (w *response) fault(f *Fault, a api) {
	for name, value := range f.Headers {
		w.Header().Set(name, value)
	}
	e := a.fault(f)
	if len(f.Body) > 0 {
		e.data = f.Body
	}
	if f.Stream {
		w.startStream()
		w.event(e)
		return
	}
	var text string
	if len(f.Body) > 0 && json.Unmarshal(f.Body, &text) == nil {
		if w.Header().Get("Content-Type") == "" {
			w.Header().Set("Content-Type", "text/plain")
		}
		w.WriteHeader(f.Status)
		io.WriteString(w, text)
		return
	}
	w.json(f.Status, e.data)
}

// stream sends the events as the turn says, and tells how it ended when that was
// not the normal way.
func (w *response) stream(r *http.Request, t *Turn, events []event) string {
	w.startStream()
	if t.Truncate {
		events = events[:len(events)/2]
	}
	for i, e := range events {
		if !wait(r, t.ChunkDelayMS) {
			return " client gone in stream"
		}
		if err := w.event(e); err != nil {
			return " write failed"
		}
		if t.HangStream && i == 0 {
			<-r.Context().Done()
			return " hang in stream"
		}
	}
	if t.Truncate {
		w.hangUp()
		return " truncated"
	}
	return ""
}

func (w *response) startStream() {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	http.NewResponseController(w).Flush()
}

func (w *response) event(e event) error {
	data, err := json.Marshal(e.data)
	if err != nil {
		return err
	}
	name := ""
	if e.name != "" {
		name = "event: " + e.name + "\n"
	}
	if _, err := fmt.Fprintf(w, "%sdata: %s\n\n", name, data); err != nil {
		return err
	}
	return http.NewResponseController(w).Flush()
}

// pieces cuts s into at most five pieces between runes, so that clients see deltas.
func pieces(s string) []string {
	runes := []rune(s)
	step := max(len(runes)/4+1, 16)
	var out []string
	for len(runes) > step {
		out = append(out, string(runes[:step]))
		runes = runes[step:]
	}
	return append(out, string(runes))
}

// bodyAsk reads what the Anthropic and OpenAI APIs have in the body.
func bodyAsk(body []byte) ask {
	var b struct {
		Model  string `json:"model"`
		Stream bool   `json:"stream"`
	}
	json.Unmarshal(body, &b)
	return ask{strings.TrimSpace(b.Model), b.Stream}
}
