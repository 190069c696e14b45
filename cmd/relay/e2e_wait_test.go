package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/host"
)

// A usage limit in a loop, as each real program words it: the loop waits until the time
// that the vendor named, which relay status shows; relay wake ends the wait, and the loop
// continues to the commit.
func TestE2ELoopWaits(t *testing.T) {
	if os.Getenv(matrixVariable) == "" {
		t.Skipf("%s is not set: `make test-e2e` runs this test", matrixVariable)
	}
	for _, w := range ways {
		c := matrixCase{name: "usage limit", goesOn: true}
		if w.program == nil || !w.has(c) { // the API's words are those of the matrix
			continue
		}
		t.Run(w.String(), func(t *testing.T) {
			t.Parallel()
			w.faults = map[string]string{c.name: strings.Replace(w.faults[c.name], `"times":-1,`, "", 1)}
			b, begun := newBench(t, w, c), time.Now()
			loop, out := b.start(t, "loop", "--mode", "task", "--goal", "make it add", "--json", "--set", "limits.max_wait=30h") // Gemini's day can end later than the default allows

			var s host.StatusResult
			until(t, "the loop to wait", func() bool {
				text := b.relay(t, "status", "--json")
				s = host.StatusResult{}
				return json.Unmarshal(text, &s) == nil && s.Loop != nil && s.Loop.Running && s.Loop.Wait != nil || loop.ended()
			})
			if loop.ended() {
				t.Fatalf("the loop ended and did not wait: %s", out)
			}
			wait := s.Loop.Wait
			if len(wait.Limits) != 1 || wait.Limits[0].Provider != w.plugin || wait.Limits[0].Reason != "QUOTA_EXHAUSTED" {
				t.Errorf("it waits for %+v", wait.Limits)
			} else if reset := wait.Limits[0].Until; w.vendor == "gemini" && reset.Before(begun) || w.vendor != "gemini" && !reset.Equal(matrixReset) {
				t.Errorf("the limit ends at %v; the vendor named %v", reset, matrixReset)
			} else if wait.Until.Before(reset) {
				t.Errorf("it waits until %v, and the limit lasts until %v", wait.Until, reset)
			}
			before := time.Until(wait.Until)
			text := string(b.relay(t, "status"))
			if !strings.Contains(text, "waits until "+wait.Until.Local().Format(time.DateTime)) || !countsDown(text, before, time.Until(wait.Until)) || !strings.Contains(text, "relay wake") {
				t.Errorf("no countdown, %v before the end:\n%s", before, text)
			}

			b.relay(t, "wake")
			until(t, "the loop to end", loop.ended)
			var res host.LoopResult
			if err := json.Unmarshal(out.Bytes(), &res); err != nil || res.Reason != "task_done" || res.ExitCode != 0 || len(res.Waits) != 1 || len(res.Ticks) != 1 {
				t.Errorf("%v\n%s", err, out)
			}
			if text, _ := os.ReadFile(filepath.Join(b.repo, "add.sh")); !strings.Contains(string(text), "+ $2") {
				t.Errorf("the work was not done: %s", text)
			}
			b.noCanary(t, out.Bytes())
		})
	}
}

// countsDown reports whether a text has the time that was left at some moment of a countdown.
// How that is worded depends on the hour: Gemini's day ends at midnight in California.
func countsDown(text string, from, to time.Duration) bool {
	for left := from; left >= to-time.Second; left -= 100 * time.Millisecond {
		if strings.Contains(text, ", "+countdown(left)+" left") {
			return true
		}
	}
	return false
}

// started is a relay that runs beside the test.
type started struct{ done chan struct{} }

func (s *started) ended() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// start gives what it prints, to be read when it has ended.
func (b *bench) start(t *testing.T, args ...string) (*started, *bytes.Buffer) {
	t.Helper()
	cmd := exec.Command(filepath.Join(binDir, "relay"), args...)
	cmd.Dir, cmd.Env = b.repo, b.env
	out := new(bytes.Buffer)
	cmd.Stdout = out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &started{make(chan struct{})}
	go func() {
		defer close(s.done)
		_ = cmd.Wait() // what it printed says how it ended
	}()
	t.Cleanup(func() {
		if !s.ended() {
			_ = cmd.Process.Kill()
			<-s.done
		}
	})
	return s, out
}

// relay runs a command that looks, whatever its exit code.
func (b *bench) relay(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(filepath.Join(binDir, "relay"), args...)
	cmd.Dir, cmd.Env = b.repo, b.env
	out, err := cmd.Output()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out
}
