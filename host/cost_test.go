package host

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/host/internal/ledger"
)

func costRepo(t *testing.T, lines ...ledger.Line) *Repo {
	t.Helper()
	dir := t.TempDir()
	var b strings.Builder
	for _, l := range lines {
		raw, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(raw, '\n'))
	}
	for name, text := range map[string]string{".git/HEAD": "ref: refs/heads/main\n", "relay.config.json": "{}", ".git/relay/usage.jsonl": b.String() + "{torn"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Open(dir, Options{Env: []string{"HOME=" + dir}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What nobody knows is neither 0 nor left out.
func TestCostKeepsUnknownApart(t *testing.T) {
	usd, guess, tokens := 0.5, 0.25, int64(100)
	now := time.Now()
	r := costRepo(t,
		ledger.Line{CallID: "1", At: now.Add(-48 * time.Hour), RunID: "a", Provider: "p", Model: "m", MilestoneID: "M1", CostUSD: &usd, CostBasis: ledger.BasisReported, InputTokens: &tokens},
		ledger.Line{CallID: "2", At: now, RunID: "b", Provider: "p", Model: "n", MilestoneID: "M1", CostUSD: &guess, CostBasis: ledger.BasisTable},
		ledger.Line{CallID: "3", At: now, RunID: "b", Provider: "q", MilestoneID: "M2", CostBasis: ledger.BasisUnknown, MaxUSD: 1.5})
	get := func(by string, since time.Duration) *CostResult {
		t.Helper()
		res, err := r.Cost(context.Background(), CostOptions{By: by, Since: since})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	total := get("", 0).Total
	if *total.CostUSD != 0.75 || total.UnknownCalls != 1 || total.UnknownMaxUSD != 1.5 || total.EstimatedUSD != 0.25 || total.Calls != 3 || *total.InputTokens != 100 || total.OutputTokens != nil {
		t.Errorf("total: %+v", total)
	}
	for by, want := range map[string][]string{"run": {"b", "a"}, "provider": {"q", "p"}, "model": {"", "m", "n"}, "milestone": {"M2", "M1"}} {
		res := get(by, 0)
		var names []string
		for _, l := range res.Lines {
			names = append(names, l.Name)
		}
		if strings.Join(names, ",") != strings.Join(want, ",") {
			t.Errorf("by %s: %q, want %q", by, names, want)
		}
	}
	if q := get("provider", 0).Lines[0]; q.CostUSD != nil || q.UnknownCalls != 1 {
		t.Errorf("a group that nobody can price: %+v", q)
	}
	if late := get("run", time.Hour); late.Total.Calls != 2 || len(late.Lines) != 1 {
		t.Errorf("since an hour: %+v", late)
	}
	if _, err := r.Cost(context.Background(), CostOptions{By: "colour"}); err == nil {
		t.Error("an unknown group is taken")
	}
}

func TestCostOfNothing(t *testing.T) {
	r := costRepo(t)
	res, err := r.Cost(context.Background(), CostOptions{})
	if err != nil || res.Total.CostUSD != nil || res.Total.Calls != 0 || len(res.Lines) != 0 {
		t.Errorf("%+v, %v", res, err)
	}
}
