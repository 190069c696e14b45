package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/netproxy"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/schemas"
)

var update = flag.Bool("update", false, "write the golden files anew")

func ptr[T any](v T) *T { return &v }

func full() *Report {
	return &Report{
		RunID: "20261120-192359-k3v9m2qa", StartedAt: time.Date(2026, 11, 20, 19, 23, 59, 123456789, time.UTC), EndedAt: time.Date(2026, 11, 20, 19, 24, 7, 0, time.UTC),
		DurationMS: 7877, BaseCommit: strings.Repeat("a", 40), HeadCommit: strings.Repeat("a", 40),
		Task: Task{"fix-sum", "m1", "execute", "Make Sum add and not subtract."}, Code: judge.StopOutsideAllowed,
		BlastRadius: BlastRadius{2, 3, 1, 1}, Scope: Scope{false, []string{"package.json: matches no allowed glob"}, []string{"package.json", "src/sum file.go"}},
		Diff:         Diff{2, 4, ".relay/history/x/diff.patch"},
		Verification: Verification{"", []VerifyRun{{"test", "fast", "go", []string{"test", "./..."}, 1, 812, false, "passed", "new_failure", nil}, {"slow", "slow", "make", nil, -1, 90000, true, "", "", nil}}, ".relay/history/x/verify.log", "", 0, nil, false, ByExitCode, false, false, &NewTests{2, []string{"TestA"}, 3, []string{"TestB"}, []string{"relay makes no mutants of *.ex"}}},
		Budgets:      Budgets{"m1", 3, 4, 3, 5, 0.1234, []string{"ticks: 3 of 3 used"}, true}, Pointers: &Pointers{".relay/REPORT.md", ".relay/history/x"},
		Summary: "The change left its scope.", Why: "package.json is outside src/**.", Next: "`relay show` shows the patch", BuilderOutputValid: ptr(false),
		Builder:      &Worker{Plugin: "claude-code", Version: "1.0", Model: "sonnet", Calls: 1, InputTokens: ptr(int64(1200)), CostUSD: ptr(0.1234), Summary: "I did *everything*.", ProcessesLeft: 2, FailureReason: "quota", ResetAt: "2026-11-20T20:00:00Z"},
		Orchestrator: &Worker{Plugin: "claude", Calls: 2}, Box: &BoxReport{Means: "overlay", Gaps: []string{"network"}, Network: []Network{{"builder", "hosts", []netproxy.Refusal{{Target: "evil.example:443", Why: "it is not listed", Count: 3}}}}}, Salvage: "refs/relay/x",
		Rules: []RuleHit{{"STOP_SCOPE_VIOLATION_OUTSIDE_ALLOWED", "package.json", "matches no allowed glob"}}, States: []StateTime{{"LOCK", 1}}, Notes: []string{"a note"},
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	p := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(p, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(p); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -update writes it anew): %v\n%s", name, err, got)
	}
}

func TestGolden(t *testing.T) {
	blocked := &Report{RunID: "20261120-192359-k3v9m2qa", Code: judge.BlockedDirtyWorktree, Summary: "Nothing was started."}
	question := &Report{RunID: "20261120-192359-k3v9m2qb", Code: judge.Success, Summary: "A question for you.", Task: Task{TaskKind: "question"},
		Question: &Question{"Which one?\n# not a heading\n- not a list\n1. nor this", []string{"a", "b"}}}
	for name, r := range map[string]*Report{"stop": full(), "blocked": blocked, "question": question} {
		b, err := Encode(r)
		if err != nil {
			t.Fatal(name, err)
		}
		back, err := Decode(b)
		if err != nil {
			t.Fatal(name, err)
		}
		again, err := Encode(back)
		if err != nil || !bytes.Equal(b, again) {
			t.Errorf("%s: the round trip changes it: %v\n%s\n%s", name, err, b, again)
		}
		golden(t, name+".report.json", b)
		golden(t, name+".report.md", Render(back, 6000))
	}
}

// Where the workspace has the seed's schema of reports, the copies there are what it allows, with
// whatever code a run ended.
func TestContract(t *testing.T) {
	text, err := os.ReadFile("testdata/contract.report.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	contract, err := schemas.Compile(text)
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", root).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	ws, err := workspace.Open(root, "")
	if err == nil {
		err = errors.Join(ws.Ensure(), os.MkdirAll(ws.Schemas(), 0o755), os.WriteFile(filepath.Join(ws.Schemas(), "report.schema.json"), text, 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
	hostile := full()
	for range 700 {
		hostile.Scope.TouchedPaths = append(hostile.Scope.TouchedPaths, "bad\xff"+strings.Repeat("x", 500))
		hostile.Scope.Violations = append(hostile.Scope.Violations, "")
		hostile.Verification.Runs = append(hostile.Verification.Runs, VerifyRun{TemplateID: "t", Phase: "fast", Cmd: strings.Repeat("é", 300), Args: make([]string, 90), ExitCode: 3221225477})
	}
	reports := map[string]*Report{"full": full(), "empty": {RunID: "12345678", Code: judge.BlockedMissingConfig}, "hostile": hostile}
	for _, code := range []judge.Code{judge.StopSecret, judge.StopOldTestsFail, judge.StopHiddenFailed, judge.StopTestsMissing, judge.StopPolicyForbidden, judge.StopBuilderTimeout,
		judge.StopProviderQuota, judge.StopPluginCrashed, judge.BlockedUntrustedConfig, judge.BlockedBudgetCap, judge.BlockedBeyondCeiling, judge.BlockedRepository, judge.BlockedTaskInvalid} {
		reports[string(code)] = &Report{RunID: "12345678", Code: code}
	}
	for name, r := range reports {
		b, err := Encode(r)
		if err == nil {
			err = errors.Join(workspace.WriteFile(ws.Report(), b), ws.Publish())
		}
		if err != nil {
			t.Fatal(name, err)
		}
		b, err = os.ReadFile(filepath.Join(ws.Shared(), "REPORT.json"))
		if err != nil {
			t.Fatal(err)
		}
		var v map[string]any
		if err := json.Unmarshal(b, &v); err != nil {
			t.Fatal(err)
		}
		if err := contract.Validate(v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if code, _ := v["code"].(string); v["run_id"] != r.RunID || judge.Code(code).Outcome() != r.Code.Outcome() {
			t.Errorf("%s became %v %v", name, v["run_id"], v["code"])
		}
	}
}

// The page of relay's files names every field that the seed's report does not have.
func TestAddedFieldsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/files.md")
	if err != nil {
		t.Fatal(err)
	}
	_, row, _ := strings.Cut(string(page), "\n| report |")
	row, _, _ = strings.Cut(row, "\n")
	read := func(text []byte) map[string]*limits {
		var l limits
		if err := json.Unmarshal(text, &l); err != nil {
			t.Fatal(err)
		}
		return l.Properties
	}
	text, err := os.ReadFile("testdata/contract.report.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	seeds := read(text)
	for name := range read(schemas.Bytes(schemas.Report)) {
		if seeds[name] == nil && !strings.Contains(row, "`"+name+"`") {
			t.Errorf("%s is not in the row %q", name, row)
		}
	}
}

func TestFitSaysWhatWasLeftOut(t *testing.T) {
	r := full()
	for range 1234 {
		r.Scope.TouchedPaths = append(r.Scope.TouchedPaths, strings.Repeat("p", 401))
	}
	for range 60 {
		r.Notes = append(r.Notes, "n")
	}
	r.Budgets.EstimatedCostUSD = math.NaN()
	b, err := Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	back, _ := Decode(b)
	all := strings.Join(back.Notes, "\n")
	if len(back.Scope.TouchedPaths) != 500 || !strings.Contains(all, "scope.touched_paths: 500 of 1236 shown") || !strings.Contains(all, "texts shortened to fit this report: 498") || !strings.Contains(all, "notes: 50 of 61 shown") {
		t.Errorf("%d paths, notes %q", len(back.Scope.TouchedPaths), back.Notes)
	}
	if !bytes.Equal(Render(r, 1e6), Render(back, 1e6)) {
		t.Error("REPORT.md is not what REPORT.json holds")
	}
	if len(r.Scope.TouchedPaths) != 1236 || len(r.Notes) != 61 {
		t.Error("the caller's report was changed")
	}
	if _, err := Encode(&Report{RunID: "short"}); err == nil {
		t.Error("a report without a run id and a code was written")
	}
	if _, err := Encode(&Report{RunID: "12345678", Code: "NO_SUCH_CODE"}); err == nil {
		t.Error("an unknown code was written")
	}
}

// A clock that is set back while a run is under way keeps no report from being written.
func TestClockSetBack(t *testing.T) {
	r := full()
	r.EndedAt, r.DurationMS = r.StartedAt.Add(-time.Hour), -3600000
	r.Verification.Runs[0].DurationMS, r.States[0].MS = -3600000, -3600000
	if _, err := Encode(r); err != nil {
		t.Error(err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	good, _ := Encode(full())
	for name, bad := range map[string]string{
		"empty": "", "null": "null", "array": "[]", "cut": string(good[:len(good)/2]), "unknown": strings.Replace(string(good), `"run_id"`, `"Run_id"`, 1),
		"code": strings.Replace(string(good), "STOP_SCOPE_VIOLATION_OUTSIDE_ALLOWED", "FINE", 1),
	} {
		if _, err := Decode([]byte(bad)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

const evil = "x\x1b[2J\x07\r\n# owned\n```\n<script>|a|b|\n- [x] done ![i](http://e) \u202etxt.exe\u200b \xff\xfe `` ``` $(rm) \u009b31m \u2028end"

func TestHostileTextStaysText(t *testing.T) {
	r := full()
	r.Summary, r.Why, r.Next, r.Task.Intent, r.Task.TaskID = evil, evil, evil, evil, evil
	r.Scope.TouchedPaths, r.Scope.Violations = []string{evil, "`a`", "``", " ", "-"}, []string{evil, "# h", "- l", "1. n", "12) n", "+ p", "=== s", "    code"}
	r.Builder.Summary, r.Builder.FailureDetail, r.Notes, r.Box.Gaps = evil, evil, []string{evil}, []string{evil}
	r.Question = &Question{evil, []string{evil}}
	b, err := Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range string(b) {
		if x != '\n' && invisible(x) {
			t.Fatalf("%U in REPORT.json", x)
		}
	}
	back, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.ReplaceAll(evil, "\xff\xfe", `\xff\xfe`); back.Why != want {
		t.Errorf("JSON lost something: %q", back.Why)
	}
	md := string(Render(back, 100000))
	golden(t, "hostile.report.md", []byte(md))
	for l := range strings.SplitSeq(md, "\n") {
		for _, x := range l {
			if invisible(x) {
				t.Errorf("%U in %q", x, l)
			}
		}
		body := strings.TrimPrefix(strings.TrimPrefix(l, "- "), "> ")
		ours := strings.HasPrefix(l, "# relay: ") || strings.HasPrefix(l, "## ")
		if !ours && l != "" && (!strings.HasPrefix(l, "- ") && !strings.HasPrefix(l, "> ") || strings.IndexAny(body, "#+=") == 0 || strings.HasPrefix(body, "- ") || strings.HasPrefix(body, "```") && !strings.HasSuffix(body, "`")) {
			t.Errorf("a line of another shape: %q", l)
		}
		if strings.Contains(strings.ReplaceAll(l, "`", ""), "](") && !strings.Contains(l, `\](`) && !strings.Contains(l, "`") {
			t.Errorf("a link: %q", l)
		}
	}
}

func TestRenderCap(t *testing.T) {
	r := full()
	for range 300 {
		r.Notes = append(r.Notes, strings.Repeat("näh ", 40))
	}
	b, _ := Encode(r)
	back, _ := Decode(b)
	whole := Render(back, math.MaxInt)
	for _, n := range []int{500, 501, 777, 1000, 2000, 6000, len(whole), 1 << 20} {
		md := Render(back, n)
		if c := utf8.RuneCount(md); c > n {
			t.Errorf("%d characters, the cap is %d", c, n)
		}
		if n >= 500 && !strings.HasPrefix(string(md), "# relay: STOP_") {
			t.Errorf("cap %d: no heading", n)
		}
		if len(md) < len(whole) && !strings.Contains(string(md), "more lines' worth") {
			t.Errorf("cap %d: the cut is not said", n)
		}
		if !bytes.Equal(md, Render(back, n)) {
			t.Error("not the same each time")
		}
	}
	if n := utf8.RuneCount(Render(back, 10)); n > 10 {
		t.Errorf("%d characters with a cap of 10", n)
	}
}

func FuzzRender(f *testing.F) {
	f.Add(evil, 6000)
	f.Fuzz(func(t *testing.T, s string, n int) {
		r := full()
		r.Summary, r.Task.Intent, r.Scope.TouchedPaths, r.Notes = s, s, []string{s}, []string{s}
		b, err := Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Encode(back)
		if err != nil || !bytes.Equal(b, again) {
			t.Fatalf("round trip: %v", err)
		}
		if md := Render(back, n); n >= 0 && utf8.RuneCount(md) > n {
			t.Fatalf("over the cap of %d", n)
		}
	})
}

func TestRead(t *testing.T) {
	ws, _ := workspace.Open(t.TempDir(), "")
	if err := ws.Ensure(); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(ws); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
	raw, err := Encode(full())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		raw  []byte
		ok   bool
	}{{"whole", raw, true}, {"cut short", raw[:len(raw)/2], false}, {"of another kind", []byte("{}"), false}} {
		if err := workspace.WriteFile(ws.Report(), c.raw); err != nil {
			t.Fatal(err)
		}
		r, err := Read(ws)
		if c.ok && (err != nil || r.Code != judge.StopOutsideAllowed) {
			t.Errorf("%s: %+v %v", c.name, r, err)
		}
		if f, told := diag.As(err); !c.ok && (!told || !strings.Contains(f.What, "REPORT.json")) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestBlocked(t *testing.T) {
	b := &Blocked{RunID: "20261120-192359-k3v9m2qa", At: "1970-01-01T00:00:00Z", Code: judge.BlockedLockHeld,
		What: evil, Why: strings.Repeat("w", 5000), Next: "`relay status`"}
	out, err := EncodeBlocked(b)
	if err != nil {
		t.Fatal(err)
	}
	back, err := DecodeBlocked(out)
	if err != nil || back.Code != judge.BlockedLockHeld || back.Next != "`relay status`" || utf8.RuneCountInString(back.Why) != 2000 || back.At != b.At {
		t.Errorf("%+v %v", back, err)
	}
	if again, _ := EncodeBlocked(back); !bytes.Equal(out, again) {
		t.Error("the round trip changes it")
	}
}

// The struct and the published schema name the same fields.
func TestSchemaIsTheStruct(t *testing.T) {
	var walk func(rt reflect.Type, l *limits, at string)
	walk = func(rt reflect.Type, l *limits, at string) {
		for rt.Kind() == reflect.Pointer || rt.Kind() == reflect.Slice {
			if rt.Kind() == reflect.Slice && l != nil {
				l = l.Items
			}
			rt = rt.Elem()
		}
		if rt.Kind() != reflect.Struct || rt == reflect.TypeFor[time.Time]() {
			return
		}
		seen := map[string]bool{}
		for i := range rt.NumField() {
			name, _, _ := strings.Cut(rt.Field(i).Tag.Get("json"), ",")
			if name == "-" {
				continue
			}
			seen[name] = true
			if l == nil || l.Properties[name] == nil {
				t.Errorf("%s.%s is not in the schema", at, name)
				continue
			}
			walk(rt.Field(i).Type, l.Properties[name], at+"."+name)
		}
		for name := range l.Properties {
			if !seen[name] {
				t.Errorf("%s.%s is not in the struct", at, name)
			}
		}
	}
	walk(reflect.TypeFor[Report](), limitsOf()[schemas.Report], "report")
	walk(reflect.TypeFor[Blocked](), limitsOf()[schemas.Blocked], "blocked")
}

// Every code of the judge is one that a report and BLOCKED.json may hold.
func TestCodesArePublished(t *testing.T) {
	src, err := os.ReadFile("../../../judge/code.go")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for l := range strings.SplitSeq(string(src), "\n") {
		_, rest, ok := strings.Cut(l, `= "`)
		code := strings.TrimSuffix(rest, `"`)
		if !ok || strings.Contains(l, "len(") || strings.ToUpper(code) != code {
			continue
		}
		n++
		if _, err := Encode(&Report{RunID: "12345678", Code: judge.Code(code)}); err != nil {
			t.Errorf("%s: %v", code, err)
		}
		if _, err := EncodeBlocked(&Blocked{At: "1970-01-01T00:00:00Z", Code: judge.Code(code), What: "x", Why: "y", Next: "z"}); err != nil {
			t.Errorf("%s: %v", code, err)
		}
	}
	if n < 28 {
		t.Errorf("only %d codes found", n)
	}
}
