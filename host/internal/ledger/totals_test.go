package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/paxiom/relay/host/internal/workspace"
)

// groups are all sums of a workspace, by group and name.
func groups(t *testing.T, totals *Totals, err error) map[string]map[string]Sum {
	t.Helper()
	must(t, err)
	out := map[string]map[string]Sum{"all": {"": totals.All}}
	for _, g := range []string{ByDay, ByProvider, ByModel, ByRole, ByCycle, ByMilestone} {
		out[g] = totals.By(g)
	}
	return out
}

// readAll adds up every line, with nothing kept.
func readAll(t *testing.T, ws *workspace.Workspace) map[string]map[string]Sum {
	t.Helper()
	all := NewTotals()
	err := Usages(ws, func(u Line) error { all.Add(u); return nil })
	return groups(t, all, err)
}

// someLines are n calls of runs, some beside others, whose milestone is known late.
func someLines(r *rand.Rand, first, n int) []byte {
	var b bytes.Buffer
	for i := first; i < first+n; i++ {
		l := Line{CallID: fmt.Sprint(i), At: time.Date(2026, 1, 1, i, 0, 0, 0, time.UTC), RunID: fmt.Sprintf("run-%d", max(i-r.IntN(3), 0)/2),
			Role: []string{RoleOrchestrator, RoleBuilder}[i%2], Provider: fmt.Sprint("p", r.IntN(3)), Model: fmt.Sprint("m", r.IntN(4))}
		switch r.IntN(4) {
		case 0:
			l.CycleID = fmt.Sprint("c", r.IntN(5))
		case 1:
			l.MilestoneID = fmt.Sprint("M", i/50)
		}
		if r.IntN(3) > 0 {
			l.CostUSD, l.InputTokens, l.CostBasis = ptr(r.Float64()), ptr(r.Int64N(1000)), BasisReported
		}
		raw, _ := json.Marshal(l)
		b.Write(append(raw, '\n'))
	}
	return b.Bytes()
}

func appendTo(t *testing.T, path string, b []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	must(t, err)
	_, err = f.Write(b)
	must(t, err)
	must(t, f.Close())
}

// What was kept and what came since add up to what reading every line gives, at each
// moment, to the last bit; and what was kept is used.
func TestTotalsKept(t *testing.T) {
	was := keepEvery
	keepEvery = 20 << 10
	t.Cleanup(func() { keepEvery = was })
	ws, r := newWS(t), rand.New(rand.NewPCG(1, 2))
	keeps := 0
	var old []byte
	for i, n := 0, 0; i < 60; i++ {
		more := r.IntN(60)
		appendTo(t, ws.Usage(), someLines(r, n, more))
		n += more
		if i%7 == 0 {
			appendTo(t, ws.Usage(), []byte(`{"at":"2026-01-03T10:00:00Z","call_id":"torn"`))
		}
		all, err := AllTotals(ws)
		if got, want := groups(t, all, err), readAll(t, ws); !reflect.DeepEqual(got, want) {
			t.Fatalf("after %d lines: %+v, want %+v", n, got, want)
		}
		if i%7 == 0 {
			appendTo(t, ws.Usage(), []byte("\n"))
		}
		if now, _ := os.ReadFile(ws.UsageSums()); !bytes.Equal(now, old) {
			keeps, old = keeps+1, now
		}
	}
	if keeps < 5 || keeps > 50 {
		t.Errorf("kept %d times", keeps)
	}
	f, err := openUsage(ws)
	must(t, err)
	defer f.Close()
	whole, err := wholeLines(f)
	must(t, err)
	if _, from := readKept(ws, f, whole); whole-from >= keepEvery {
		t.Errorf("%d of %d bytes are read anew", whole-from, whole)
	}
}

// Nothing that was kept is believed once it, the calls, or the time zone changed.
func TestTotalsNotBelieved(t *testing.T) {
	was, zone := keepEvery, time.Local
	keepEvery = 1
	t.Cleanup(func() { keepEvery, time.Local = was, zone })
	ws := newWS(t)
	for name, change := range map[string]func(usage, sums []byte) ([]byte, []byte){
		"a price in the middle": func(u, s []byte) ([]byte, []byte) {
			return bytes.Replace(u, []byte(`"input_tokens":1`), []byte(`"input_tokens":9`), 1), s
		},
		"lines taken away": func(u, s []byte) ([]byte, []byte) { return u[:bytes.IndexByte(u, '\n')+1], s },
		"the first line":   func(u, s []byte) ([]byte, []byte) { return u[bytes.IndexByte(u, '\n')+1:], s },
		"a sum": func(u, s []byte) ([]byte, []byte) {
			return u, bytes.Replace(s, []byte(`"calls":2`), []byte(`"calls":7`), 1)
		},
		"half of the sums": func(u, s []byte) ([]byte, []byte) { return u, s[:len(s)/2] },
		"an empty file":    func(u, s []byte) ([]byte, []byte) { return u, nil },
		"the time zone": func(u, s []byte) ([]byte, []byte) {
			time.Local = time.FixedZone("far", -11*3600)
			return u, s
		},
	} {
		time.Local = zone
		usage := someLines(rand.New(rand.NewPCG(3, 4)), 0, 200)
		must(t, os.WriteFile(ws.Usage(), usage, 0o644))
		_, err := AllTotals(ws)
		must(t, err)
		sums, err := os.ReadFile(ws.UsageSums())
		must(t, err)
		u, s := change(bytes.Clone(usage), bytes.Clone(sums))
		if bytes.Equal(u, usage) && bytes.Equal(s, sums) && time.Local == zone {
			t.Fatalf("%s: nothing was changed", name)
		}
		must(t, os.WriteFile(ws.Usage(), u, 0o644))
		must(t, os.WriteFile(ws.UsageSums(), s, 0o644))
		all, err := AllTotals(ws)
		if got, want := groups(t, all, err), readAll(t, ws); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}
