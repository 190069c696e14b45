package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/paxiom/relay/plugins/internal/eventtest"
	"github.com/paxiom/relay/plugins/internal/vendortest"
	"github.com/paxiom/relay/sdk"
)

// cloud is a stand-in for a cloud's front: it keeps what it is asked, and answers as
// that cloud does with what the scripted server says.
type cloud struct {
	*httptest.Server
	path string
	head http.Header
	body map[string]any
}

// front puts a cloud before a script; aws says in whose form answers are streamed.
func front(t *testing.T, script string, aws bool) *cloud {
	t.Helper()
	m := server(t, script)
	c := &cloud{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead { // whether it is there
			return
		}
		c.path, c.head, c.body = r.URL.Path, r.Header, map[string]any{}
		b, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(b, &c.body); err != nil {
			t.Error(err)
		}
		asked := map[string]any{"model": "claude-sonnet-4-5", "stream": true}
		for k, v := range c.body {
			if k != "anthropic_version" {
				asked[k] = v
			}
		}
		b, _ = json.Marshal(asked)
		res, err := http.Post(m.URL()+"/v1/messages", "application/json", bytes.NewReader(b))
		if err != nil {
			t.Error(err)
			return
		}
		defer res.Body.Close()
		for name := range res.Header {
			w.Header().Set(name, res.Header.Get(name))
		}
		if res.StatusCode != http.StatusOK || !aws {
			w.WriteHeader(res.StatusCode)
			_, _ = io.Copy(w, res.Body)
			return
		}
		w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
		frames(t, w, res.Body)
	}))
	t.Cleanup(c.Close)
	for _, v := range cloudEnv() {
		t.Setenv(v.Name, "")
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(home, "none"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(home, "none"))
	return c
}

// frames puts server-sent events into AWS's frames.
func frames(t *testing.T, w io.Writer, events io.Reader) {
	for lines := bufio.NewScanner(events); lines.Scan(); {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		payload, _ := json.Marshal(map[string]string{"bytes": base64.StdEncoding.EncodeToString([]byte(data))})
		var headers []byte
		for _, h := range [][2]string{{":message-type", "event"}, {":event-type", "chunk"}, {":content-type", "application/json"}} {
			const text = 7 // the type of a value
			headers = append(append(append(headers, byte(len(h[0]))), h[0]...), text, 0, byte(len(h[1])))
			headers = append(headers, h[1]...)
		}
		frame := binary.BigEndian.AppendUint32(nil, uint32(16+len(headers)+len(payload)))
		frame = binary.BigEndian.AppendUint32(frame, uint32(len(headers)))
		frame = binary.BigEndian.AppendUint32(frame, crc32.ChecksumIEEE(frame))
		frame = slices.Concat(frame, headers, payload)
		frame = binary.BigEndian.AppendUint32(frame, crc32.ChecksumIEEE(frame))
		if _, err := w.Write(frame); err != nil {
			t.Error(err)
		}
	}
}

func inCloud(t *testing.T, format string, args ...any) sdk.Provider {
	t.Helper()
	p := newProvider().part()
	if err := p.Configure(t.Context(), &sdk.Config{JSON: json.RawMessage(fmt.Sprintf(format, args...)), WorkDir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	return p
}

const cloudScript = `[{"tool":{"name":"answer","input":{"ok":true}},"times":-1,"usage":{"input":100,"output":20}}]`

func asked() *sdk.CompleteRequest {
	r := ask("ok?")
	r.Model, r.OutputSchema = "anthropic.claude-sonnet-4-5-v1:0", json.RawMessage(verdictSchema)
	return r
}

func TestBedrock(t *testing.T) {
	c := front(t, cloudScript, true)
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIA-canary")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret-canary")
	p := inCloud(t, `{"backend":"bedrock","region":"eu-west-1","base_url":%q}`, c.URL)
	got, err := p.Complete(t.Context(), asked(), &eventtest.Log{})
	if err != nil || string(got.JSON) != `{"ok":true}` {
		t.Fatalf("%+v %v", got, err)
	}
	if in, _ := got.Usage.Input.Value(); in != 100 {
		t.Errorf("usage %+v", got.Usage)
	}
	auth := c.head.Get("Authorization")
	if c.path != "/model/anthropic.claude-sonnet-4-5-v1:0/invoke-with-response-stream" || !strings.HasPrefix(auth, "AWS4-HMAC-SHA256 Credential=AKIA-canary/") ||
		!strings.Contains(auth, "/eu-west-1/bedrock/") || strings.Contains(fmt.Sprint(c.head), key) || c.body["anthropic_version"] != "bedrock-2023-05-31" || c.body["model"] != nil {
		t.Errorf("asked %s with %v: %v", c.path, c.head, c.body)
	}
	t.Setenv("AWS_BEARER_TOKEN_BEDROCK", "bearer-canary")
	if _, err := p.Complete(t.Context(), asked(), &eventtest.Log{}); err != nil || c.head.Get("Authorization") != "Bearer bearer-canary" {
		t.Errorf("%v %v", c.head, err)
	}
	if h, err := p.Health(t.Context(), true); err != nil || strings.Contains(h.Detail, "canary") || !strings.Contains(h.Detail, "bedrock at "+c.URL) {
		t.Errorf("%+v %v", h, err)
	}
	_, err = p.CountTokens(t.Context(), asked())
	vendortest.Want{Reason: sdk.Unsupported}.Hold(t, nil, sdk.AsFailure(err))
}

func TestVertex(t *testing.T) {
	c := front(t, cloudScript, false)
	p := inCloud(t, `{"backend":"vertex","region":"europe-west1","project":"my-project","base_url":%q}`, c.URL)
	got, err := p.Complete(t.Context(), asked(), &eventtest.Log{})
	vendortest.Want{Reason: sdk.NotLoggedIn, Effect: sdk.EffectNone}.Hold(t, got, sdk.AsFailure(err))
	for _, status := range []int{200, 400} {
		tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			fmt.Fprint(w, `{"access_token":"token-canary","token_type":"Bearer","expires_in":3600}`)
		}))
		defer tokens.Close()
		t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", vendortest.ServiceAccount(t, tokens.URL))
		got, err := p.Complete(t.Context(), asked(), &eventtest.Log{})
		if status != 200 {
			vendortest.Want{Reason: sdk.AuthRejected, Effect: sdk.EffectNone}.Hold(t, got, sdk.AsFailure(err))
			continue
		}
		if err != nil || string(got.JSON) != `{"ok":true}` {
			t.Fatalf("%+v %v", got, err)
		}
		if want := "/v1/projects/my-project/locations/europe-west1/publishers/anthropic/models/anthropic.claude-sonnet-4-5-v1:0:streamRawPredict"; c.path != want ||
			c.head.Get("Authorization") != "Bearer token-canary" || c.head.Get("X-Api-Key") != "" || c.body["anthropic_version"] != "vertex-2023-10-16" {
			t.Errorf("asked %s with %v: %v", c.path, c.head, c.body)
		}
	}
}

func TestCloudFailures(t *testing.T) {
	for name, tc := range map[string]struct {
		script string
		vendortest.Want
	}{
		"expired":   {`[{"error":{"status":403,"headers":{"x-amzn-errortype":"ExpiredTokenException:http://x","x-amzn-requestid":"req_7"},"body":{"message":"no"}}}]`, vendortest.Want{Reason: sdk.AuthRejected}},
		"not open":  {`[{"error":{"status":403,"headers":{"x-amzn-errortype":"AccessDeniedException","x-amzn-requestid":"req_7"},"body":{"message":"no"}}}]`, vendortest.Want{Reason: sdk.Permission}},
		"throttled": {`[{"error":{"status":429,"headers":{"x-amzn-errortype":"ThrottlingException","x-amzn-requestid":"req_7"},"body":{"message":"no"}}}]`, vendortest.Want{Reason: sdk.RateLimited, Check: func(f *sdk.Failure) bool { return f.RetryAfter > 0 }}},
		"overload":  {`[{"error":{"status":503,"headers":{"x-amzn-requestid":"req_7"},"body":{"message":"no"}}}]`, vendortest.Want{Reason: sdk.Overloaded}},
	} {
		t.Run(name, func(t *testing.T) {
			c := front(t, tc.script, true)
			t.Setenv("AWS_BEARER_TOKEN_BEDROCK", "bearer-canary")
			got, err := inCloud(t, `{"backend":"bedrock","region":"eu-west-1","base_url":%q}`, c.URL).Complete(t.Context(), asked(), &eventtest.Log{})
			f := sdk.AsFailure(err)
			tc.Effect = sdk.EffectNone
			tc.Hold(t, got, f)
			if f.UpstreamRequestID != "req_7" || strings.Contains(f.Error(), "canary") {
				t.Errorf("got %+v", f)
			}
		})
	}
	c := front(t, `[]`, true)
	for config, want := range map[string]sdk.Reason{
		`{"backend":"bedrock"}`: sdk.BadConfig, `{"backend":"bedrock","region":"eu-west-1"}`: sdk.NotLoggedIn, `{"backend":"vertex"}`: sdk.BadConfig,
		`{"backend":"moon"}`: sdk.BadConfig, `{"backend":"bedrock","transport":"cli"}`: sdk.BadConfig,
	} {
		_, err := inCloud(t, strings.Replace(config, "}", `,"base_url":%q}`, 1), c.URL).Health(t.Context(), false)
		vendortest.Want{Reason: want}.Hold(t, config, sdk.AsFailure(err))
	}
}

// The program gets nothing of the clouds' keys.
func TestProgramGetsNoCloudKeys(t *testing.T) {
	front(t, `[]`, true)
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret-canary")
	seen := filepath.Join(t.TempDir(), "env")
	program := filepath.Join(t.TempDir(), "claude")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n[ \"$1\" != --version ] || { echo 2.1.329; exit; }\nenv > "+seen+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, _ = inCloud(t, `{"transport":"cli","command":%q}`, program).Complete(t.Context(), ask("hello"), &eventtest.Log{})
	b, err := os.ReadFile(seen)
	if err != nil || !strings.Contains(string(b), key) || strings.Contains(string(b), "secret-canary") {
		t.Errorf("%v\n%s", err, b)
	}
}
