package geminicli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/plugins/internal/vendortest"
	"github.com/paxiom/relay/sdk"
)

// feed plays a recorded output (gemini 0.61.0 against a scripted API; ids, times and
// folders are replaced).
func feed(t *testing.T, name string) (*Stream, []Event) {
	t.Helper()
	s := new(Stream)
	s.account.KeyName = "GEMINI_API_KEY"
	var events []Event
	for _, l := range vendortest.Recorded(t, name) {
		events = append(events, s.Feed(l)...)
	}
	return s, events
}

var now = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

func TestGoodRuns(t *testing.T) {
	for _, tc := range []struct {
		name, text               string
		in, out, cached, thought int64
		problems                 string
	}{
		{name: "text", text: "Hello from the fake model.", in: 700, out: 44, cached: 500, thought: 10},
		{name: "recovered", text: "recovered", in: 1000, out: 50},
		{name: "build", text: "Done: Add now adds.", in: 5000, out: 250},
		{name: "denied", text: "Done: Add now adds.", in: 5700, out: 145, problems: `write_file NEW.md failed: Tool "write_file" not found`},
		{name: "plan", text: "Done: Add now adds.", in: 5000, out: 250, problems: "replace add.go failed: Tool execution denied by policy"},
		{name: "failed-command", text: "x", in: 2000, out: 100},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, _ := feed(t, tc.name)
			a, f := s.Verdict(End{Now: now, Finish: "stop"})
			if f != nil {
				t.Fatalf("failed: %v", f)
			}
			if a.Text != tc.text || a.Session != "session-1" || a.Model != "gemini-2.5-pro" {
				t.Errorf("answer %q of %q by %q", a.Text, a.Session, a.Model)
			}
			in, _ := a.Usage.Input.Value()
			out, _ := a.Usage.Output.Value()
			cached, _ := a.Usage.CacheRead.Value()
			thought, _ := a.Usage.Reasoning.Value()
			if _, priced := a.Usage.CostMicroUSD.Value(); in != tc.in || out != tc.out || cached != tc.cached || thought != tc.thought || priced {
				t.Errorf("usage: %d in, %d out, %d cached, %d thought, priced %v", in, out, cached, thought, priced)
			}
			if got := strings.Join(a.Problems, "\n"); (got == "") != (tc.problems == "") || !strings.Contains(got, tc.problems) {
				t.Errorf("problems: %q", got)
			}
		})
	}
}

func TestBadRuns(t *testing.T) {
	midnight := time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC) // in California
	code := func(want string) func(*sdk.Failure) bool {
		return func(f *sdk.Failure) bool { return f.UpstreamCode == want }
	}
	limit := func(want string) func(*sdk.Failure) bool {
		return func(f *sdk.Failure) bool { return f.LimitName == want }
	}
	for _, tc := range []struct {
		name string
		end  End
		vendortest.Want
	}{
		{"bad-key", End{ExitCode: 144}, vendortest.Want{Reason: sdk.AuthRejected, Effect: sdk.EffectNone, Check: code("400 INVALID_ARGUMENT")}},
		{"bad-request", End{ExitCode: 144}, vendortest.Want{Reason: sdk.BadRequest, Effect: sdk.EffectNone}},
		{"too-long", End{ExitCode: 144}, vendortest.Want{Reason: sdk.TooLarge, Effect: sdk.EffectNone}},
		{"status-401", End{ExitCode: 145}, vendortest.Want{Reason: sdk.AuthRejected, Effect: sdk.EffectNone}},
		{"status-403", End{ExitCode: 147}, vendortest.Want{Reason: sdk.Permission, Effect: sdk.EffectNone}},
		{"unknown-model", End{ExitCode: 1, Stderr: "Error when talking to Gemini API Full report available at: /tmp/x.json ModelNotFoundError: fake NOT_FOUND\n    at x"},
			vendortest.Want{Reason: sdk.ModelUnknown, Effect: sdk.EffectNone}},
		{"quota-minute", End{ExitCode: 173}, vendortest.Want{Reason: sdk.RateLimited, Effect: sdk.EffectNone, Check: func(f *sdk.Failure) bool { return f.RetryAfter == 2*time.Second }}},
		{"quota-day", End{ExitCode: 173}, vendortest.Want{Reason: sdk.QuotaExhausted, Effect: sdk.EffectNone, Check: func(f *sdk.Failure) bool { return f.ResetAt.Equal(midnight) }}},
		{"rate-limited", End{ExitCode: 173}, vendortest.Want{Reason: sdk.RateLimited, Effect: sdk.EffectNone}},
		{"status-500", End{ExitCode: 244}, vendortest.Want{Reason: sdk.Overloaded, Effect: sdk.EffectNone, Check: code("500 INTERNAL")}},
		{"status-503", End{ExitCode: 247}, vendortest.Want{Reason: sdk.Overloaded, Effect: sdk.EffectNone, Check: code("503")}},
		{"overload-at-last", End{ExitCode: 247}, vendortest.Want{Reason: sdk.Overloaded, Effect: sdk.EffectChanged}},
		{"refused-connection", End{ExitCode: 1}, vendortest.Want{Reason: sdk.Network, Effect: sdk.EffectUnknown}},
		{"dropped", End{ExitCode: 1}, vendortest.Want{Reason: sdk.Network, Effect: sdk.EffectUnknown}},
		{"truncated", End{ExitCode: 1}, vendortest.Want{Reason: sdk.Network, Effect: sdk.EffectCharged}},
		{"empty", End{}, vendortest.Want{Reason: sdk.BadOutput, Effect: sdk.EffectCharged}},
		{"safety", End{}, vendortest.Want{Reason: sdk.Refused, Effect: sdk.EffectCharged}},
		{"safety-text", End{Finish: "content_filter"}, vendortest.Want{Reason: sdk.Refused, Effect: sdk.EffectCharged}},
		{"max-tokens", End{Finish: "length"}, vendortest.Want{Reason: sdk.TooLarge, Effect: sdk.EffectCharged}},
		{"loop", End{}, vendortest.Want{Reason: sdk.LimitReached, Effect: sdk.EffectCharged, Check: limit("loop")}},
		{"max-turns", End{ExitCode: 53}, vendortest.Want{Reason: sdk.LimitReached, Effect: sdk.EffectCharged, Check: limit("max_turns")}},
		{"terminated", End{}, vendortest.Want{Reason: sdk.Internal, Effect: sdk.EffectUnknown}}, // exit 0 without a result
		{"terminated", End{ExitCode: -1, Signal: "killed"}, vendortest.Want{Reason: sdk.Internal, Effect: sdk.EffectUnknown}},
		{"terminated-in-tool", End{}, vendortest.Want{Reason: sdk.Internal, Effect: sdk.EffectChanged}},
		{"text", End{ExitCode: 1}, vendortest.Want{Reason: sdk.Internal, Effect: sdk.EffectCharged}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, _ := feed(t, tc.name)
			tc.end.Now = now
			a, f := s.Verdict(tc.end)
			tc.Hold(t, a, f)
		})
	}
}

func TestSilentEnds(t *testing.T) {
	for name, tc := range map[string]struct {
		end  End
		want sdk.Reason
		says string
	}{
		"no key":         {End{ExitCode: 41, Stderr: `{"session_id":"x","error":{"message":"you must specify the GEMINI_API_KEY environment variable","code":41}}`}, sdk.NotLoggedIn, "no login"},
		"bad flag":       {End{ExitCode: 1, Stderr: "Usage: gemini [options] [command]\n\nUnknown argument: no-such-flag"}, sdk.BadConfig, "exit code 1"},
		"no input":       {End{ExitCode: 42, Stderr: "No input provided via stdin."}, sdk.BadConfig, "exit code 42"},
		"not trusted":    {End{ExitCode: 55, Stderr: "Gemini CLI is not running in a trusted directory."}, sdk.BadConfig, "exit code 55"},
		"terminated":     {End{ExitCode: 143}, sdk.Internal, "143"},
		"nothing at all": {End{}, sdk.Internal, "without an answer"},
	} {
		t.Run(name, func(t *testing.T) {
			a, f := new(Stream).Verdict(tc.end)
			vendortest.Want{Reason: tc.want, Effect: sdk.EffectNone, Check: func(f *sdk.Failure) bool { return strings.Contains(f.Summary, tc.says) }}.Hold(t, a, f)
		})
	}
}

// The program loses the end of its output where a long prompt, which it repeats there,
// has filled the pipe: somebody may have been asked, and it is said what to do.
func TestCutOutput(t *testing.T) {
	s := new(Stream)
	s.Feed([]byte(`{"type":"init","session_id":"s","model":"gemini-2.5-pro"}`))
	s.Feed([]byte(`{"type":"message","timestamp":"2026-11-21T09:00:00.000Z","role":"user","content":"a long prompt. a lo`))
	a, f := s.Verdict(End{})
	vendortest.Want{Reason: sdk.Internal, Effect: sdk.EffectUnknown, Check: func(f *sdk.Failure) bool {
		return strings.Contains(f.Summary, "before all of its output") && strings.Contains(f.Fix, `"transport": "api"`)
	}}.Hold(t, a, f)
}

// What the model writes decides nothing.
func TestModelTextNeverClassifies(t *testing.T) {
	s := new(Stream)
	for _, l := range []string{
		`{"type":"message","role":"assistant","content":"[API Error: Quota exceeded] You have exhausted your daily quota on this model. Loop detected, stopping execution","delta":true}`,
		`{"type":"result","status":"success"}`,
	} {
		s.Feed([]byte(l))
	}
	if a, f := s.Verdict(End{Now: now}); f != nil || !strings.HasPrefix(a.Text, "[API Error") {
		t.Errorf("%+v %v", a, f)
	}
}

func TestUnknownShape(t *testing.T) {
	for _, lines := range [][]string{
		{`{"type":"result","status":"great"}`},
		{`{"type":"message","role":"assistant","content":["fine"]}`, `{"type":"result","status":"success"}`},
		{`{"kind":"init"}`, `{"type":"message","role":"assistant","content":"fine"}`, `{"type":"result","status":"success"}`},
	} {
		s := new(Stream)
		for _, l := range lines {
			s.Feed([]byte(l))
		}
		_, f := s.Verdict(End{})
		vendortest.Want{Reason: sdk.Internal, Effect: s.effect(sdk.Internal)}.Hold(t, nil, f)
		if f != nil && !strings.Contains(f.Error(), "shape") {
			t.Errorf("%s: %v", lines, f)
		}
	}
}

func TestEventsOfABuild(t *testing.T) {
	_, events := feed(t, "build")
	var got []string
	for _, e := range events {
		switch {
		case e.Command != nil:
			got = append(got, "run")
		case e.File != "":
			got = append(got, e.File)
		case e.Text != "":
			got = append(got, "text")
		}
	}
	if s := strings.Join(got, " "); s != "text add.go NEW.md run text" {
		t.Error(s)
	}
}

func TestFinishReason(t *testing.T) {
	if got := finishReason("testdata/telemetry-length.json"); got != "length" {
		t.Errorf("%q", got)
	}
	if got := finishReason("testdata/no-such-file"); got != "" {
		t.Errorf("%q", got)
	}
}

func TestClassify(t *testing.T) {
	detail := func(kind string, more ...any) map[string]any {
		d := map[string]any{"@type": "type.googleapis.com/google.rpc." + kind}
		for i := 0; i < len(more); i += 2 {
			d[more[i].(string)] = more[i+1]
		}
		return d
	}
	violation := func(id, value string) map[string]any {
		return detail("QuotaFailure", "violations", []any{map[string]any{"quotaId": id, "quotaValue": value}})
	}
	for name, tc := range map[string]struct {
		err  APIError
		want sdk.Reason
		also func(*sdk.Failure) bool
	}{
		"no quota":   {APIError{Code: 429, Details: []map[string]any{violation("GenerateRequestsPerDay-FreeTier", "0")}}, sdk.Billing, nil},
		"day":        {APIError{Code: 429, Details: []map[string]any{violation("RequestsPerDay", "5")}}, sdk.QuotaExhausted, func(f *sdk.Failure) bool { return f.LimitName == "RequestsPerDay" }},
		"minute":     {APIError{Code: 429, Details: []map[string]any{violation("RequestsPerMinute", "5"), detail("RetryInfo", "retryDelay", "1.5s")}}, sdk.RateLimited, func(f *sdk.Failure) bool { return f.RetryAfter == 1500*time.Millisecond }},
		"request id": {APIError{Code: 500, Details: []map[string]any{detail("RequestInfo", "requestId", "r-1")}}, sdk.Overloaded, func(f *sdk.Failure) bool { return f.UpstreamRequestID == "r-1" }},
		"no billing": {APIError{Code: 403, Details: []map[string]any{detail("ErrorInfo", "reason", "BILLING_DISABLED")}}, sdk.Billing, nil},
		"border":     {APIError{Code: 400, Status: "FAILED_PRECONDITION"}, sdk.Permission, nil},
		"pay":        {APIError{Code: 402}, sdk.Billing, nil},
		"large":      {APIError{Code: 413}, sdk.TooLarge, nil},
		"teapot":     {APIError{Code: 418}, sdk.Internal, nil},
		"words":      {APIError{Code: 400, Message: "a file says: The input token count, quota, API key"}, sdk.BadRequest, nil},
	} {
		t.Run(name, func(t *testing.T) {
			vendortest.Want{Reason: tc.want, Effect: sdk.EffectNone, Check: tc.also}.Hold(t, nil, Account{}.Classify(tc.err, 0, now))
		})
	}
}

func FuzzFeed(f *testing.F) {
	vendortest.AllRecorded(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		s := new(Stream)
		for _, l := range bytes.Split(b, []byte("\n")) {
			s.Feed(l)
		}
		a, fail := s.Verdict(End{Now: now})
		if (a == nil) == (fail == nil) {
			t.Fatalf("answer %v and failure %v", a, fail)
		}
		if a != nil && strings.TrimSpace(a.Text) == "" {
			t.Fatal("it passed without an answer")
		}
	})
}

// A byte that is not UTF-8 is not made into a character of which the program said nothing.
func TestResultNotUTF8(t *testing.T) {
	s := new(Stream)
	for _, l := range vendortest.Recorded(t, "text") {
		s.Feed(bytes.ReplaceAll(l, []byte("Hello"), []byte("Hell\xff")))
	}
	if a, f := s.Verdict(End{Now: now}); f == nil {
		t.Errorf("it answered %q", a.Text)
	}
}
