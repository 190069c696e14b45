package activitylog

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time      { c.mu.Lock(); defer c.mu.Unlock(); return c.t }
func (c *clock) add(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.t = c.t.Add(d) }
func evening() *clock                { return &clock{t: time.Date(2026, 4, 29, 23, 59, 58, 0, time.Local)} }
func lines(s string) []string        { return strings.Split(strings.TrimSuffix(s, "\n"), "\n") }
func put(t *testing.T, d string, c *clock, text string) {
	t.Helper()
	if err := Append(d, c.now(), "bf3c91a4", "A-202", text); err != nil {
		t.Fatal(err)
	}
}

func TestAppend(t *testing.T) {
	dir, c := t.TempDir(), evening()
	put(t, dir, c, "state -> AUDIT_RUNNING")
	put(t, dir, c, "call says: \x1b[2J\nfake 2026-04-29 line "+strings.Repeat("x", 5000))
	c.add(3 * time.Second)
	put(t, dir, c, "the next day")
	var b strings.Builder
	if _, err := Copy(&b, dir, c.now().Add(-time.Hour), ""); err != nil {
		t.Fatal(err)
	}
	got := lines(b.String())
	if len(got) != 2 || !strings.HasPrefix(got[0], "2026-04-29T23:59:58.000") || !strings.HasSuffix(got[0], " bf3c91a4 A-202 state -> AUDIT_RUNNING") || strings.ContainsAny(got[1], "\x1b") || len(got[1]) > 2200 {
		t.Errorf("%q", got)
	}
	b.Reset()
	if _, err := Copy(&b, dir, c.now(), "nothing"); err != nil || b.String() != "" {
		t.Errorf("%q %v", b.String(), err)
	}
}

// Lines of many writers stay whole.
func TestManyWriters(t *testing.T) {
	dir, c := t.TempDir(), evening()
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 50 {
				if err := Append(dir, c.now(), fmt.Sprint(w), "s", fmt.Sprint("line ", i, " end")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	var b strings.Builder
	if _, err := Copy(&b, dir, c.now(), " end"); err != nil {
		t.Fatal(err)
	}
	if n := len(lines(b.String())); n != 400 {
		t.Errorf("%d whole lines", n)
	}
}

// Following continues across midnight and loses nothing that was written just before.
func TestFollowAcrossMidnight(t *testing.T) {
	dir, c := t.TempDir(), evening()
	put(t, dir, c, "old")
	r, w := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Follow(ctx, w, dir, "A-202", c.now); w.Close() }()
	seen := make(chan string, 10)
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := r.Read(buf)
			if err != nil {
				close(seen)
				return
			}
			seen <- string(buf[:n])
		}
	}()
	time.Sleep(2 * look)
	put(t, dir, c, "before")
	c.add(3 * time.Second)
	put(t, dir, c, "after")
	for _, want := range []string{"before", "after"} {
		select {
		case got := <-seen:
			if !strings.Contains(got, want) || strings.Contains(got, "old") {
				t.Fatalf("got %q, want %s", got, want)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s never came", want)
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// Somebody's huge line is left out, and costs no memory.
func TestHugeLine(t *testing.T) {
	dir, c := t.TempDir(), evening()
	put(t, dir, c, "before")
	path := File(dir, c.now())
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 256<<20); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(f)
	f.Close()
	put(t, dir, c, "after")
	var was, is runtime.MemStats
	runtime.ReadMemStats(&was)
	var out strings.Builder
	n, err := Copy(&out, dir, c.now(), "")
	runtime.ReadMemStats(&is)
	if err != nil || n <= 256<<20 || !strings.Contains(out.String(), " before\n") || !strings.HasSuffix(out.String(), " after\n") {
		t.Errorf("%d of %d bytes copied, %v: %.100q", n, fi.Size(), err, out.String())
	}
	if is.Sys-was.Sys > 128<<20 || out.Len() > 1<<20 {
		t.Errorf("%d MB of memory for %d bytes", (is.Sys-was.Sys)>>20, out.Len())
	}
}
