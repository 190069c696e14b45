package presence

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/paxiom/relay/host/internal/lock"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/host/internal/workspace"
)

const (
	// every is how often a file is written at most; what is shorter leaves none at all.
	every = 500 * time.Millisecond
	// kept is how many lines of what happened are in a file.
	kept = 40
	// most is the longest file that is read.
	most = 1 << 20
)

// Entry is one relay at work.
type Entry struct {
	lock.Info
	Now progress.Now `json:"now"`
	Log []Line       `json:"log"`
}

// Line is one thing that happened.
type Line struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// Recorder writes the record of this process. It passes every event on.
type Recorder struct {
	ws *workspace.Workspace
	to progress.Observer

	mu    sync.Mutex
	p     Entry
	timer *time.Timer // set: something is not written yet
	ended bool
	wrote bool
}

// Record begins the record of a command. to may be nil.
func Record(ws *workspace.Workspace, command string, to progress.Observer) *Recorder {
	return &Recorder{ws: ws, to: to, p: Entry{Info: lock.Self(command)}}
}

// Observe takes one event of the workflow.
func (r *Recorder) Observe(e progress.Event) {
	if e.At.IsZero() {
		e.At = time.Now()
	}
	r.mu.Lock()
	r.p.Now.Take(e)
	if text := line(e); text != "" {
		r.p.Log = append(r.p.Log, Line{e.At, text})
		r.p.Log = r.p.Log[max(0, len(r.p.Log)-kept):]
	}
	if r.timer == nil && !r.ended {
		r.timer = time.AfterFunc(every, r.write)
	}
	r.mu.Unlock()
	if r.to != nil {
		r.to.Observe(e)
	}
}

// line is what stays of an event.
func line(e progress.Event) string {
	switch e.Kind {
	case progress.Finished:
		how := "done: "
		if e.Failed {
			how = "failed: "
		}
		return strings.TrimSpace(how + strings.ToLower(e.State) + "  " + e.Text)
	case progress.Plugin:
		if e.Plugin == "" {
			return e.Text
		}
		return e.Plugin + ": " + e.Text
	case progress.Notice:
		return "note: " + e.Text
	case progress.Waiting:
		return "waits until " + e.Until.Local().Format(time.DateTime) + ": " + e.Text
	}
	return ""
}

func dir(ws *workspace.Workspace) string { return filepath.Join(ws.Dir(), "live") }

func (r *Recorder) file() string { return filepath.Join(dir(r.ws), strconv.Itoa(r.p.PID)+".json") }

// write writes what is known now. Where it can't, nobody sees this process, and that is
// all.
func (r *Recorder) write() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timer = nil
	if r.ended {
		return
	}
	if fi, err := os.Lstat(r.ws.Dir()); err != nil || !fi.IsDir() {
		return // the workspace is not there yet, and it is not for this to make it
	}
	b, err := json.Marshal(r.p)
	if err != nil || r.ws.MkdirAll(dir(r.ws)) != nil {
		return
	}
	r.wrote = workspace.WriteScratch(r.file(), b) == nil || r.wrote
}

// End takes the file away.
func (r *Recorder) End() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	if r.timer != nil {
		r.timer.Stop()
	}
	if r.wrote {
		_ = os.Remove(r.file())
	}
}

// Read gives every relay at work in a workspace, the oldest first.
func Read(ws *workspace.Workspace) []Entry {
	entries, _ := os.ReadDir(dir(ws)) // none: nobody is at work
	var all []Entry
	for _, e := range entries {
		var p Entry
		b, err := workspace.ReadFile(filepath.Join(dir(ws), e.Name()), most)
		if err != nil || json.Unmarshal(b, &p) != nil || strconv.Itoa(p.PID)+".json" != e.Name() || !p.Alive() {
			continue
		}
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b Entry) int { return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.PID, b.PID)) })
	return all
}
