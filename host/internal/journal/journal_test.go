package journal

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func begin(t *testing.T) (*Journal, *Log) {
	t.Helper()
	j := Open(filepath.Join(t.TempDir(), "journal"))
	l, err := j.Begin("run-1")
	if err != nil {
		t.Fatal(err)
	}
	return j, l
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func unfinished(t *testing.T, j *Journal) []Run {
	t.Helper()
	runs, err := j.Unfinished()
	must(t, err)
	return runs
}

func TestRecordsAndImagesComeBack(t *testing.T) {
	j, l := begin(t)
	must(t, l.Append("begin", map[string]string{"base": "abc"}))
	image := func(text string) (at, n int64) {
		w, at, err := l.NewImage()
		must(t, err)
		_, err = io.WriteString(w, text)
		must(t, err)
		return at, int64(len(text))
	}
	a, n := image("old bytes")
	b, m := image("new")
	must(t, l.SyncImages())
	must(t, l.Append("apply", [2][2]int64{{a, n}, {b, m}}))
	must(t, l.Close())

	runs := unfinished(t, j)
	if len(runs) != 1 || len(runs[0].Records) != 2 || runs[0].Damaged != "" {
		t.Fatalf("%+v", runs)
	}
	rec, ok := runs[0].Last("apply")
	var where [2][2]int64
	if !ok || rec.Decode(&where) != nil {
		t.Fatalf("%+v", rec)
	}
	l, err := runs[0].Resume()
	must(t, err)
	got := make([]byte, 3)
	if _, err := l.ImageReader(where[1][0], where[1][1]).ReadAt(got, 0); err != nil || string(got) != "new" {
		t.Fatalf("image %q, %v", got, err)
	}
	must(t, l.Append("applied", nil))
	must(t, l.Settle())
	if left, _ := os.ReadDir(j.Dir()); len(left) != 0 {
		t.Fatalf("left behind: %v", left)
	}
	if runs := unfinished(t, j); len(runs) != 0 {
		t.Fatalf("%+v", runs)
	}
}

func TestTornLastLine(t *testing.T) {
	j, l := begin(t)
	must(t, l.Append("begin", nil))
	must(t, l.Append("build", nil))
	must(t, l.Close())
	name := filepath.Join(j.Dir(), "run-1.jsonl")
	whole, err := os.ReadFile(name)
	must(t, err)
	first := strings.IndexByte(string(whole), '\n') + 1
	for cut := first; cut < len(whole)-1; cut++ {
		must(t, os.WriteFile(name, whole[:cut], 0o600))
		runs := unfinished(t, j)
		if len(runs) != 1 || len(runs[0].Records) != 1 || runs[0].Damaged != "" {
			t.Fatalf("cut at %d: %+v", cut, runs)
		}
	}
	// A start after the torn line continues below it.
	runs := unfinished(t, j)
	l, err = runs[0].Resume()
	must(t, err)
	must(t, l.Append("recovered", nil))
	must(t, l.Close())
	runs = unfinished(t, j)
	if len(runs[0].Records) != 2 || runs[0].Records[1].Kind != "recovered" || runs[0].Damaged != "" {
		t.Fatalf("%+v", runs)
	}
}

// failing is a file that fails once: after so many bytes of a write, or at the sync after
// it; and at the cut that follows, when stuck.
type failing struct {
	*os.File
	bytes int
	stuck bool
}

var errDisk = errors.New("input/output error")

func (f *failing) WriteAt(b []byte, at int64) (int, error) {
	if f.bytes >= len(b) {
		return f.File.WriteAt(b, at)
	}
	n, err := f.File.WriteAt(b[:f.bytes], at)
	return n, errors.Join(err, errDisk)
}

func (f *failing) Sync() error { return errDisk }

func (f *failing) Truncate(size int64) error {
	if f.stuck {
		return errDisk
	}
	return f.File.Truncate(size)
}

// A record that failed is not there for what continues it: neither in a log that appends
// another one, nor in one that was cut off and is resumed.
func TestFailedRecord(t *testing.T) {
	const long, whole = "a record that is longer than others, so that something of it is left below them", 1 << 20
	for _, bytes := range []int{0, 1, 40, len(long), whole} {
		for _, stuck := range []bool{false, true} {
			for _, resumed := range []bool{false, true} {
				j, l := begin(t)
				must(t, l.Append("begin", nil))
				f := l.f.(*os.File)
				l.f = &failing{f, bytes, stuck}
				if err := l.Append(long, nil); !errors.Is(err, errDisk) {
					t.Fatalf("%d bytes: %v", bytes, err)
				}
				l.f = f
				want := []string{"begin", "revert", "reverted"}
				if resumed {
					must(t, l.Close())
					if bytes == whole && stuck { // it reached the disk after all
						want = slices.Insert(want, 1, long)
					}
					var err error
					l, err = unfinished(t, j)[0].Resume()
					must(t, err)
				}
				must(t, l.Append("revert", nil))
				must(t, l.Append("reverted", nil))
				must(t, l.Close())
				var kinds []string
				run := unfinished(t, j)[0]
				for _, r := range run.Records {
					kinds = append(kinds, r.Kind)
				}
				if run.Damaged != "" || !slices.Equal(kinds, want) {
					t.Errorf("%d bytes, stuck %v, resumed %v: records %q, damaged %q", bytes, stuck, resumed, kinds, run.Damaged)
				}
			}
		}
	}
}

func TestDamage(t *testing.T) {
	j, l := begin(t)
	for range 3 {
		must(t, l.Append("step", nil))
	}
	must(t, l.Close())
	name := filepath.Join(j.Dir(), "run-1.jsonl")
	b, err := os.ReadFile(name)
	must(t, err)
	lines := strings.SplitAfter(string(b), "\n")
	must(t, os.WriteFile(name, []byte(lines[0]+lines[2]), 0o600))
	if runs := unfinished(t, j); runs[0].Damaged == "" {
		t.Fatalf("a missing record was not noticed: %+v", runs)
	}
}

func TestSecondBeginIsRefused(t *testing.T) {
	j, l := begin(t)
	defer l.Close()
	if _, err := j.Begin("run-1"); err == nil {
		t.Fatal("two logs of one run")
	}
}

// Of a long journal only the heads of its records are read into memory, cut off or not.
func TestBoundedMemory(t *testing.T) {
	j, l := begin(t)
	must(t, l.Append("begin", "x"))
	must(t, l.Append("apply", strings.Repeat(`{"a\\`, 60<<20/6)))
	must(t, l.Append("landed", nil))
	must(t, l.Close())
	path := filepath.Join(j.Dir(), "run-1.jsonl")
	fi, err := os.Stat(path)
	must(t, err)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	_, err = f.WriteString(`{"seq":4,"kind":"torn","data":[`)
	must(t, err)
	for range 300<<20/(1<<20) - int(fi.Size()>>20) {
		_, err = f.WriteString(strings.Repeat(`{"a":1},`, 1<<17))
		must(t, err)
	}
	must(t, f.Close())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	runs := unfinished(t, j)
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 4<<20 {
		t.Errorf("reading the journal took %d MB", got>>20)
	}
	if len(runs) != 1 || len(runs[0].Records) != 3 || runs[0].Damaged != "" {
		t.Fatalf("%+v", runs)
	}
	var text string
	if rec, _ := runs[0].Last("apply"); rec.Decode(&text) != nil || len(text) != 60<<20/6*5 || !strings.HasPrefix(text, `{"a\\{`) {
		t.Errorf("the data are %.20q, %d bytes", text, len(text))
	}
	if rec, _ := runs[0].Last("begin"); rec.Decode(&text) != nil || text != "x" {
		t.Errorf("the data are %.20q", text)
	}
}

// A journal of any size is not read into memory, and can be set aside.
func TestTooLarge(t *testing.T) {
	j, l := begin(t)
	must(t, l.Append("apply", nil))
	must(t, l.Close())
	must(t, os.Truncate(filepath.Join(j.Dir(), "run-1.jsonl"), 4<<30))
	runs := unfinished(t, j)
	if len(runs) != 1 || !strings.Contains(runs[0].Damaged, "larger than") || len(runs[0].Records) != 0 {
		t.Fatalf("%+v", runs)
	}
	aside, err := runs[0].SetAside()
	must(t, err)
	if _, err := os.Lstat(aside); err != nil || len(unfinished(t, j)) != 0 {
		t.Errorf("%s: %v", aside, err)
	}
}
