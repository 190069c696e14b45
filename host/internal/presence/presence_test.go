package presence

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/host/internal/workspace"
)

func open(t *testing.T) *workspace.Workspace {
	t.Helper()
	ws, err := workspace.Open(t.TempDir(), ".relay")
	if err != nil {
		t.Fatal(err)
	}
	return ws
}

func wait(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("never: " + what)
		}
	}
}

// A process at work is seen with what it does, its events go on to who watches in the same
// process, and nothing is left when it has ended.
func TestPulse(t *testing.T) {
	ws := open(t)
	heard := 0
	r := Record(ws, "relay run", progress.Func(func(progress.Event) { heard++ }))
	r.Observe(progress.Event{Kind: progress.Entered, RunID: "r", State: "BUILD", At: time.Now()})
	time.Sleep(2 * every)
	if _, err := os.Lstat(ws.Dir()); err == nil {
		t.Error("a record made the workspace")
	}
	if err := ws.Ensure(); err != nil {
		t.Fatal(err)
	}
	r.Observe(progress.Event{Kind: progress.Plugin, RunID: "r", State: "BUILD", Plugin: "p", Text: "edits a.go"})
	wait(t, "seen", func() bool { return len(Read(ws)) == 1 })
	p := Read(ws)[0]
	if p.PID != os.Getpid() || p.Command != "relay run" || p.Now.Doing[0].Acts[0].Text != "edits a.go" || p.Log[len(p.Log)-1].Text != "p: edits a.go" {
		t.Errorf("%+v", p)
	}
	for range 10 * kept {
		r.Observe(progress.Event{Kind: progress.Notice, Text: "again"})
	}
	wait(t, "the log is short", func() bool { p := Read(ws); return len(p) == 1 && len(p[0].Log) == kept })
	r.End()
	r.Observe(progress.Event{Kind: progress.Notice, Text: "too late"})
	if left, _ := os.ReadDir(dir(ws)); len(left) != 0 || heard != 2+10*kept+1 {
		t.Errorf("left %v, heard %d", left, heard)
	}
}

// What somebody else put there is no relay at work: a process that is gone, a link, a file
// of another name.
func TestForgedPulses(t *testing.T) {
	ws := open(t)
	if err := ws.Ensure(); err != nil {
		t.Fatal(err)
	}
	r := Record(ws, "relay run", nil)
	r.Observe(progress.Event{Kind: progress.Notice, Text: "x"})
	wait(t, "seen", func() bool { return len(Read(ws)) == 1 })
	mine, err := os.ReadFile(r.file())
	if err != nil {
		t.Fatal(err)
	}
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	dead := strconv.Itoa(gone.Process.Pid)
	outside := filepath.Join(t.TempDir(), "outside")
	for name, text := range map[string]string{
		dead + ".json": strings.Replace(string(mine), strconv.Itoa(os.Getpid()), dead, 1), "1.json": string(mine), "2.json": "{",
	} {
		if err := os.WriteFile(filepath.Join(dir(ws), name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(outside, mine, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir(ws), "3.json")); err != nil {
		t.Fatal(err)
	}
	if all := Read(ws); len(all) != 1 {
		t.Errorf("%+v", all)
	}
	r.End()
	if all := Read(ws); len(all) != 0 {
		t.Errorf("%+v", all)
	}
}
