package durable_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/host/durable"
)

func open(t *testing.T, dir string, clock durable.Clock) *durable.Files {
	t.Helper()
	e, err := durable.NewFiles(dir, clock)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestMain lets the test binary be the process that is killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("DURABLE_TEST_VICTIM"); dir != "" {
		victim(dir)
		return
	}
	os.Exit(m.Run())
}

const victimSteps = 200

// victim appends one line a step to a file of its own; the line carries the key, so
// that a repeated step does no harm.
func victim(dir string) {
	e, err := durable.NewFiles(dir, nil)
	if err != nil {
		panic(err)
	}
	_, err = e.Run(context.Background(), "r", "victim", 1, func(f durable.Flow) error {
		for i := range victimSteps {
			if _, err := durable.Step(f, fmt.Sprint("s", i), func(_ context.Context, a durable.Attempt) (int, error) {
				return i, leave(filepath.Join(dir, "work.txt"), a)
			}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, durable.ErrEnded) { // killed after its last entry
		panic(err)
	}
}

func leave(path string, a durable.Attempt) error {
	if old, err := os.ReadFile(path); err == nil && strings.Contains(string(old), a.Key+"\n") {
		if !a.Again {
			return fmt.Errorf("step %s was done before and is not asked for again", a.Key)
		}
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(a.Key + "\n")
	return err
}

// TestKill ends the process with SIGKILL at arbitrary instants, a little later each
// time so that a slow machine gets there too, until a run gets
// through; every step must have left its line exactly once.
func TestKill(t *testing.T) {
	dir, kills := t.TempDir(), 0
	for round := 0; ; round++ {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "DURABLE_TEST_VICTIM="+dir)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Duration(15+7*(round%9)+15*round)*time.Millisecond, func() { c.Process.Kill() })
		err := c.Wait()
		timer.Stop()
		if err == nil {
			break
		}
		if kills++; kills > 400 {
			t.Fatal("the run does not get through")
		}
	}
	raw, err := os.ReadFile(filepath.Join(dir, "work.txt"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(string(raw))
	unique := map[string]bool{}
	for _, l := range lines {
		unique[l] = true
	}
	if len(lines) != victimSteps || len(unique) != victimSteps {
		t.Fatalf("%d lines, %d different, want %d: a step was lost or doubled", len(lines), len(unique), victimSteps)
	}
	t.Logf("%d kills, %d steps, each once", kills, victimSteps)
}

// TestTornLine: what a crash in the middle of a write leaves never counted.
func TestTornLine(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, nil)
	w := func(f durable.Flow) error { _, err := f.Wait("q", nil); return err }
	if _, err := e.Run(context.Background(), "r", "k", 1, w); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, "r", "log.jsonl")
	f, err := os.OpenFile(log, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString(`{"kind":"answer","name":"q","resu`)
	f.Close()
	if st, err := e.State("r"); err != nil || st.Status != durable.Waiting {
		t.Fatalf("state with a torn line: %+v, %v", st, err)
	}
	if err := e.Answer("r", "q", 1); err != nil {
		t.Fatal(err)
	}
	if st, err := e.Run(context.Background(), "r", "k", 1, w); err != nil || st.Status != durable.Done {
		t.Fatalf("after the torn line: %+v, %v", st, err)
	}
}

// TestDamaged: a record that cannot be read is said so and is not overwritten.
func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, nil)
	log := filepath.Join(dir, "r", "log.jsonl")
	if err := os.MkdirAll(filepath.Dir(log), 0o700); err != nil {
		t.Fatal(err)
	}
	const junk = "not a record\n"
	if err := os.WriteFile(log, []byte(junk), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(context.Background(), "r", "k", 1, func(durable.Flow) error { return nil }); err == nil {
		t.Fatal("a damaged record was accepted")
	}
	if got, _ := os.ReadFile(log); string(got) != junk {
		t.Fatalf("the damaged record was changed: %q", got)
	}
	if _, err := e.Run(context.Background(), "../r", "k", 1, nil); err == nil {
		t.Fatal("a run id that leaves the store was accepted")
	}
}

// TestHuge: a record that somebody made huge is said so, neither read nor cut off.
func TestHuge(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, nil)
	w := func(f durable.Flow) error { _, err := f.Wait("q", nil); return err }
	if _, err := e.Run(context.Background(), "r", "k", 1, w); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, "r", "log.jsonl")
	if err := os.Truncate(log, 256<<20); err != nil {
		t.Fatal(err)
	}
	_, run := e.Run(context.Background(), "r", "k", 1, w)
	_, state := e.State("r")
	for what, err := range map[string]error{"run": run, "answer": e.Answer("r", "q", 1), "state": state} {
		if err == nil || !strings.Contains(err.Error(), "larger than") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if fi, err := os.Stat(log); err != nil || fi.Size() != 256<<20 {
		t.Errorf("it was changed: %v, %v", fi.Size(), err)
	}
}
