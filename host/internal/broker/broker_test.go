package broker

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

const real = "sk-canary/0123456789+abcdefghij"

// lent is a broker with one key lent, and the vendor behind it.
type lent struct {
	*Broker
	base, key string // what the plugin got
	back      func()
}

// lend serves a broker for a vendor's server on loopback.
func lend(t *testing.T, variable, path string, vendor http.HandlerFunc) lent {
	t.Helper()
	s := httptest.NewTLSServer(vendor)
	t.Cleanup(s.Close)
	l := lent{Broker: New()}
	t.Cleanup(l.Close)
	l.transport.TLSClientConfig = &tls.Config{RootCAs: s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}
	if err := l.Listen(); err != nil {
		t.Fatal(err)
	}
	env, masked, back, err := l.Lend([]Account{{Variable: variable, Key: real, Server: s.URL + path}})
	if err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(env, "\n"); strings.Contains(all, real) || !strings.Contains(strings.Join(masked, "\n"), real) {
		t.Fatalf("%q, masked %q", env, masked)
	}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		switch name {
		case variable:
			l.key = value
		case Base(variable):
			l.base = value
		}
	}
	l.back = back
	return l
}

// ask sends a request and gives the status and the whole answer, headers included.
func (l lent) ask(t *testing.T, method, path, body string, header ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, l.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, strings.ReplaceAll(value, "KEY", l.key))
	}
	req.URL.RawQuery = strings.ReplaceAll(req.URL.RawQuery, "KEY", l.key)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	var all strings.Builder
	res.Header.Write(&all)
	_, err = io.Copy(&all, res.Body)
	if err != nil {
		fmt.Fprint(&all, err)
	}
	return res.StatusCode, all.String()
}

// Each vendor gets the real key in its own form, and in one place, however the client
// sent the worthless one; nothing of that one continues.
func TestEveryVendorGetsTheRealKey(t *testing.T) {
	for _, c := range []struct {
		variable, path, method, ask string
		send                        []string
		header, want                string
	}{
		{"ANTHROPIC_API_KEY", "", "POST", "/v1/messages?beta=true", []string{"X-Api-Key: KEY"}, "X-Api-Key", real},
		{"ANTHROPIC_API_KEY", "/gateway", "POST", "/v1/messages/count_tokens", []string{"Authorization: Bearer KEY"}, "X-Api-Key", real},
		{"ANTHROPIC_AUTH_TOKEN", "", "POST", "/v1/messages", []string{"Authorization: Bearer KEY", "X-Api-Key: KEY"}, "Authorization", "Bearer " + real},
		{"OPENAI_API_KEY", "/v1", "POST", "/responses", []string{"Authorization: Bearer KEY", "OpenAI-Organization: mine"}, "Authorization", "Bearer " + real},
		{"CODEX_API_KEY", "/v1/", "GET", "/models/gpt-5.5", []string{"Authorization: bearer KEY"}, "Authorization", "Bearer " + real},
		{"GEMINI_API_KEY", "", "POST", "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse", []string{"X-Goog-Api-Key: KEY"}, "X-Goog-Api-Key", real},
		{"GOOGLE_API_KEY", "", "POST", "/v1beta/models/gemini-2.5-pro:generateContent?key=KEY&alt=json", nil, "X-Goog-Api-Key", real},
	} {
		t.Run(c.variable+c.ask, func(t *testing.T) {
			var got *http.Request
			var body []byte
			l := lend(t, c.variable, c.path, func(w http.ResponseWriter, r *http.Request) {
				got = r
				body, _ = io.ReadAll(r.Body)
				w.Header().Set("Retry-After", "7")
				fmt.Fprint(w, "fine")
			})
			send := append(c.send, "Cookie: a=KEY", "X-Forwarded-For: 10.0.0.1", "Anthropic-Version: 2023-06-01")
			status, text := l.ask(t, c.method, c.ask, `{"a":1}`, send...)
			if status != 200 || !strings.Contains(text, "fine") || !strings.Contains(text, "Retry-After: 7") {
				t.Fatalf("%d %s", status, text)
			}
			if string(body) != `{"a":1}` || got.Header.Get("Anthropic-Version") == "" || got.Header.Get("X-Forwarded-For") != "" {
				t.Errorf("body %q, headers %v", body, got.Header)
			}
			var all strings.Builder
			got.Write(&all)
			if got.Header.Get(c.header) != c.want || strings.Count(all.String(), real) != 1 || strings.Contains(all.String(), l.key) {
				t.Errorf("%s", all.String())
			}
			if want := strings.TrimRight(c.path, "/") + strings.Split(c.ask, "?")[0]; got.URL.Path != want {
				t.Errorf("asked for %s, wanted %s", got.URL.Path, want)
			}
		})
	}
}

// Who has no worthless key, wants more than the models, or comes too late gets nothing,
// and the vendor hears nothing of it.
func TestRefused(t *testing.T) {
	asked := 0
	l := lend(t, "OPENAI_API_KEY", "/v1", func(http.ResponseWriter, *http.Request) { asked++ })
	key := "Authorization: Bearer KEY"
	for name, c := range map[string]struct {
		method, path, body string
		header             []string
		want               int
	}{
		"no key":         {"POST", "/responses", "", nil, 401},
		"another key":    {"POST", "/responses", "", []string{"Authorization: Bearer relay-nothing"}, 401},
		"the real key":   {"POST", "/responses", "", []string{"Authorization: Bearer " + real}, 401},
		"files":          {"GET", "/files", "", []string{key}, 403},
		"a method":       {"DELETE", "/models/ft:mine", "", []string{key}, 403},
		"an old answer":  {"GET", "/responses/resp_1", "", []string{key}, 403},
		"out of base":    {"POST", "/../v1/responses", "", []string{key}, 403},
		"encoded out":    {"GET", "/models/..%2f..%2ffiles", "", []string{key}, 403},
		"doubled":        {"POST", "//responses", "", []string{key}, 403},
		"a websocket":    {"GET", "/responses", "", []string{key, "Connection: Upgrade", "Upgrade: websocket"}, 426},
		"too large":      {"POST", "/responses", strings.Repeat("x", maxBody+1), []string{key}, 413},
		"a foreign host": {"POST", "/responses", "", []string{"X-Api-Key: x"}, 401},
	} {
		if status, text := l.ask(t, c.method, c.path, c.body, c.header...); status != c.want || strings.Contains(text, real) || !strings.Contains(text, "relay") {
			t.Errorf("%s: %d %.300s", name, status, text)
		}
	}
	if status, _ := l.ask(t, "POST", "/responses", "", key); status != 200 || asked != 1 {
		t.Fatalf("the good one: %d, asked %d times", status, asked)
	}
	l.back()
	if status, text := l.ask(t, "POST", "/responses", "", key); status != 401 || asked != 1 {
		t.Errorf("after the run: %d %s", status, text)
	}
	l.Close()
	if status, text := l.ask(t, "POST", "/responses", "", key); status != 0 {
		t.Errorf("after the end: %d %s", status, text)
	}
	if _, _, _, err := l.Lend([]Account{{Variable: "OPENAI_API_KEY", Key: real}}); err == nil {
		t.Error("a broker that has ended lends")
	}
}

// Connections are bounded, and the place of one that ended is free again.
func TestConnections(t *testing.T) {
	l := lend(t, "OPENAI_API_KEY", "/v1", func(http.ResponseWriter, *http.Request) {})
	at := strings.TrimSuffix(strings.TrimPrefix(l.base, "http://"), "/v1")
	var open []net.Conn
	for range maxConns + 8 {
		c, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
	}
	last := open[len(open)-1]
	last.SetDeadline(time.Now().Add(time.Minute))
	if _, err := last.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("one too many stays: %v", err)
	}
	for _, c := range open {
		c.Close()
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if status, _ := l.ask(t, "GET", "/models", "", "Authorization: Bearer KEY"); status == 200 {
			break
		} else if time.Now().After(end) {
			t.Fatal("nothing is served after they have ended")
		}
	}
}

// A body whose length is not told is bounded as well.
func TestEndlessBody(t *testing.T) {
	l := lend(t, "OPENAI_API_KEY", "/v1", func(w http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) })
	req, err := http.NewRequestWithContext(t.Context(), "POST", l.base+"/responses", io.LimitReader(endless{}, maxBody+1<<20))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+l.key)
	if res, err := http.DefaultClient.Do(req); err == nil { // or the connection is cut
		res.Body.Close()
		if res.StatusCode < 400 {
			t.Errorf("%s", res.Status)
		}
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

// A server that gives the key back, by whatever way, does not give it to the plugin.
func TestNothingComesBack(t *testing.T) {
	encoded := base64.StdEncoding.EncodeToString([]byte(real))
	for name, vendor := range map[string]http.HandlerFunc{
		"header": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Echo", r.Header.Get("X-Api-Key"))
			w.Header().Set("Set-Cookie", "k="+real)
		},
		"error": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Www-Authenticate", real)
			w.WriteHeader(401)
			fmt.Fprintf(w, "no such key: %s, %s, %q", real, encoded, real)
		},
		"in pieces": func(w http.ResponseWriter, r *http.Request) {
			for _, c := range []byte(real + " " + real) {
				w.Write([]byte{c})
				w.(http.Flusher).Flush()
			}
		},
		"trailer": func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, "x")
			w.(http.Flusher).Flush()
			w.Header().Set(http.TrailerPrefix+"X-Key", real)
		},
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/v1/messages?key="+real, http.StatusTemporaryRedirect)
		},
		"compressed": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			fmt.Fprint(w, real)
		},
		"upgraded": func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Upgrade", real); w.WriteHeader(426) },
	} {
		t.Run(name, func(t *testing.T) {
			l := lend(t, "ANTHROPIC_API_KEY", "", vendor)
			status, text := l.ask(t, "POST", "/v1/messages", "{}", "X-Api-Key: KEY", "Accept-Encoding: gzip")
			if strings.Contains(text, "canary") || strings.Contains(text, encoded[:30]) || status == 307 || status == 0 {
				t.Errorf("%d %s", status, text)
			}
		})
	}
	// Where it would be sent on, another server does not see it.
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("another server is asked: %v", r.Header) }))
	defer other.Close()
	l := lend(t, "GEMINI_API_KEY", "", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusPermanentRedirect)
	})
	if status, text := l.ask(t, "GET", "/v1beta/models", "", "X-Goog-Api-Key: KEY"); status != 502 || strings.Contains(text, other.URL) {
		t.Errorf("%d %s", status, text)
	}
}

// An event reaches the client before the vendor says the next one; a stream that is cut
// is cut for the client as well; taking the key back ends what is under way.
func TestStream(t *testing.T) {
	next := make(chan struct{})
	l := lend(t, "ANTHROPIC_API_KEY", "", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 3 {
			fmt.Fprintf(w, "data: %d s\n\n", i) // "s" may be how the key begins
			w.(http.Flusher).Flush()
			select {
			case <-next:
			case <-r.Context().Done():
				return
			}
		}
		panic(http.ErrAbortHandler)
	})
	open := func() (*bufio.Reader, io.Closer) {
		req, _ := http.NewRequestWithContext(t.Context(), "POST", l.base+"/v1/messages", strings.NewReader("{}"))
		req.Header.Set("X-Api-Key", l.key)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		return bufio.NewReader(res.Body), res.Body
	}
	in, body := open()
	defer body.Close()
	for i := range 3 {
		if line, err := in.ReadString('\n'); line != fmt.Sprintf("data: %d s\n", i) {
			t.Fatalf("%q %v", line, err)
		}
		in.ReadString('\n')
		next <- struct{}{}
	}
	if _, err := in.ReadString('\n'); err == nil || err == io.EOF {
		t.Errorf("a cut answer looks whole: %v", err)
	}
	in, body = open()
	defer body.Close()
	if line, err := in.ReadString('\n'); line != "data: 0 s\n" {
		t.Fatalf("%q %v", line, err)
	}
	l.back()
	if rest, err := io.ReadAll(in); err == nil {
		t.Errorf("the answer continues after the key was taken back: %q", rest)
	}
}

// In a box with a network of its own the broker is served on the box's socket.
func TestServeSocket(t *testing.T) {
	in, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	f, err := in.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := New()
	defer b.Close()
	if _, _, _, err := b.Lend([]Account{{Variable: "OPENAI_API_KEY", Key: real}}); err == nil {
		t.Error("lent without an address")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b.At(in.Addr().String())
	if err := b.Serve(ctx, f); err != nil {
		t.Fatal(err)
	}
	res, err := http.Get("http://" + in.Addr().String())
	if err != nil || res.StatusCode != 401 {
		t.Fatalf("%v %v", res, err)
	}
	res.Body.Close()
}

func TestServers(t *testing.T) {
	for text, good := range map[string]bool{
		"https://api.example.org": true, "https://api.example.org:8443/v1/": true, "http://127.0.0.1:8080/v1": true, "http://localhost:1": true, "http://[::1]:1": true,
		"http://api.example.org": false, "http://127.0.0.1.example.org": false, "https://me:pw@api.example.org": false, "https://api.example.org/?key=x": false,
		"ftp://api.example.org": false, "api.example.org": false, "https://": false, "": false, "http://10.0.0.1": false,
	} {
		if _, err := parseServer(text); (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
	b := New()
	defer b.Close()
	b.At("127.0.0.1:1")
	for _, a := range []Account{{Variable: "AWS_BEARER_TOKEN_BEDROCK", Key: real}, {Variable: "OPENAI_API_KEY", Key: "{\n}"}, {Variable: "OPENAI_API_KEY", Key: real, Server: "http://example.org"}} {
		if _, _, _, err := b.Lend([]Account{a}); err == nil || strings.Contains(err.Error(), real) {
			t.Errorf("%s: %v", a.Variable, err)
		}
	}
}

// A proxy of the user's own is not asked for the way to the broker.
func TestDirect(t *testing.T) {
	t.Setenv("NO_PROXY", "intern.example")
	os.Unsetenv("no_proxy")
	if env := strings.Join(direct(), " "); env != "NO_PROXY=intern.example,localhost,127.0.0.1,::1 no_proxy=localhost,127.0.0.1,::1" {
		t.Error(env)
	}
	if _, err := net.DialTimeout("tcp", "127.0.0.1:1", time.Second); err == nil {
		t.Skip("something listens at port 1")
	}
	b := New()
	defer b.Close()
	if err := b.Listen(); err != nil {
		t.Fatal(err)
	}
	env, _, _, err := b.Lend([]Account{{Variable: "OPENAI_API_KEY", Key: real, Server: "http://127.0.0.1:1/v1"}})
	if err != nil {
		t.Fatal(err)
	}
	key, base := strings.TrimPrefix(env[0], "OPENAI_API_KEY="), strings.TrimPrefix(env[1], "OPENAI_BASE_URL=")
	l := lent{Broker: b, base: base, key: key}
	if status, text := l.ask(t, "POST", "/responses", "{}", "Authorization: Bearer KEY"); status != 502 || !strings.Contains(text, "can't reach http://127.0.0.1:1") {
		t.Errorf("%d %s", status, text)
	}
}
