package quota

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/paxiom/relay/host/internal/report"
)

// The test binary is another relay, too: with this set it takes turns and says when.
const childVar = "QUOTA_TEST_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childVar); dir != "" {
		takeTurns(dir)
		return
	}
	os.Exit(m.Run())
}

var quick = Rate{PerMinute: 60 * 20, Burst: 1} // a call every 50 ms

func takeTurns(dir string) {
	a := Open(dir, "claude", quick, nil)
	for range 5 {
		if err := a.Take(context.Background(), "child", time.Minute, nil); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(time.Now().UnixNano())
	}
}

// Four processes share one bucket: together they keep to its rate, and each gets its
// turns in between the others'.
func TestSharedByProcesses(t *testing.T) {
	dir := t.TempDir()
	type turn struct {
		at    int64
		owner int
	}
	var mu sync.Mutex
	var turns []turn
	var wg sync.WaitGroup
	const processes = 4
	for i := range processes {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), childVar+"="+dir)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v: %s", err, out)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, l := range strings.Fields(string(out)) {
				n, _ := strconv.ParseInt(l, 10, 64)
				turns = append(turns, turn{n, i})
			}
		})
	}
	wg.Wait()
	slices.SortFunc(turns, func(a, b turn) int { return int(a.at - b.at) })
	if len(turns) != 5*processes {
		t.Fatalf("%d turns", len(turns))
	}
	took := time.Duration(turns[len(turns)-1].at - turns[0].at)
	if least := 18 * 50 * time.Millisecond; took < least {
		t.Errorf("20 calls in %v; the rate allows them in %v", took, least)
	}
	// While all want turns, nobody waits for more than everybody else's turn and one
	// more for the time that a process takes to come back.
	last := map[int]int{}
	for i, x := range turns[:processes*3] {
		if before, ok := last[x.owner]; ok && i-before > 2*processes {
			t.Errorf("process %d waited for %d turns of others", x.owner, i-before-1)
		}
		last[x.owner] = i
	}
}

type hand struct{ now time.Time }

func (h *hand) read() time.Time { return h.now }

func TestBucket(t *testing.T) {
	h := &hand{t0}
	a := Open(t.TempDir(), "claude", Rate{PerMinute: 6, Burst: 2}, h.read)
	ctx := context.Background()
	for range 2 { // the burst
		if err := a.Take(ctx, "x", 0, nil); err != nil {
			t.Fatal(err)
		}
	}
	turnOf := func(owner string) time.Time {
		t.Helper()
		var late *NotYet
		if err := a.Take(ctx, owner, time.Second, nil); !errors.As(err, &late) {
			t.Fatal(err)
		}
		return late.Turn
	}
	first, second := turnOf("x"), turnOf("y")
	if first.Sub(t0) != 10*time.Second || second.Sub(t0) != 20*time.Second {
		t.Fatalf("turns after %v and %v", first.Sub(t0), second.Sub(t0))
	}
	// Whoever went away has not lost its place, and gets no second one.
	if again := turnOf("x"); !again.Equal(first) {
		t.Errorf("x is now let in at %v", again.Sub(t0))
	}
	h.now = at(20 * time.Second)
	if err := a.Take(ctx, "y", 0, nil); err != nil {
		t.Error("y comes back at its turn:", err)
	}
	if third := turnOf("z"); third.Sub(t0) != 30*time.Second {
		t.Errorf("z is let in after %v", third.Sub(t0))
	}
	// A place that nobody takes lapses; a clock that is set back refills nothing.
	h.now = at(time.Hour)
	if err := a.Take(ctx, "x", 0, nil); err != nil {
		t.Error(err)
	}
	h.now = at(-time.Hour)
	if err := a.Take(ctx, "x", 0, nil); err != nil {
		t.Error("the second of the burst:", err)
	}
	if turn := turnOf("x"); turn.Sub(h.now) != 10*time.Second {
		t.Errorf("after the clock was set back: %v", turn.Sub(h.now))
	}
}

// However low the rate is, it lets nobody in for nothing, and a clock that was wrong keeps
// nobody out.
func TestOddRatesAndClocks(t *testing.T) {
	h := &hand{t0}
	a := Open(t.TempDir(), "claude", Rate{PerMinute: 1e-9}, h.read)
	ctx := context.Background()
	var late *NotYet
	if err := a.Take(ctx, "x", 0, nil); err != nil {
		t.Fatal(err)
	}
	if err := a.Take(ctx, "x", time.Hour, nil); !errors.As(err, &late) || late.Turn.Before(at(365*24*time.Hour)) {
		t.Error("the second call of a century:", err)
	}

	h.now = at(10 * time.Hour) // wrong
	a = Open(t.TempDir(), "claude", Rate{PerMinute: 1}, h.read)
	if err := a.Take(ctx, "x", 0, nil); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := a.Take(ctx, "x", time.Second, nil); !errors.As(err, &late) || late.Turn.Sub(h.now) != time.Minute {
			t.Errorf("let in at %v: %v", late.Turn.Sub(h.now), err)
		}
		h.now = t0 // right: the place in line is a minute away as before
	}
	h.now = at(time.Minute)
	if err := a.Take(ctx, "x", 0, nil); err != nil {
		t.Error("its turn has come:", err)
	}
}

func TestTakeIsCancelled(t *testing.T) {
	a := Open(t.TempDir(), "claude", Rate{PerMinute: 1}, nil)
	if err := a.Take(context.Background(), "x", 0, nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	told := func(d time.Duration) {
		if d < 50*time.Second {
			t.Errorf("it waits %v", d)
		}
		cancel()
	}
	if err := a.Take(ctx, "x", time.Hour, told); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	var late *NotYet
	if err := a.Take(context.Background(), "x", 0, nil); !errors.As(err, &late) || time.Until(late.Turn) > time.Minute {
		t.Errorf("the place was not given back: %v", err)
	}
}

func TestNoRateTouchesNothing(t *testing.T) {
	dir := t.TempDir()
	a := Open(dir, "claude", Rate{}, nil)
	if err := a.Take(context.Background(), "x", 0, nil); err != nil {
		t.Fatal(err)
	}
	if all, _ := os.ReadDir(dir); len(all) != 0 {
		t.Error(all)
	}
}

func TestRefusals(t *testing.T) {
	h := &hand{t0}
	dir := t.TempDir()
	a, b := Open(dir, "claude", Rate{}, h.read), Open(dir, "claude", Rate{}, h.read)
	if a.Known("opus") != nil {
		t.Error("something is known of a fresh account")
	}
	for _, l := range []report.Limit{
		{Model: "opus", Reason: "QUOTA_EXHAUSTED", Name: "five_hour", At: t0, Until: at(time.Hour)},
		{Model: "haiku", Reason: "RATE_LIMITED", Until: at(3 * time.Second)}, // not worth telling
		{Model: "sonnet", Reason: "OVERLOADED"},
	} {
		if err := a.Refused(l); err != nil {
			t.Fatal(err)
		}
	}
	l := b.Known("opus")
	if l == nil || !l.Until.Equal(at(time.Hour)) || l.Name != "five_hour" || l.Reason != "QUOTA_EXHAUSTED" || b.Known("haiku") != nil || b.Known("sonnet") != nil {
		t.Errorf("%+v", l)
	}
	h.now = at(time.Hour)
	if b.Known("opus") != nil {
		t.Error("a limit that is over is still known")
	}
	h.now = t0
	if err := b.Answered("opus"); err != nil || a.Known("opus") != nil {
		t.Error("it has answered", err)
	}
	// A damaged file says nothing and is written anew.
	if err := os.WriteFile(filepath.Join(dir, "accounts", "claude.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if a.Known("opus") != nil || a.Refused(report.Limit{Model: "opus", Until: at(time.Hour)}) != nil || b.Known("opus") == nil {
		t.Error("a damaged file is in the way")
	}
}
