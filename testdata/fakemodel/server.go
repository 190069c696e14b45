package fakemodel

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Request is one request as it came, and what became of it.
type Request struct {
	Seq     int64           `json:"seq"`
	Time    string          `json:"t"`
	Method  string          `json:"method"`
	Path    string          `json:"path"` // the host that was wanted, for a refused proxy request
	Query   string          `json:"query,omitempty"`
	Headers http.Header     `json:"headers"`
	Body    json.RawMessage `json:"body,omitempty"`
	BodyB64 string          `json:"body_b64,omitempty"` // a body that is not JSON
	BodyLen int             `json:"body_len"`
	Served  string          `json:"served"` // the API and turn, or what else was answered
	Status  int             `json:"status"`
	MS      int64           `json:"ms"`
	Gone    bool            `json:"client_gone,omitempty"`
}

const proxyRefused = "proxy refused"

// Server plays a script. It is an http.Handler; Start makes it listen.
type Server struct {
	// Log gets each request as one line of JSON when it is over; nil: no log.
	Log io.Writer

	script *Script
	seq    atomic.Int64
	http   *http.Server
	addr   net.Addr

	mu   sync.Mutex
	done []Request
}

// New makes a server that does not listen yet.
func New(s *Script) *Server { return &Server{script: s} }

// Start listens on a loopback address ("127.0.0.1:0") and returns at once.
func (s *Server) Start(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return fmt.Errorf("%s is not a loopback address", addr)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	s.addr = l.Addr()
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go s.http.Serve(l)
	return nil
}

// Addr is the address that Start listens on.
func (s *Server) Addr() string { return s.addr.String() }

// URL is the base URL of the server.
func (s *Server) URL() string { return "http://" + s.Addr() }

// Close ends the server and every request that hangs.
func (s *Server) Close() error { return s.http.Close() }

// Arrived is the number of requests so far, those that are not over included.
func (s *Server) Arrived() int { return int(s.seq.Load()) }

// Requests are the requests that are over, in the order of their ends.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.done...)
}

// Outside are the hosts that a client wanted to reach through the proxy.
func (s *Server) Outside() []string {
	var hosts []string
	for _, r := range s.Requests() {
		if r.Served == proxyRefused {
			hosts = append(hosts, r.Path)
		}
	}
	return hosts
}

// ServeHTTP answers one request and writes it down.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	body := readBody(r)
	rec := Request{
		Seq: s.seq.Add(1), Time: start.Format("15:04:05.000"), Method: r.Method, Path: r.URL.Path,
		Query: r.URL.RawQuery, Headers: r.Header, BodyLen: len(body),
	}
	switch {
	case r.Method == http.MethodConnect:
		rec.Path = r.Host
	case r.URL.Host != "": // the absolute form of a proxied plain request
		rec.Path = r.URL.Scheme + "://" + r.URL.Host + r.URL.Path
	}
	if json.Valid(body) {
		rec.Body = body
	} else if len(body) > 0 {
		rec.BodyB64 = base64.StdEncoding.EncodeToString(body)
	}
	out := &response{ResponseWriter: w}
	rec.Served = s.route(out, r, body)
	rec.Status, rec.MS, rec.Gone = out.status, time.Since(start).Milliseconds(), r.Context().Err() != nil
	s.record(rec)
}

func (s *Server) record(rec Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = append(s.done, rec)
	if s.Log == nil {
		return
	}
	if line, err := json.Marshal(rec); err == nil {
		s.Log.Write(append(line, '\n'))
	}
}

func readBody(r *http.Request) []byte {
	raw, err := io.ReadAll(r.Body)
	if err != nil || r.Header.Get("Content-Encoding") != "gzip" {
		return raw
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return raw
	}
	if plain, err := io.ReadAll(z); err == nil {
		return plain
	}
	return raw
}

func (s *Server) route(w *response, r *http.Request, body []byte) string {
	p := path.Clean(r.URL.Path)
	post := r.Method == http.MethodPost
	switch {
	case r.Method == http.MethodConnect || r.URL.Host != "":
		w.WriteHeader(http.StatusForbidden)
		return proxyRefused
	case strings.EqualFold(r.Header.Get("Upgrade"), "websocket"):
		w.WriteHeader(http.StatusUpgradeRequired)
		return "websocket refused"
	case r.Method == http.MethodHead, r.Method == http.MethodOptions, r.Method == http.MethodGet && p == "/":
		w.json(http.StatusOK, object{"ok": true})
		return "probe"
	case strings.HasSuffix(p, "/v1/messages/count_tokens"):
		w.json(http.StatusOK, object{"input_tokens": guessTokens(body)})
		return "count_tokens"
	case post && strings.HasSuffix(p, "/v1/messages"):
		return s.play(w, r, body, s.script.Anthropic, anthropic{})
	case post && strings.HasSuffix(p, "/responses/input_tokens"):
		w.json(http.StatusOK, object{"object": "response.input_tokens", "input_tokens": guessTokens(body)})
		return "input_tokens"
	case post && strings.HasSuffix(p, "/responses"):
		return s.play(w, r, body, s.script.OpenAI, openai{})
	case post && strings.HasSuffix(p, "/responses/compact"):
		w.json(http.StatusOK, object{"output": []any{}})
		return "compact"
	case r.Method == http.MethodGet && strings.HasSuffix(p, "/models"):
		w.json(http.StatusOK, models(p, r.Header.Get("Anthropic-Version") != ""))
		return "models"
	case strings.HasSuffix(p, ":countTokens"):
		w.json(http.StatusOK, object{"totalTokens": guessTokens(body)})
		return "countTokens"
	case strings.HasSuffix(p, ":generateContent"), strings.HasSuffix(p, ":streamGenerateContent"):
		return s.play(w, r, body, s.script.Gemini, gemini{})
	}
	w.json(http.StatusNotFound, object{"type": "error",
		"error": object{"type": "not_found_error", "message": "fakemodel serves nothing at " + p}})
	return "none"
}

// guessTokens is about four bytes a token, and never 0.
func guessTokens(body []byte) int { return 1 + len(body)/4 }

func models(p string, anthropic bool) object {
	if anthropic {
		return object{"has_more": false, "data": []any{object{"id": "claude-sonnet-4-5-20250929", "type": "model", "display_name": "Fake",
			"created_at": "2025-09-29T00:00:00Z", "max_input_tokens": 200_000, "max_tokens": 64_000}}}
	}
	if strings.Contains(p, "v1beta") {
		return object{"models": []any{object{"name": "models/gemini-2.5-pro", "inputTokenLimit": 1048576, "outputTokenLimit": 65536,
			"supportedGenerationMethods": []any{"generateContent", "countTokens"}}}}
	}
	return object{"object": "list", "has_more": false, "models": []any{},
		"data": []any{object{"id": "gpt-5.5", "object": "model", "owned_by": "fake"}}}
}
