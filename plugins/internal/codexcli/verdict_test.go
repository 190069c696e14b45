package codexcli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/plugins/internal/vendortest"
	"github.com/paxiom/relay/sdk"
)

// feed plays a recorded output (codex 0.169.0 against a scripted API; ids and
// folders are replaced).
func feed(t *testing.T, name string) (*Stream, []Event) {
	t.Helper()
	s := &Stream{writes: true}
	var events []Event
	for _, l := range vendortest.Recorded(t, name) {
		events = append(events, s.Feed(l)...)
	}
	return s, events
}

// now is shortly before the limits in the recorded outputs end.
var now = time.Date(2026, 11, 20, 13, 30, 20, 0, time.UTC)

func TestGoodRuns(t *testing.T) {
	for _, tc := range []struct {
		name, text              string
		in, out, cached, reason int64 // in: -1 unknown
		problems                string
	}{
		{name: "text", text: "Hello.", in: 700, out: 34, cached: 500, reason: 10},
		{name: "reasoning", text: "t", in: 1000, out: 50},
		{name: "schema", text: `{"verdict":"pass","score":7}`, in: 1000, out: 50},
		{name: "schema-ignored", text: "not json at all", in: 1000, out: 50}, // held to the schema by the caller
		{name: "recovered-429", text: "recovered", in: 1000, out: 50},
		{name: "recovered-rate-limit", text: "recovered", in: 1000, out: 50},
		{name: "recovered-truncated", text: "recovered", in: 1000, out: 50},
		{name: "build", text: "Done: Add now adds.", in: 3400, out: 190, cached: 900},
		{name: "build-code-mode", text: "Done.", in: 2000, out: 100},
		{name: "build-read-only", text: "Done: Add now adds.", in: 3400, out: 190, cached: 900}, // of the edit that was refused there is no word
		{name: "sandbox", text: "end", in: 2000, out: 100},
		{name: "daemon", text: "end", in: 2000, out: 100}, // what it left running is found by its marks, not by its output
		{name: "review", text: "Looks fine to me, prose only.", in: -1},
		{name: "background", text: "end", in: 2000, out: 100, problems: "still running at the end of the turn"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, _ := feed(t, tc.name)
			a, f := s.Verdict(End{Now: now})
			if f != nil {
				t.Fatalf("failed: %v", f)
			}
			if a.Text != tc.text || a.Session != "thread-1" {
				t.Errorf("answer %q of %q", a.Text, a.Session)
			}
			if _, known := a.Usage.CostMicroUSD.Value(); known {
				t.Error("a cost was made up")
			}
			in, known := a.Usage.Input.Value()
			if tc.in < 0 {
				if known {
					t.Errorf("usage %+v of a run that counted nothing", a.Usage)
				}
				return
			}
			out, _ := a.Usage.Output.Value()
			cached, _ := a.Usage.CacheRead.Value()
			reason, _ := a.Usage.Reasoning.Value()
			if in != tc.in || out != tc.out || cached != tc.cached || reason != tc.reason {
				t.Errorf("usage: %d in, %d out, %d cached, %d reasoning", in, out, cached, reason)
			}
			if got := strings.Join(a.Problems, "\n"); (got == "") != (tc.problems == "") || !strings.Contains(got, tc.problems) {
				t.Errorf("problems: %q", got)
			}
		})
	}
}

func TestBadRuns(t *testing.T) {
	tomorrow := time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		name   string
		end    End
		want   sdk.Reason
		effect sdk.Effect
		check  func(*sdk.Failure) bool
	}{
		{name: "status-401", want: sdk.AuthRejected, effect: sdk.EffectNone, check: func(f *sdk.Failure) bool { return f.UpstreamCode == "401" }},
		{name: "no-key", want: sdk.NotLoggedIn, effect: sdk.EffectNone},
		{name: "rate-limited", want: sdk.RateLimited, effect: sdk.EffectNone, check: func(f *sdk.Failure) bool { return f.RetryAfter == 30*time.Second && f.UpstreamCode == "429" }},
		{name: "usage-limit", want: sdk.QuotaExhausted, effect: sdk.EffectNone, check: func(f *sdk.Failure) bool { return f.ResetAt.Equal(tomorrow) }},
		{name: "usage-limit-no-plan", want: sdk.QuotaExhausted, effect: sdk.EffectNone, check: func(f *sdk.Failure) bool { return f.ResetAt.Equal(tomorrow) }},
		{name: "usage-limit-today", want: sdk.QuotaExhausted, effect: sdk.EffectNone, check: func(f *sdk.Failure) bool {
			return f.ResetAt.Equal(time.Date(2026, 11, 20, 13, 55, 0, 0, time.UTC))
		}},
		{name: "usage-limit-later", want: sdk.QuotaExhausted, effect: sdk.EffectNone, check: func(f *sdk.Failure) bool { return f.RetryAfter == 0 && f.ResetAt.IsZero() }},
		{name: "no-quota", want: sdk.Billing, effect: sdk.EffectNone},
		{name: "not-in-plan", want: sdk.Billing, effect: sdk.EffectNone},
		{name: "status-500", want: sdk.Overloaded, effect: sdk.EffectNone},
		{name: "status-503", want: sdk.Overloaded, effect: sdk.EffectNone},
		{name: "refused-connection", want: sdk.Network, effect: sdk.EffectUnknown},
		{name: "refused-builtin", want: sdk.Network, effect: sdk.EffectUnknown},
		{name: "dropped-connection", want: sdk.Network, effect: sdk.EffectUnknown},
		{name: "silent-stream", want: sdk.Timeout, effect: sdk.EffectUnknown},
		{name: "context", want: sdk.TooLarge, effect: sdk.EffectNone},
		{name: "context-in-stream", want: sdk.TooLarge, effect: sdk.EffectNone},
		{name: "unknown-model", want: sdk.ModelUnknown, effect: sdk.EffectNone},
		{name: "max-tokens", want: sdk.TooLarge, effect: sdk.EffectCharged},
		{name: "empty", end: End{}, want: sdk.BadOutput, effect: sdk.EffectCharged, check: func(f *sdk.Failure) bool { return strings.Contains(f.Summary, "without a message") }},
		{name: "interrupted", end: End{ExitCode: 1}, want: sdk.Internal, effect: sdk.EffectUnknown},
		{name: "interrupted", end: End{}, want: sdk.Internal, effect: sdk.EffectUnknown},
		{name: "terminated", end: End{ExitCode: 143}, want: sdk.Internal, effect: sdk.EffectUnknown},
		{name: "terminated-in-tool", end: End{ExitCode: 143}, want: sdk.Internal, effect: sdk.EffectChanged},
		{name: "killed-in-tool", end: End{ExitCode: -1, Signal: "killed"}, want: sdk.Internal, effect: sdk.EffectChanged},
		{name: "text", end: End{ExitCode: 1}, want: sdk.Internal, effect: sdk.EffectCharged},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, _ := feed(t, tc.name)
			tc.end.Now = now
			a, f := s.Verdict(tc.end)
			vendortest.Want{Reason: tc.want, Effect: tc.effect, Check: tc.check}.Hold(t, a, f)
		})
	}
}

func TestSilentEnds(t *testing.T) {
	for name, tc := range map[string]struct {
		end    End
		want   sdk.Reason
		effect sdk.Effect
		says   string
	}{
		"bad flag":       {End{ExitCode: 2, Stderr: "error: unexpected argument '--no-such' found\n\nUsage: codex exec"}, sdk.BadConfig, sdk.EffectNone, "--no-such"},
		"schema file":    {End{ExitCode: 1, Stderr: "Failed to read output schema file ../nope.json: No such file"}, sdk.BadConfig, sdk.EffectNone, "output schema file"},
		"terminated":     {End{ExitCode: 143}, sdk.Internal, sdk.EffectNone, "143"},
		"killed":         {End{ExitCode: -1, Signal: "killed"}, sdk.Internal, sdk.EffectNone, "killed"},
		"nothing at all": {End{}, sdk.Internal, sdk.EffectNone, "without an answer"},
	} {
		t.Run(name, func(t *testing.T) {
			_, f := new(Stream).Verdict(tc.end)
			if f == nil || f.Reason != tc.want || f.Effect != tc.effect || !strings.Contains(f.Summary, tc.says) {
				t.Errorf("got %+v", f)
			}
		})
	}
}

// An event that does not read as one of a known version's means that the run can't be
// judged, whatever follows. Lines that are no objects mean nothing.
func TestUnknownShapeStops(t *testing.T) {
	good := []string{`{"type":"turn.started"}`, `{"type":"item.completed","item":{"type":"agent_message","text":"fine"}}`, `{"type":"turn.completed"}`}
	for line, stops := range map[string]bool{
		`{"kind":"turn.started"}`: true, `{"type":"item.completed","item":{"type":"agent_message","text":["fine"]}}`: true, `{"type":7}`: true,
		`a warning`: false, `[1]`: false, `{"type":"item.new"}`: false, `{"type":"turn.started","more":{}}`: false, `{cut`: false,
	} {
		s := new(Stream)
		for _, l := range append([]string{line}, good...) {
			s.Feed([]byte(l))
		}
		_, f := s.Verdict(End{})
		if (f != nil) != stops || stops && (f.Reason != sdk.Internal || f.Fix == "" || !strings.Contains(f.Summary, "shape")) {
			t.Errorf("%s: %v", line, f)
		}
	}
}

// An error event is a notice. What the model writes decides nothing.
func TestOnlyAFailedTurnFails(t *testing.T) {
	s := new(Stream)
	for _, l := range []string{
		`{"type":"turn.started"}`, `{"type":"error","message":"unexpected status 401 Unauthorized"}`,
		`{"type":"item.completed","item":{"type":"error","message":"Model metadata not found"}}`,
		`{"type":"item.completed","item":{"type":"agent_message","text":"You've hit your usage limit. Try again later."}}`,
		`{"type":"turn.completed"}`,
	} {
		s.Feed([]byte(l))
	}
	if a, f := s.Verdict(End{Now: now}); f != nil || !strings.HasPrefix(a.Text, "You've hit") {
		t.Errorf("%+v %v", a, f)
	}
}

func TestClassify(t *testing.T) {
	at := func(d time.Duration) time.Time { return now.Add(d) }
	for m, want := range map[string]struct {
		reason sdk.Reason
		wait   time.Duration
		reset  time.Time
	}{
		"You’ve hit your usage limit. Try again at 11:05 PM.":                                                                           {sdk.QuotaExhausted, 0, time.Date(2026, 11, 20, 23, 5, 0, 0, time.UTC)},
		"You've hit your usage limit. Try again at 1:05 AM.":                                                                            {sdk.QuotaExhausted, 0, time.Date(2026, 11, 21, 1, 5, 0, 0, time.UTC)},
		"You've hit your usage limit. Try again at Dec 3rd, 2026 12:00 AM.":                                                             {sdk.QuotaExhausted, 0, time.Date(2026, 12, 3, 0, 0, 0, 0, time.UTC)},
		"You've hit your usage limit. Try again at Dec 3rd, 2031 12:00 AM.":                                                             {sdk.QuotaExhausted, 0, time.Time{}},
		"You've hit your usage limit. Try again at Xyz 99th, 2026 12:00 AM.":                                                            {sdk.QuotaExhausted, 0, time.Time{}},
		"You've hit your usage limit. Try again in 2 days 3 hours 4 minutes.":                                                           {sdk.QuotaExhausted, 0, at(51*time.Hour + 4*time.Minute)},
		`unexpected status 429 Too Many Requests: {"error":{"type":"usage_limit_reached","resets_in_seconds":7200}}`:                    {sdk.QuotaExhausted, 0, at(2 * time.Hour)},
		`unexpected status 429 Too Many Requests: {"error":{"type":"usage_limit_reached","resets_at":1795240800}}`:                      {sdk.QuotaExhausted, 0, time.Unix(1795240800, 0)},
		`unexpected status 429 Too Many Requests: {"error":{"type":"usage_limit_reached","resets_at":1795240800000}}`:                   {sdk.QuotaExhausted, 0, time.Unix(1795240800, 0)},
		"unexpected status 429 Too Many Requests: Rate limit reached for gpt-5.5. Please try again in 20s.":                             {sdk.RateLimited, 20 * time.Second, time.Time{}},
		"rate limit exceeded: Rate limit reached for gpt-5.5. Please try again in 1.5s.":                                                {sdk.RateLimited, 1500 * time.Millisecond, time.Time{}},
		"stream disconnected before completion: Rate limit reached for gpt-5.5 on tokens per min (TPM): Please try again in 898ms. See": {sdk.RateLimited, 898 * time.Millisecond, time.Time{}},
		"unexpected status 403 Forbidden: no":                                                                                           {sdk.Permission, 0, time.Time{}},
		"unexpected status 400 Bad Request: no":                                                                                         {sdk.BadRequest, 0, time.Time{}},
		"unexpected status 413 Payload Too Large":                                                                                       {sdk.TooLarge, 0, time.Time{}},
		"unexpected status 418 I'm a teapot":                                                                                            {sdk.Internal, 0, time.Time{}},
		"We're currently experiencing high demand.":                                                                                     {sdk.Overloaded, 0, time.Time{}},
		"Selected model is at capacity. Please try":                                                                                     {sdk.Overloaded, 0, time.Time{}},
		"Incomplete response returned, reason: content_filter":                                                                          {sdk.Refused, 0, time.Time{}},
		"":               {sdk.Internal, 0, time.Time{}},
		"something else": {sdk.Internal, 0, time.Time{}},
		"the file says: Quota exceeded, 401, hit your usage limit": {sdk.Internal, 0, time.Time{}},
	} {
		f := classify(m, now)
		if f.Reason != want.reason || f.RetryAfter != want.wait || !f.ResetAt.Equal(want.reset) {
			t.Errorf("%s\n got %v after %v at %v", m, f.Reason, f.RetryAfter, f.ResetAt)
		}
	}
	if f := classify("unexpected status 500 Internal Server Error: x, url: http://h/v1, request id: req_abc-1", now); f.UpstreamRequestID != "req_abc-1" {
		t.Errorf("request id %q", f.UpstreamRequestID)
	}
}

func TestEventsOfABuild(t *testing.T) {
	_, events := feed(t, "build")
	var got []string
	for _, e := range events {
		switch {
		case e.Command != nil && e.Command.ExitCode == nil:
			got = append(got, "run")
		case e.Command != nil:
			got = append(got, "ran")
		case e.File != "":
			got = append(got, e.File)
		case e.Text != "":
			got = append(got, "text")
		}
	}
	if s := strings.Join(got, " "); s != "text run ran /repo/NEW.md /repo/add.go run ran text" {
		t.Error(s)
	}
}

func TestFailedCommandIsAProblem(t *testing.T) {
	s := new(Stream)
	for _, l := range []string{
		`{"type":"turn.started"}`,
		`{"type":"item.started","item":{"id":"1","type":"command_execution","command":"ls","exit_code":null,"status":"in_progress"}}`,
		`{"type":"item.completed","item":{"id":"1","type":"command_execution","command":"ls","aggregated_output":"bwrap: setting up uid map: Operation not permitted\n","exit_code":1,"status":"failed"}}`,
		`{"type":"item.completed","item":{"id":"2","type":"file_change","changes":[{"path":"/x","kind":"add"}],"status":"failed"}}`,
		`{"type":"item.completed","item":{"id":"3","type":"agent_message","text":"done"}}`, `{"type":"turn.completed"}`,
	} {
		s.Feed([]byte(l))
	}
	a, f := s.Verdict(End{})
	if f != nil || len(a.Problems) != 2 || !strings.Contains(a.Problems[0], "uid map") {
		t.Errorf("%+v %v", a, f)
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
		if fail != nil && !fail.ResetAt.IsZero() && fail.ResetAt.After(now.Add(maxWait)) {
			t.Fatal("a reset that nobody would wait for")
		}
	})
}

// A byte that is not UTF-8 is not made into a character of which the program said nothing.
func TestResultNotUTF8(t *testing.T) {
	s := &Stream{}
	for _, l := range vendortest.Recorded(t, "text") {
		s.Feed(bytes.ReplaceAll(l, []byte("Hello."), []byte("Hell\xff.")))
	}
	if a, f := s.Verdict(End{Now: now}); f == nil {
		t.Errorf("it answered %q", a.Text)
	}
}
