package claudecli

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/plugins/internal/vendortest"
	"github.com/paxiom/relay/sdk"
)

// feed plays a recorded output: claude 2.1.329 as the driver calls it, against a scripted
// API. testdata/cases.json says how each came about.
func feed(t *testing.T, name string) (*Stream, []Event) {
	t.Helper()
	s := new(Stream)
	var events []Event
	for _, l := range vendortest.Recorded(t, name) {
		events = append(events, s.Feed(l)...)
	}
	return s, events
}

func TestGoodRuns(t *testing.T) {
	for _, tc := range []struct {
		name, text, structured, model string
		schema                        bool
		cost                          int64 // -1: unknown
		in, out                       int64
	}{
		{name: "text", text: "Hello from the fake model.", cost: 4635, in: 1200, out: 34},
		{name: "reviewer", text: "Hello from the fake model.", cost: 4110, in: 1200, out: 34},
		{name: "older-version", text: "Hello from the fake model.", cost: -1, in: 1200, out: 34},
		{name: "schema", text: `{"verdict":"pass","score":7}`, structured: `{"verdict":"pass","score":7}`, schema: true, cost: 3750, in: 1000, out: 50},
		{name: "schema-second-try", text: `{"verdict":"fail","score":1}`, structured: `{"verdict":"fail","score":1}`, schema: true, cost: 7500, in: 2000, out: 100},
		{name: "denied", text: "Done: Add now adds.", cost: 19275, in: 5700, out: 145},
		{name: "fallback", text: "recovered", model: "claude-haiku-4-5", cost: 1250, in: 1000, out: 50},
		{name: "unknown-price", text: "Hello", model: "my-own-model", cost: -1, in: 1000000, out: 1000},
		{name: "several-results", text: "end", cost: 12825, in: 3500, out: 155},
		{name: "build", text: "Done: Add now adds.", cost: 19275, in: 5700, out: 145},
		{name: "partial", text: "done here with a longer text so that deltas come", cost: 7590, in: 2000, out: 100},
		{name: "recovered", text: "recovered", cost: 3750, in: 1000, out: 50},
		{name: "silent-stream", text: "x", cost: 6765, in: 2000, out: 51},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, _ := feed(t, tc.name)
			a, f := s.Verdict(End{}, Want{Schema: tc.schema})
			if f != nil {
				t.Fatalf("failed: %v", f)
			}
			if tc.model == "" {
				tc.model = "claude-sonnet-4-5"
			}
			if a.Text != tc.text || string(a.Structured) != tc.structured || a.Model != tc.model {
				t.Errorf("answer is %q, structured %s, by %s", a.Text, a.Structured, a.Model)
			}
			if in, _ := a.Usage.Input.Value(); in != tc.in {
				t.Errorf("input tokens: %d", in)
			}
			if out, _ := a.Usage.Output.Value(); out != tc.out {
				t.Errorf("output tokens: %d", out)
			}
			cost, known := a.Usage.CostMicroUSD.Value()
			if known != (tc.cost >= 0) || known && cost != tc.cost {
				t.Errorf("cost is %d, known: %v", cost, known)
			}
		})
	}
}

func TestExitCodeIsNotEnoughAndNotIgnored(t *testing.T) {
	s, _ := feed(t, "text")
	if _, f := s.Verdict(End{ExitCode: 1}, Want{}); f == nil || f.Reason != sdk.Internal {
		t.Errorf("a success with exit code 1: %v", f)
	}
	if _, f := s.Verdict(End{ExitCode: -1, Signal: "terminated", Enough: true}, Want{}); f != nil {
		t.Errorf("a run that we ended after its result: %v", f)
	}
}

func TestDenialsAreTold(t *testing.T) {
	s, _ := feed(t, "denied")
	a, _ := s.Verdict(End{}, Want{})
	if strings.Join(a.Denied, "|") != "Write /repo/NEW.md" {
		t.Errorf("denied: %q", a.Denied)
	}
}

func TestBadRuns(t *testing.T) {
	reset := time.Unix(4102444800, 0) // 2100: a recorded date would pass
	for _, tc := range []struct {
		name   string
		end    End
		schema bool
		want   sdk.Reason
		effect sdk.Effect
		check  func(*sdk.Failure) bool
	}{
		{name: "schema-ignored", schema: true, want: sdk.BadOutput, effect: sdk.EffectCharged},
		{name: "schema-always-broken", schema: true, end: End{ExitCode: 1}, want: sdk.LimitReached, effect: sdk.EffectCharged},
		{name: "schema-one-turn", schema: true, end: End{ExitCode: 1}, want: sdk.BadOutput, effect: sdk.EffectCharged,
			check: func(f *sdk.Failure) bool { in, _ := f.Usage.Input.Value(); return in == 1000 }},
		{name: "max-turns", end: End{ExitCode: 1}, want: sdk.LimitReached, effect: sdk.EffectChanged,
			check: func(f *sdk.Failure) bool { return f.LimitName == "max_turns" }},
		{name: "max-budget", end: End{ExitCode: 1}, want: sdk.LimitReached, effect: sdk.EffectCharged,
			check: func(f *sdk.Failure) bool { c, _ := f.Usage.CostMicroUSD.Value(); return c == 630000 }},
		{name: "status-401", end: End{ExitCode: 1}, want: sdk.AuthRejected, effect: sdk.EffectNone},
		{name: "status-403", end: End{ExitCode: 1}, want: sdk.Permission, effect: sdk.EffectNone},
		{name: "rate-limited", end: End{ExitCode: 1}, want: sdk.RateLimited, effect: sdk.EffectNone,
			check: func(f *sdk.Failure) bool { return f.RetryAfter == shortWait && f.UpstreamRequestID == "req_rl" }},
		{name: "rate-limited-long", end: End{ExitCode: 1}, want: sdk.RateLimited, effect: sdk.EffectNone,
			check: func(f *sdk.Failure) bool { return f.RetryAfter == longWait }},
		{name: "account-limit", end: End{ExitCode: 1}, want: sdk.RateLimited, effect: sdk.EffectNone,
			check: func(f *sdk.Failure) bool { return f.RetryAfter == longWait }},
		{name: "usage-limit", end: End{ExitCode: 1}, want: sdk.QuotaExhausted, effect: sdk.EffectNone,
			check: func(f *sdk.Failure) bool { return f.ResetAt.Equal(reset) && f.LimitName == "five_hour" }},
		{name: "overloaded", end: End{ExitCode: 1}, want: sdk.Overloaded, effect: sdk.EffectNone,
			check: func(f *sdk.Failure) bool { return f.UpstreamCode == "529 overloaded_error" }},
		{name: "status-500", end: End{ExitCode: 1}, want: sdk.Overloaded, effect: sdk.EffectNone},
		{name: "refused-connection", end: End{ExitCode: 1}, want: sdk.Network, effect: sdk.EffectNone},
		{name: "dropped-connection", end: End{ExitCode: 1}, want: sdk.Network, effect: sdk.EffectNone},
		{name: "timeout", end: End{ExitCode: 1}, want: sdk.Timeout, effect: sdk.EffectNone},
		{name: "billing", end: End{ExitCode: 1}, want: sdk.Billing, effect: sdk.EffectNone,
			check: func(f *sdk.Failure) bool { return f.UpstreamRequestID == "req_011" }},
		{name: "not-logged-in", end: End{ExitCode: 1}, want: sdk.NotLoggedIn, effect: sdk.EffectNone},
		{name: "prompt-too-long", end: End{ExitCode: 1}, want: sdk.TooLarge, effect: sdk.EffectNone},
		{name: "unknown-model", end: End{ExitCode: 1}, want: sdk.ModelUnknown, effect: sdk.EffectNone},
		{name: "max-tokens", end: End{ExitCode: 1}, want: sdk.TooLarge, effect: sdk.EffectCharged},
		{name: "refusal", end: End{ExitCode: 1}, want: sdk.Refused, effect: sdk.EffectCharged},
		{name: "empty", want: sdk.BadOutput, effect: sdk.EffectCharged},
		{name: "no-result", want: sdk.Internal, effect: sdk.EffectUnknown},
		{name: "no-result", end: End{ExitCode: 143}, want: sdk.Internal, effect: sdk.EffectUnknown},
		{name: "interrupted-in-tool", want: sdk.Cancelled, effect: sdk.EffectChanged},
		{name: "killed-in-tool", end: End{ExitCode: -1, Signal: "killed"}, want: sdk.Internal, effect: sdk.EffectChanged},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, _ := feed(t, tc.name)
			a, f := s.Verdict(tc.end, Want{Schema: tc.schema})
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
		"bad flag":          {End{ExitCode: 1, Stderr: "error: unknown option '--no-such-flag'\n"}, sdk.BadConfig, sdk.EffectNone, "--no-such-flag"},
		"root":              {End{ExitCode: 1, Stderr: "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons\n"}, sdk.BadConfig, sdk.EffectNone, "root"},
		"terminated":        {End{ExitCode: 143}, sdk.Internal, sdk.EffectNone, "143"},
		"nothing at all":    {End{}, sdk.Internal, sdk.EffectNone, "without an answer"},
		"killed outright":   {End{ExitCode: -1, Signal: "killed"}, sdk.Internal, sdk.EffectNone, "killed"},
		"no result of work": {End{}, sdk.BadOutput, sdk.EffectNone, "without a result"},
	} {
		t.Run(name, func(t *testing.T) {
			_, f := new(Stream).Verdict(tc.end, Want{Work: name == "no result of work"})
			if f == nil || f.Reason != tc.want || f.Effect != tc.effect || !strings.Contains(f.Error(), tc.says) {
				t.Errorf("got %+v", f)
			}
		})
	}
}

// A result line that has no result is a call that was cut off, and no answer to be asked for
// again; of a builder it is an invalid answer, whose work is judged.
func TestResultMissing(t *testing.T) {
	for line, want := range map[string]sdk.Reason{
		`{"type":"result","subtype":"success","is_error":false,"usage":{"output_tokens":1},"modelUsage":{}}`:               sdk.Internal,
		`{"type":"result","subtype":"success","is_error":false,"result":null,"usage":{"output_tokens":1},"modelUsage":{}}`: sdk.Internal,
		`{"type":"result","subtype":"success","is_error":false,"result":"","usage":{"output_tokens":1},"modelUsage":{}}`:   sdk.BadOutput,
	} {
		for _, schema := range []bool{false, true} {
			s := new(Stream)
			s.Feed([]byte(line))
			if _, f := s.Verdict(End{}, Want{Schema: schema}); f == nil || f.Reason != want {
				t.Errorf("%s, schema %v: %+v", line, schema, f)
			}
		}
		s := new(Stream)
		s.Feed([]byte(line))
		if _, f := s.Verdict(End{}, Want{Schema: true, Work: true}); f == nil || f.Reason != sdk.BadOutput {
			t.Errorf("%s, of a builder: %+v", line, f)
		}
	}
}

func TestUsageLimitWithoutATime(t *testing.T) {
	for _, resets := range []string{"", `,"resetsAt":1000000000`} {
		s := new(Stream)
		s.Feed([]byte(`{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","rateLimitType":"weekly"` + resets + `}}`))
		s.Feed([]byte(`{"type":"result","subtype":"success","is_error":true,"result":"x","api_error":"usage_limit_reached","api_error_status":429,"modelUsage":{}}`))
		if _, f := s.Verdict(End{ExitCode: 1}, Want{}); f == nil || f.Reason != sdk.QuotaExhausted || !f.ResetAt.IsZero() || f.LimitName != "weekly" {
			t.Errorf("%q: got %+v", resets, f)
		}
	}
}

// Versions before the limit events say it in a message of their own; a model that says
// the same says nothing.
func TestUsageLimitInWords(t *testing.T) {
	next := func(hour int) time.Time {
		now := time.Now().UTC()
		at := time.Date(now.Year(), now.Month(), now.Day(), hour, 0, 0, 0, time.UTC)
		if !at.After(now) {
			at = at.AddDate(0, 0, 1)
		}
		return at
	}
	soon := time.Now().Add(48 * time.Hour).Truncate(time.Hour).UTC()
	for text, want := range map[string]struct {
		name  string
		reset time.Time
	}{
		"Claude AI usage limit reached|" + strconv.FormatInt(soon.Unix(), 10):                {"", soon},
		"Claude AI usage limit reached|" + strconv.FormatInt(soon.UnixMilli(), 10):           {"", soon},
		"Claude AI usage limit reached|1749924000":                                           {"", time.Time{}}, // past
		"5-hour limit reached ∙ resets 3am (UTC)":                                            {"5_hour", next(3)},
		"Weekly limit reached ∙ resets " + soon.Format("Jan 2, 3pm") + " (UTC)":              {"weekly", soon},
		"You've hit your limit · resets 11pm (UTC)":                                          {"", next(23)},
		"You’ve hit your session limit · resets 6am (UTC)":                                   {"session", next(6)},
		"You've hit your 5-hour limit · resets 6am (UTC)":                                    {"5_hour", next(6)},
		"You've hit your weekly limit · resets " + soon.Format("Jan 2 at 3:04pm") + " (UTC)": {"weekly", soon},
		"You've reached your Opus usage limit. Ask your admin":                               {"opus", time.Time{}},
		"You've hit your limit · resets 25pm (UTC)":                                          {"", time.Time{}},
		"You've hit your limit · resets 6am (Atlantis/Center)":                               {"", time.Time{}},
	} {
		saidBy := func(model string) []byte {
			line, _ := json.Marshal(map[string]any{"type": "assistant", "message": map[string]any{"id": "m", "model": model,
				"content": []any{map[string]any{"type": "text", "text": text}}}})
			return line
		}
		result, _ := json.Marshal(map[string]any{"type": "result", "subtype": "success", "is_error": true, "result": text, "modelUsage": map[string]any{}})
		s := new(Stream)
		s.Feed(saidBy("<synthetic>"))
		s.Feed(result)
		_, f := s.Verdict(End{ExitCode: 1}, Want{})
		if f == nil || f.Reason != sdk.QuotaExhausted || f.LimitName != want.name || !f.ResetAt.Equal(want.reset) || f.Effect != sdk.EffectNone {
			t.Errorf("%s: got %+v", text, f)
		}
		said := new(Stream)
		said.Feed(saidBy("claude-sonnet-4-5"))
		said.Feed(result)
		if _, f := said.Verdict(End{ExitCode: 1}, Want{}); f == nil || f.Reason == sdk.QuotaExhausted {
			t.Errorf("%s: a model's words were believed: %+v", text, f)
		}
	}
	for _, text := range []string{"Context limit reached · /compact or /clear to continue", "API Error: Request rejected (429) · 5-hour limit reached", "Credit balance is too low"} {
		if _, _, ok := limitText(text, time.Now()); ok {
			t.Errorf("%s is taken for a limit of the account", text)
		}
	}
}

// Times of a day and of the year are the next such ones, in the zone that is named.
func TestResetOf(t *testing.T) {
	now := time.Date(2026, 12, 31, 22, 30, 0, 0, time.UTC)
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]time.Time{
		"resets 11pm (UTC)":                    time.Date(2026, 12, 31, 23, 0, 0, 0, time.UTC),
		"resets 10:15pm":                       time.Date(2027, 1, 1, 22, 15, 0, 0, time.UTC),
		"resets 12am (UTC)":                    time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC),
		"resets 6am (Europe/Berlin)":           time.Date(2027, 1, 1, 6, 0, 0, 0, berlin),
		"resets Jan 3, 6pm (America/New_York)": time.Date(2027, 1, 3, 23, 0, 0, 0, time.UTC),
		"resets at Dec 31 at 11:59pm (UTC)":    time.Date(2026, 12, 31, 23, 59, 0, 0, time.UTC),
		"resets Foo 3, 6pm (UTC)":              {},
		"resets tomorrow":                      {},
	} {
		if got := resetOf(text, now); !got.Equal(want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

func TestModelTextNeverClassifies(t *testing.T) {
	s := new(Stream)
	s.Feed([]byte(`{"type":"result","subtype":"success","is_error":true,"result":"You've hit your 5-hour limit; Credit balance is too low; Not logged in; 429","api_error_status":null,"modelUsage":{}}`))
	if _, f := s.Verdict(End{ExitCode: 1}, Want{}); f == nil || f.Reason != sdk.Internal {
		t.Errorf("got %v", f)
	}
}

func TestUnknownResultShapeStops(t *testing.T) {
	for _, l := range []string{`{"type":"result"}`, `{"type":"result","is_error":"no","subtype":"success","result":"x"}`, `{"type":"result","outcome":"fine","result":"x"}`} {
		s := new(Stream)
		s.Feed([]byte(l))
		if a, f := s.Verdict(End{}, Want{}); f == nil || f.Reason != sdk.Internal || f.Fix == "" {
			t.Errorf("%s: %+v %v", l, a, f)
		}
	}
}

func TestEventsOfABuild(t *testing.T) {
	_, events := feed(t, "build")
	var got []string
	for _, e := range events {
		switch {
		case e.Started != nil:
			got = append(got, "start "+e.Started.Version)
		case e.Tool != nil && !e.Tool.Done:
			got = append(got, e.Tool.Name+" "+e.Tool.Path+e.Tool.Command)
		case e.Tool != nil:
			got = append(got, "end")
		}
	}
	want := "start 2.1.329|Read /repo/add.go|end|Edit /repo/add.go|end|Write /repo/NEW.md|end|Bash git status --short && id -un|end"
	if s := strings.Join(got, "|"); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
}

func TestUsageGrowsWhileTheModelWrites(t *testing.T) {
	s, events := feed(t, "partial")
	last, text := int64(0), ""
	for _, e := range events {
		text += e.Text
		if e.Usage == nil {
			continue
		}
		in, _ := e.Usage.Input.Value()
		if in < last {
			t.Errorf("input went from %d to %d", last, in)
		}
		last = in
	}
	if cached, _ := s.used().CacheRead.Value(); last != 2000 || cached != 300 {
		t.Errorf("input ended at %d, cache reads at %d", last, cached)
	}
	if text != "I willdone here with a longer text so that deltas come" {
		t.Errorf("text: %q", text)
	}
}

func TestUsageOfAKilledRun(t *testing.T) {
	s := new(Stream)
	for _, l := range []string{
		`{"type":"system","subtype":"init","claude_code_version":"2.1.329"}`,
		`{"type":"stream_event","event":{"type":"message_start","message":{"id":"a","model":"m","usage":{"input_tokens":10,"output_tokens":1,"cache_read_input_tokens":5}}}}`,
		`{"type":"stream_event","event":{"type":"message_delta","usage":{"output_tokens":7}}}`,
		`{"type":"stream_event","event":{"type":"message_start","message":{"id":"b","model":"m","usage":{"input_tokens":20,"output_tokens":1}}}}`,
	} {
		s.Feed([]byte(l))
	}
	_, f := s.Verdict(End{ExitCode: -1, Signal: "killed"}, Want{})
	in, _ := f.Usage.Input.Value()
	out, _ := f.Usage.Output.Value()
	cached, _ := f.Usage.CacheRead.Value()
	if _, priced := f.Usage.CostMicroUSD.Value(); in != 30 || out != 7 || cached != 5 || priced {
		t.Errorf("usage is %+v", f.Usage)
	}
}

func FuzzFeed(f *testing.F) {
	vendortest.AllRecorded(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		s := new(Stream)
		for _, l := range bytes.Split(b, []byte("\n")) {
			s.Feed(l)
		}
		a, fail := s.Verdict(End{}, Want{Schema: true})
		if (a == nil) == (fail == nil) {
			t.Fatalf("answer %v and failure %v", a, fail)
		}
		if a != nil && a.Structured == nil {
			t.Fatal("it passed without the structured answer")
		}
	})
}

// An answer that is JSON as text counts: with one turn the program has none left for its own
// way of giving an answer in a schema.
func TestJSONAsText(t *testing.T) {
	for _, c := range []struct {
		name, old, text string
		end             End
		want            string // "" is a failure
	}{
		{"schema-ignored", "Hello from the fake model.", `{\"ok\":true}`, End{}, `{"ok":true}`},
		{"schema-ignored", "Hello from the fake model.", "```json\\n{\\\"ok\\\":true}\\n```", End{}, ""},
		{"schema-ignored", "Hello from the fake model.", `Here: {\"ok\":true}`, End{}, ""},
		{"schema-ignored", "Hello from the fake model.", `true`, End{}, ""},
		{"schema-one-turn", "prose", `{\"ok\":true}`, End{ExitCode: 1}, `{"ok":true}`},
	} {
		s := &Stream{}
		for _, l := range vendortest.Recorded(t, c.name) {
			s.Feed([]byte(strings.ReplaceAll(string(l), `"`+c.old+`"`, `"`+c.text+`"`)))
		}
		a, f := s.Verdict(c.end, Want{Schema: true})
		if c.want == "" {
			if f == nil {
				t.Errorf("%s: %q is an answer: %s", c.name, c.text, a.Structured)
			}
			continue
		}
		if f != nil || string(a.Structured) != c.want {
			t.Errorf("%s: %v %+v", c.name, f, a)
		}
	}
}

// A byte that is not UTF-8 is not made into a character of which the program said nothing.
func TestResultNotUTF8(t *testing.T) {
	for name, word := range map[string]string{"text": "Hello", "schema": "pass"} {
		s := new(Stream)
		for _, l := range vendortest.Recorded(t, name) {
			s.Feed(bytes.ReplaceAll(l, []byte(word), []byte(word[1:]+"\xff")))
		}
		if a, f := s.Verdict(End{}, Want{Schema: name == "schema"}); f == nil {
			t.Errorf("%s: it answered %q, %q", name, a.Text, a.Structured)
		}
	}
}
