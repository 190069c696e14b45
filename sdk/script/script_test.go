package script

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/paxiom/relay/sdk/pluginpb"
)

func TestParseRefusesWhatItDoesNotUnderstand(t *testing.T) {
	for name, tc := range map[string]struct{ in, want string }{
		"version":          {`{"version":2,"calls":[]}`, "version is 2"},
		"unknown key":      {`{"version":1,"calls":[{"anser":{}}]}`, `unknown field "anser"`},
		"nothing to do":    {`{"version":1,"calls":[{"name":"x"}]}`, "call 1 (x): it needs exactly one of"},
		"two outcomes":     {`{"version":1,"calls":[{"answer":{},"hang":true}]}`, "exactly one of"},
		"times":            {`{"version":1,"calls":[{"answer":{},"times":-2}]}`, "times is -2"},
		"duration number":  {`{"version":1,"calls":[{"answer":{},"delay":5}]}`, "a duration is a string"},
		"negative":         {`{"version":1,"calls":[{"answer":{},"delay":"-1s"}]}`, "negative"},
		"expression":       {`{"version":1,"calls":[{"answer":{},"when":{"prompt":"("}}]}`, "when.prompt"},
		"reason":           {`{"version":1,"calls":[{"failure":{"reason":"NOPE","summary":"x"}}]}`, `"NOPE" is not known`},
		"effect":           {`{"version":1,"calls":[{"failure":{"reason":"NETWORK","summary":"x","effect":"E"}}]}`, `"E" is not`},
		"summary":          {`{"version":1,"calls":[{"failure":{"reason":"NETWORK","summary":" "}}]}`, "summary is empty"},
		"two resets":       {`{"version":1,"calls":[{"failure":{"reason":"NETWORK","summary":"x","reset_in":"1s","reset_at":"2030-01-01T00:00:00Z"}}]}`, "both"},
		"second document":  {`{"version":1,"calls":[]} {}`, "after the script"},
		"not json":         {`version: 1`, "invalid character"},
		"reason is prefix": {`{"version":1,"calls":[{"failure":{"reason":"UNSPECIFIED","summary":"x"}}]}`, "is not known"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(tc.in))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want an error with %q", err, tc.want)
			}
		})
	}
}

func request(role, model, system string, texts ...string) *pluginpb.CompleteRequest {
	r := &pluginpb.CompleteRequest{Role: role, Model: model, System: system}
	for _, s := range texts {
		r.Parts = append(r.Parts, &pluginpb.Part{Part: &pluginpb.Part_Text{Text: s}})
	}
	return r
}

func TestFits(t *testing.T) {
	r := request("orchestrator", "opus", "be brief", "goal: fix ", "the test")
	for name, tc := range map[string]struct {
		when string
		want bool
	}{
		"no condition":    {`{}`, true},
		"role":            {`{"role":"orchestrator"}`, true},
		"other role":      {`{"role":"auditor"}`, false},
		"model":           {`{"model":"opus"}`, true},
		"other model":     {`{"model":"op"}`, false},
		"across parts":    {`{"prompt":"fix \n\nthe"}`, true},
		"prompt missing":  {`{"prompt":"^fix"}`, false},
		"system":          {`{"system":"brief$"}`, true},
		"system missing":  {`{"system":"long"}`, false},
		"hash":            {`{"prompt_sha256":"` + strings.ToUpper(RequestOf(r).PromptSHA256()) + `"}`, true},
		"other hash":      {`{"prompt_sha256":"00"}`, false},
		"all must hold":   {`{"role":"orchestrator","prompt":"nothing"}`, false},
		"several do hold": {`{"role":"orchestrator","prompt":"goal"}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Parse([]byte(`{"version":1,"calls":[{"answer":{},"when":` + tc.when + `}]}`))
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Calls[0].Fits(RequestOf(r)); got != tc.want {
				t.Fatalf("Fits is %v", got)
			}
		})
	}
}

func TestPromptHashSeesBorders(t *testing.T) {
	seen := map[string]string{}
	blob := request("", "", "")
	blob.Parts = []*pluginpb.Part{{Part: &pluginpb.Part_Blob{Blob: &pluginpb.Blob{MediaType: "text/plain", Data: []byte("ab")}}}}
	for name, r := range map[string]*pluginpb.CompleteRequest{
		"one part":  request("", "", "", "ab"),
		"two parts": request("", "", "", "a", "b"),
		"system":    request("", "", "ab"),
		"split":     request("", "", "a", "b"),
		"none":      request("", "", ""),
		"data":      blob,
	} {
		h := RequestOf(r).PromptSHA256()
		if other, ok := seen[h]; ok {
			t.Errorf("%s and %s have the same hash", name, other)
		}
		seen[h] = name
	}
	a, b := request("x", "m", "s", "p"), request("y", "n", "s", "p")
	if RequestOf(a).PromptSHA256() != RequestOf(b).PromptSHA256() {
		t.Error("role and model are not part of the prompt")
	}
}

func TestRecordedCallsPlayBackTheSame(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rec")
	r := request("orchestrator", "opus", "sys", "user")
	usage := &pluginpb.Usage{InputTokens: proto.Int64(10), OutputTokens: proto.Int64(0), CostMicrousd: proto.Int64(42)}
	done := &pluginpb.CompleteDone{Text: "in words", OutputJson: []byte(`{"a": 1}`), StopReason: "end_turn", Model: "opus-5", Usage: usage}
	failed := &pluginpb.Failure{
		Reason: pluginpb.Failure_REASON_QUOTA_EXHAUSTED, Summary: "limit", LimitName: "five_hour",
		ResetAt: timestamppb.New(time.Unix(1900000000, 0)), RetryAfter: durationpb.New(1500 * time.Millisecond),
		Effect: pluginpb.Failure_EFFECT_NONE, UpstreamRequestId: "req_1", UpstreamCode: "429",
	}
	for _, c := range []Call{Record(r, done, nil), Record(r, nil, failed)} {
		if _, err := Append(dir, c); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Calls) != 2 || !s.Calls[0].Fits(RequestOf(r)) || s.Calls[0].Fits(RequestOf(request("auditor", "", ""))) {
		t.Fatalf("loaded %+v", s.Calls)
	}
	if u := s.Calls[0].Usage; *u.InputTokens != 10 || *u.OutputTokens != 0 || *u.CostMicroUSD != 42 || u.CacheReadTokens != nil {
		t.Errorf("usage is %+v", u)
	}
	a := s.Calls[0].Answer
	var out map[string]int
	if err := json.Unmarshal(a.Output, &out); err != nil || out["a"] != 1 || a.Text != "in words" || a.Model != "opus-5" || a.StopReason != "end_turn" {
		t.Errorf("answer is %+v", a)
	}
	f := s.Calls[1].Failure
	if f.Reason != "QUOTA_EXHAUSTED" || f.Effect != "NONE" || f.ResetAt.Unix() != 1900000000 || f.RetryAfter != Duration(1500*time.Millisecond) ||
		f.LimitName != "five_hour" || f.UpstreamRequestID != "req_1" || f.UpstreamCode != "429" || f.Summary != "limit" {
		t.Errorf("failure is %+v", f)
	}
	if s.Calls[0].Asked.PromptSHA256 != RequestOf(r).PromptSHA256() {
		t.Error("the recording does not know what was asked")
	}
}

func TestAppendNumbersOn(t *testing.T) {
	dir := t.TempDir()
	var names []string
	for _, role := range []string{"orchestrator", "Odd Role/..", ""} {
		name, err := Append(dir, Record(request(role, "", ""), &pluginpb.CompleteDone{Text: "x"}, nil))
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, filepath.Base(name))
	}
	want := "000001-orchestrator.json 000002-odd-role.json 000003-call.json"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".call-*")); len(left) != 0 {
		t.Errorf("temporary files are left: %v", left)
	}
}

func TestLoadSaysWhichFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "no calls") {
		t.Errorf("empty folder: %v", err)
	}
	bad := filepath.Join(dir, "b.json")
	if err := os.WriteFile(bad, []byte(`{"version":1,"calls":[{}]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "b.json") {
		t.Errorf("bad file: %v", err)
	}
	if _, err := Load(filepath.Join(dir, "none")); !os.IsNotExist(err) {
		t.Errorf("missing: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"version":1,"calls":[{"answer":{"text":"x"},"when":{"prompt":"a+"},"times":-1,"delay":"1s"}]}`))
	f.Add([]byte(`{"version":1,"calls":[{"failure":{"reason":"NETWORK","summary":"x","retry_after":"2s"}}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Parse(b)
		if err != nil {
			return
		}
		again, err := json.Marshal(s)
		if err != nil {
			t.Fatalf("cannot write what was read: %v", err)
		}
		if _, err := Parse(again); err != nil {
			t.Fatalf("cannot read what was written: %v\n%s", err, again)
		}
	})
}
