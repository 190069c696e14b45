package fakemodel

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

func start(t *testing.T, script string, vars map[string]string) *Server {
	t.Helper()
	sc, err := Parse([]byte(script), vars)
	if err != nil {
		t.Fatal(err)
	}
	s := New(sc)
	if err := s.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	res, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(b)
}

func TestEachAPISaysTheTurn(t *testing.T) {
	turn := `[{"text":"in {{REPO}}","tool":{"name":"Read","input":{"p":"{{REPO}}"}},"usage":{"input":7,"output":3,"cache_read":2},"times":-1}]`
	s := start(t, `{"anthropic":`+turn+`,"openai":`+turn+`,"gemini":`+turn+`}`, map[string]string{"REPO": `/a "b"`})
	said := `in /a \"b\"`
	for _, tc := range []struct {
		path, body string
		want       []string
	}{
		{"/v1/messages", `{"model":"m","stream":true}`, []string{"event: message_start", said, `"name":"Read"`, `"stop_reason":"tool_use"`, "message_stop", `"cache_read_input_tokens":2`}},
		{"/v1/messages", `{"model":"m"}`, []string{`"type":"message"`, said, `"input_tokens":7`}},
		{"/v1/responses", `{"model":"m","stream":true}`, []string{"response.created", said, "function_call", "response.completed", `"cached_tokens":2`}},
		{"/v1/responses", `{"model":"m"}`, []string{`"status":"completed"`, said}},
		{"/v1beta/models/g:streamGenerateContent", `{}`, []string{"data: ", said, "functionCall", `"finishReason":"STOP"`}},
		{"/v1beta/models/g:generateContent", `{}`, []string{said, `"promptTokenCount":7`, `"modelVersion":"g"`}},
	} {
		status, got := post(t, s.URL()+tc.path, tc.body)
		for _, w := range tc.want {
			if status != 200 || !strings.Contains(got, w) {
				t.Errorf("%s %s: status %d, no %q in\n%s", tc.path, tc.body, status, w, got)
			}
		}
	}
}

func TestTurnsAreUsedUp(t *testing.T) {
	s := start(t, `{"anthropic":[{"match":"second","text":"two"},{"not_match":"second","match_model":"big","text":"one","times":2}]}`, nil)
	for _, tc := range []struct{ body, want string }{
		{`{"model":"big"}`, "one"}, {`{"model":"big","x":"second"}`, "two"}, {`{"model":"small"}`, exhausted},
		{`{"model":"big"}`, "one"}, {`{"model":"big"}`, exhausted},
	} {
		if _, got := post(t, s.URL()+"/v1/messages", tc.body); !strings.Contains(got, `"`+tc.want+`"`) {
			t.Errorf("%s: no %q in %s", tc.body, tc.want, got)
		}
	}
	reqs := s.Requests()
	if len(reqs) != 5 || reqs[1].Served != "anthropic turn 0 (plain)" || string(reqs[0].Body) != `{"model":"big"}` {
		t.Errorf("requests are %+v", reqs)
	}
}

func TestFaults(t *testing.T) {
	s := start(t, `{"anthropic":[
		{"error":{"status":429,"headers":{"retry-after":"3"}}},
		{"error":{"status":503,"body":"<html>"}},
		{"error":{"stream":true,"status":529}},
		{"drop":true}, {"text":"a long enough answer to be cut in two","truncate":true}]}`, nil)
	url := s.URL() + "/v1/messages"
	res, err := http.Post(url, "", strings.NewReader("{}"))
	if err != nil || res.StatusCode != 429 || res.Header.Get("retry-after") != "3" {
		t.Fatalf("%v %v", res, err)
	}
	res.Body.Close()
	if status, got := post(t, url, "{}"); status != 503 || got != "<html>" {
		t.Errorf("%d %s", status, got)
	}
	if status, got := post(t, url, `{"stream":true}`); status != 200 || !strings.Contains(got, "event: error") || !strings.Contains(got, "overloaded_error") {
		t.Errorf("%d %s", status, got)
	}
	if _, err := http.Post(url, "", strings.NewReader("{}")); err == nil {
		t.Error("a dropped connection gave an answer")
	}
	res, err = http.Post(url, "", strings.NewReader(`{"stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if b, err := io.ReadAll(res.Body); err == nil || strings.Contains(string(b), "message_stop") {
		t.Errorf("a truncated stream ended well: %v %s", err, b)
	}
}

func TestHangEndsWithTheClient(t *testing.T) {
	s := start(t, `{"anthropic":[{"hang":true}]}`, nil)
	c := http.Client{Timeout: 200 * time.Millisecond}
	if _, err := c.Post(s.URL()+"/v1/messages", "", strings.NewReader("{}")); err == nil {
		t.Fatal("there was an answer")
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if r := s.Requests(); len(r) == 1 {
			if !r[0].Gone {
				t.Errorf("request is %+v", r[0])
			}
			return
		}
		if time.Now().After(end) {
			t.Fatal("the request never ended")
		}
	}
}

func TestProxyRefusesAndRemembers(t *testing.T) {
	s := start(t, `{}`, nil)
	proxy, _ := url.Parse(s.URL())
	c := http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy)}}
	if _, err := c.Get("https://example.test/x"); err == nil {
		t.Error("the proxy let an https request through")
	}
	res, err := c.Get("http://example.test/y")
	if err != nil || res.StatusCode != http.StatusForbidden {
		t.Fatalf("%v %v", res, err)
	}
	res.Body.Close()
	if got := strings.Join(s.Outside(), " "); got != "example.test:443 http://example.test/y" {
		t.Errorf("outside hosts: %s", got)
	}
}

func TestStartRefusesOutsideAddresses(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", "example.test:80", ":0"} {
		if err := New(&Script{}).Start(addr); err == nil {
			t.Errorf("it listens on %s", addr)
		}
	}
}
