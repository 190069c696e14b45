package plugintest

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/paxiom/relay/sdk"
)

func ask(text string) *sdk.CompleteRequest {
	return &sdk.CompleteRequest{Contents: []sdk.Content{{Text: text}}}
}

func cases(limit sdk.Reason) []Case {
	return []Case{
		{Name: "hello", Complete: ask("hello"), WantText: "hello"},
		{Name: "limit", Complete: ask("limit"), WantReason: limit},
	}
}

func inProcess(serve func() (*grpc.Server, error)) Config {
	return Config{Serve: serve, Cases: cases(sdk.RateLimited), Timeout: 20 * time.Second}
}

func binary(t *testing.T, name string) Config {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), name)
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	return Config{Binary: link, Env: []string{"GOOD_KEY=the-secret-of-the-user"},
		Cases: cases(sdk.RateLimited), Timeout: 20 * time.Second}
}

// of gives the ids that have a verdict.
func of(results []Result, v Verdict) string {
	var ids []string
	for _, r := range results {
		if r.Verdict == v {
			ids = append(ids, r.ID)
		}
	}
	return strings.Join(ids, " ")
}

func TestGoodPluginInProcess(t *testing.T) {
	results := Verify(t.Context(), inProcess(func() (*grpc.Server, error) { return sdk.NewServer(good{}.info(), good{}.provider()) }))
	if failed, skipped := of(results, Failed), of(results, Skipped); failed != "" || skipped != "P1 P2 P3 P4 P5" {
		t.Errorf("failed %q, skipped %q: %v", failed, skipped, results)
	}
	results = Verify(t.Context(), inProcess(func() (*grpc.Server, error) { return (&raw{}).server() }))
	if failed := of(results, Failed); failed != "" {
		t.Errorf("without the SDK: failed %q: %v", failed, results)
	}
}

func TestGoodPluginAsBinary(t *testing.T) {
	if results := Verify(t.Context(), binary(t, "good")); of(results, Failed) != "" || of(results, Skipped) != "" {
		t.Errorf("got %v", results)
	}
}

func building(c Config) Config {
	c.Cases = []Case{{Name: "build", Build: &sdk.BuildRequest{Task: []byte(`{}`)}, Workspace: func(dir string) error {
		return os.WriteFile(filepath.Join(dir, "in.txt"), []byte("x"), 0o600)
	}}}
	return c
}

func TestGoodBuilder(t *testing.T) {
	results := Verify(t.Context(), building(binary(t, "builder")))
	if failed, skipped := of(results, Failed), of(results, Skipped); failed != "" || skipped != "S6" {
		t.Errorf("failed %q, skipped %q: %v", failed, skipped, results)
	}
	results = Verify(t.Context(), building(inProcess(func() (*grpc.Server, error) {
		return sdk.NewServer(sdk.Info{Name: "builder", Version: "1.0.0"}, goodBuilder("done.txt"))
	})))
	if failed := of(results, Failed); failed != "" {
		t.Errorf("failed %q: %v", failed, results)
	}
}

func TestWithoutCasesNothingIsCalled(t *testing.T) {
	c := binary(t, "good")
	c.Cases = nil
	results := Verify(t.Context(), c)
	if failed, skipped := of(results, Failed), of(results, Skipped); failed != "" || skipped != "S1 S2 S3 S4 S5 S6 S7 P2" {
		t.Errorf("failed %q, skipped %q: %v", failed, skipped, results)
	}
}

func TestEndedContextSkips(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if results := Verify(ctx, binary(t, "good")); of(results, Passed)+of(results, Failed) != "" {
		t.Errorf("got %v", results)
	}
}

// A plugin that takes any certificate serves whoever finds its socket.
func TestServesAnybody(t *testing.T) {
	s := newSession(t.Context(), binary(t, "anybody"))
	defer s.close()
	if err := checkHostOnly(s); err == nil || !strings.Contains(err.Error(), "another certificate was served") {
		t.Errorf("got %v", err)
	}
}

// A verdict leads to the page of the guide that explains the rule.
func TestResultsNameTheirGuide(t *testing.T) {
	c := inProcess(func() (*grpc.Server, error) { return (&raw{}).server() })
	for _, r := range Verify(t.Context(), c) {
		page := "#" + strings.ToLower(r.ID)
		if strings.HasPrefix(r.ID, "case ") {
			page = "#cases"
		}
		if !strings.HasSuffix(r.Guide, page) {
			t.Errorf("%s has the guide %s", r.ID, r.Guide)
		}
	}
}

// Every rule catches a plugin that breaks it, and no other rule complains about it.
func TestEachRuleCatchesItsBadPlugin(t *testing.T) {
	var mu sync.Mutex
	caught := map[string]bool{}
	check := func(t *testing.T, name string, c Config) {
		t.Helper()
		rule, _, _ := strings.Cut(name, " ")
		results := Verify(t.Context(), c)
		// What a call leaves behind it may leave behind as well when it is canceled.
		if got := of(results, Failed); got != rule && (rule != "S7" || got != "S5 S7") {
			t.Errorf("failed are %q", got)
			for _, r := range results {
				t.Logf("%s %s: %s", r.ID, r.Verdict, r.Detail)
			}
		}
		for _, r := range results {
			if r.Verdict == Failed && r.ID == rule {
				mu.Lock()
				caught[rule] = true
				mu.Unlock()
				t.Log(r.Detail)
			}
		}
	}
	step := 3 // elsewhere than in CI, which counts its runs, fewer
	if os.Getenv("ROTATE") == "" {
		step = 9
	}
	for i, name := range []string{
		"B1 slow", "B1 refuses", "B2 clock", "B3 no description", "B3 reads files", "B3 no schema", "B3 old draft", "B3 large",
		"B4 twice", "B4 reason", "B5 strict", "B5 crash", "S1 no started", "S1 no end", "S1 continues", "S1 two ends", "S1 status", "S1 small messages",
		"S2 gap", "S2 from zero", "S3 down", "S3 last", "S3 forgotten", "S4 silent", "S5 busy", "S6 other type", "S6 unasked", "S7 goroutines",
		"F1 two lines", "F1 long", "F1 empty", "F1 no fix", "F2 when", "F2 past", "F3 effect",
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && i%step != 0 {
				t.Skipf("-short: one in %d bad plugins in this process", step)
			}
			c := inProcess(func() (*grpc.Server, error) { return (&raw{breaks: name}).server() })
			if name == "F2 past" {
				c.Cases = cases(sdk.QuotaExhausted)
			}
			check(t, name, c)
		})
	}
	t.Run("binary", func(t *testing.T) {
		for i, name := range slices.Sorted(maps.Keys(binaries)) {
			if name == "good" || name == "builder" || name == "anybody" {
				continue
			}
			t.Run(name, func(t *testing.T) {
				if testing.Short() && i%(step/3) != 0 {
					t.Skipf("-short: one in %d bad plugins in a process of its own", step/3)
				}
				t.Parallel()
				c := binary(t, name)
				if name == "P1 event" || name == "P2 env" {
					c.Cases[0].WantText = ""
				}
				if name == "P4 builder" {
					c = building(c)
				}
				check(t, name, c)
			})
		}
	})
	for _, r := range Rules {
		if !caught[r.ID] && !testing.Short() {
			t.Errorf("no bad plugin was caught by %s", r.ID)
		}
	}
}
