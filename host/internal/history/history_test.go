package history

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/judge"
)

var t0 = time.Date(2026, 11, 20, 19, 23, 59, 0, time.UTC)

// add makes a whole run with a patch of n bytes.
func add(t testing.TB, s *Store, at time.Time, n int) string {
	t.Helper()
	m := Meta{RunID: NewRunID(at), Workflow: "tick", StartedAt: at}
	r, err := s.Begin(m)
	if err != nil {
		t.Fatal(err)
	}
	w, err := r.Create("diff.patch")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(make([]byte, n)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	m.Code, m.EndedAt = judge.Success, at.Add(time.Second)
	if err := r.End(m); err != nil {
		t.Fatal(err)
	}
	return m.RunID
}

func newStore(t testing.TB) *Store { return Open(filepath.Join(t.TempDir(), "history")) }

func TestRunIDs(t *testing.T) {
	seen := map[string]bool{}
	var ids []string
	for i := range 2000 {
		id := NewRunID(t0.Add(time.Duration(i) * 2 * time.Millisecond))
		if !ValidRunID(id) || seen[id] || len(id) < 8 || len(id) > 80 {
			t.Fatalf("%q", id)
		}
		seen[id] = true
		ids = append(ids, id)
	}
	if !slices.IsSorted(ids) {
		t.Error("ids of later runs sort before earlier ones")
	}
	if !NewRunIDTimeOK(ids[0]) {
		t.Errorf("%s does not begin with its time", ids[0])
	}
	for _, bad := range []string{"", "..", "20261120-192359-../../aa", "20261120-192359-k3v9m2qa/x", "20261120-192359-K3V9M2QA", "20261120-192359-k3v9m2q", ids[0] + "\n"} {
		if ValidRunID(bad) {
			t.Errorf("%q is taken for a run id", bad)
		}
	}
}

// NewRunIDTimeOK reports whether the id begins with t0.
func NewRunIDTimeOK(id string) bool { return startedAt(id).Equal(t0) }

func TestRun(t *testing.T) {
	s := newStore(t)
	if id, err := s.Latest(); id != "" || err != nil {
		t.Errorf("%q %v", id, err)
	}
	if l, err := s.List(0); len(l) != 0 || err != nil {
		t.Errorf("%v %v", l, err)
	}
	if err := s.CheckCap(1); err != nil {
		t.Error(err)
	}
	m := Meta{RunID: NewRunID(t0), Workflow: "tick", StartedAt: t0, Intent: "x"}
	r, err := s.Begin(m)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Begin(m); err == nil {
		t.Error("the same run twice")
	}
	if err := r.Write("report.json", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	w, err := r.Create("plugins/claude.stderr")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(w, "text")
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"", "..", "../x", "/etc/x", "plugins/../../x", "a/b", "plugins/", `a\b`, "a\x00"} {
		if _, err := r.Create(bad); err == nil {
			t.Errorf("%q was made", bad)
		}
		if err := r.Write(bad, nil); err == nil {
			t.Errorf("%q was written", bad)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(r.Dir(), "verify.log")); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Create("verify.log"); err == nil {
		t.Error("a link was followed")
	}
	m.Code = judge.StopDiffTooLarge
	if err := r.End(m); err != nil {
		t.Fatal(err)
	}
	got, err := s.Find("")
	if err != nil || got.Code != judge.StopDiffTooLarge || got.Bytes < 6 || got.Intent != "x" {
		t.Errorf("%+v %v", got, err)
	}
	if b, err := os.ReadFile(s.Path(m.RunID, "plugins/claude.stderr")); string(b) != "text" || err != nil {
		t.Errorf("%q %v", b, err)
	}
	if _, err := os.Stat(s.Path("../..", "etc")); err == nil {
		t.Error("a path outside")
	}
	if _, err := s.Begin(Meta{RunID: "../x"}); err == nil {
		t.Error("a run outside")
	}
}

func TestFind(t *testing.T) {
	s := newStore(t)
	_, err := s.Find("x")
	if f, ok := diag.As(err); !ok || !strings.Contains(f.Fix, "`relay run`") {
		t.Errorf("%v", err)
	}
	a, b := add(t, s, t0, 1), add(t, s, t0.Add(time.Hour), 1)
	for in, want := range map[string]string{"": b, "latest": b, a: a, a[:13]: a, a[16:]: a, b[20:]: b} {
		if m, err := s.Find(in); err != nil || m.RunID != want {
			t.Errorf("Find(%q) = %s, %v", in, m.RunID, err)
		}
	}
	for in, say := range map[string]string{"2026": "names 2 runs", "zzz": "no run", "../../x": "no run"} {
		_, err := s.Find(in)
		if f, ok := diag.As(err); !ok || !strings.Contains(f.What, say) {
			t.Errorf("Find(%q): %v", in, err)
		}
	}
	if _, err := s.Get(a); err != nil {
		t.Error(err)
	}
	if _, err := s.Get(a[:13]); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	// a broken meta.json and files that are no runs do no harm
	if err := os.WriteFile(s.Path(a, "meta.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(s.dir, "other"), 0o755); err != nil {
		t.Fatal(err)
	}
	l, err := s.List(0)
	if err != nil || len(l) != 2 || l[0].RunID != b || l[1].RunID != a || l[1].Workflow != "" {
		t.Errorf("%+v %v", l, err)
	}
	if l, _ := s.List(1); len(l) != 1 || l[0].RunID != b {
		t.Errorf("%+v", l)
	}
}

func TestCap(t *testing.T) {
	s := newStore(t)
	add(t, s, t0, 600_000)
	if err := s.CheckCap(1); err != nil {
		t.Error(err)
	}
	add(t, s, t0.Add(time.Second), 600_000)
	err := s.CheckCap(1)
	f, ok := diag.As(err)
	if !ok || f.Code != judge.BlockedHistoryCap || !strings.Contains(f.Why, "2 runs") || !strings.Contains(f.Fix, "`relay history prune") {
		t.Errorf("%v", err)
	}
	if err := s.CheckCap(2); err != nil {
		t.Error(err)
	}
	// a total that is gone or nonsense is made again
	for _, text := range []string{"", "[]", `{"bytes":-5}`, `{"latest":"../x"}`} {
		if err := os.WriteFile(filepath.Join(s.dir, indexName), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if bytes, runs, err := s.Size(); bytes < 1_200_000 || runs != 2 || err != nil {
			t.Errorf("%q: %d bytes, %d runs, %v", text, bytes, runs, err)
		}
	}
	if err := os.Remove(filepath.Join(s.dir, indexName)); err != nil {
		t.Fatal(err)
	}
	if s.CheckCap(1) == nil {
		t.Error("the total is gone and the cap with it")
	}
}

// A run that a crash left open counts with what it had written.
func TestOpenRunCounts(t *testing.T) {
	s := newStore(t)
	r, err := s.Begin(Meta{RunID: NewRunID(t0)})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Write("diff.patch", make([]byte, 50_000)); err != nil {
		t.Fatal(err)
	}
	if b, n, _ := s.Size(); b < 50_000 || n != 1 {
		t.Errorf("%d bytes, %d runs", b, n)
	}
	add(t, s, t0.Add(time.Second), 1000)
	b, n, _ := s.Size()
	if want := s.recount(); b != want.Bytes || n != 2 || want.Runs != 2 {
		t.Errorf("%d bytes, %d runs; counted anew %+v", b, n, want)
	}
}

func TestPrune(t *testing.T) {
	for name, c := range map[string]struct {
		p    Prune
		left string // of runs 0 (oldest) to 4
	}{
		"keep":        {Prune{Keep: 2}, "34"},
		"keep all":    {Prune{Keep: 9}, "01234"},
		"age":         {Prune{OlderThan: 150 * time.Minute}, "234"},
		"all too old": {Prune{OlderThan: time.Nanosecond}, "4"},
		"size":        {Prune{MaxBytes: 35_000}, "234"},
		"tiny":        {Prune{MaxBytes: 1}, "4"},
		"both":        {Prune{Keep: 3, OlderThan: 90 * time.Minute}, "34"},
		"nothing":     {Prune{}, "01234"},
		"dry":         {Prune{Keep: 1, DryRun: true}, "01234"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			ids := map[string]string{}
			for i := range 5 {
				ids[add(t, s, t0.Add(time.Duration(i)*time.Hour), 10_000)] = fmt.Sprint(i)
			}
			out, err := s.Prune(c.p, t0.Add(4*time.Hour+time.Minute))
			if err != nil {
				t.Fatal(err)
			}
			left := ""
			all, _ := s.List(0)
			slices.Reverse(all)
			for _, m := range all {
				left += ids[m.RunID]
			}
			if left != c.left {
				t.Errorf("left %s, want %s", left, c.left)
			}
			if !c.p.DryRun && len(out.Runs) != 5-len(left) || c.p.DryRun && len(out.Runs) != 4 || len(out.Runs) > 0 && out.Bytes < 10_000 {
				t.Errorf("%+v", out)
			}
			if b, n, _ := s.Size(); b != s.recount().Bytes || n != len(left) {
				t.Errorf("the total says %d bytes, %d runs", b, n)
			}
			dir, kept := s.Pruned()
			if c.p.DryRun != (len(kept) != len(out.Runs)) {
				t.Errorf("%v were removed, %v are kept", out.Runs, kept)
			}
			for _, id := range kept { // and can be taken back
				if err := os.Rename(filepath.Join(dir, id), filepath.Join(s.dir, id)); err != nil {
					t.Fatal(err)
				}
			}
			if b, n, _ := s.Size(); n != 5 || b != s.recount().Bytes {
				t.Errorf("taken back, there are %d runs with %d bytes", n, b)
			}
		})
	}
	if _, err := newStore(t).Prune(Prune{Keep: 1}, t0); err != nil {
		t.Error(err)
	}
}

func TestPlantedFolder(t *testing.T) {
	s := newStore(t)
	outside := t.TempDir()
	if err := os.Symlink(outside, s.dir); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Begin(Meta{RunID: NewRunID(t0)}); err == nil {
		t.Error("a link was used as the history")
	}
	if e, _ := os.ReadDir(outside); len(e) > 0 {
		t.Error("written outside")
	}
}

func BenchmarkTenThousandRuns(b *testing.B) {
	s := newStore(b)
	for i := range 10_000 {
		if err := os.MkdirAll(filepath.Join(s.dir, NewRunID(t0.Add(time.Duration(i)*time.Minute))), 0o755); err != nil {
			b.Fatal(err)
		}
	}
	add(b, s, t0.Add(20_000*time.Minute), 10)
	for name, f := range map[string]func() error{
		"latest": func() error { _, err := s.Latest(); return err },
		"cap":    func() error { return s.CheckCap(500) },
		"list10": func() error { _, err := s.List(10); return err },
		"run": func() error {
			m := Meta{RunID: NewRunID(time.Now())}
			r, err := s.Begin(m)
			if err != nil {
				return err
			}
			return r.End(m)
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := f(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
