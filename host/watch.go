package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/paxiom/relay/host/health"
	"github.com/paxiom/relay/host/internal/activitylog"
	"github.com/paxiom/relay/host/internal/lock"
	"github.com/paxiom/relay/host/internal/presence"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/loop"
	"github.com/paxiom/relay/host/pipeline"
)

type (
	// Entry is one relay at work, as it said of itself.
	PresenceEntry = presence.Entry
	// PulseLine is one thing that it did.
	PulseLine = presence.Line
)

// WatchResult is everything under way in one repository.
type WatchResult struct {
	Root     string          `json:"root"`
	Branch   string          `json:"branch,omitempty"`
	Needs    []Need          `json:"needs"`   // what waits for the operator, most urgent first
	Working  []PresenceEntry `json:"working"` // every relay at work
	Loop     *LoopSeen       `json:"loop,omitempty"`
	Cycles   []CycleLine     `json:"cycles"`          // in flight, and the last that ended
	Tasks    map[string]int  `json:"tasks,omitempty"` // by status
	Open     []*TaskAttempt  `json:"open,omitempty"`  // attempts at tasks that have not ended
	Runs     []RunLine       `json:"runs"`            // newest first
	Budgets  []BudgetLine    `json:"budgets,omitempty"`
	Alerts   []string        `json:"alerts,omitempty"` // caps of a day that are half used
	Log      []string        `json:"log,omitempty"`    // the end of today's
	Problem  *health.Check   `json:"problem,omitempty"`
	Next     string          `json:"next"`
	ExitCode int             `json:"exit_code"`
}

const (
	watchedRuns = 50
	watchedLog  = 200      // lines
	watchedTail = 64 << 10 // of the day's log, in bytes
)

// Watch says what is under way here, from files alone: it starts no process, takes no lock and
// writes nothing.
func (r *Repo) Watch(context.Context) (*WatchResult, error) {
	res := &WatchResult{Root: r.Root(), Needs: []Need{}, Working: []PresenceEntry{}, Cycles: []CycleLine{}, Runs: []RunLine{}}
	o, err := r.Look()
	if err != nil {
		f := BlockedConfig(err)
		res.Problem, res.Next, res.ExitCode = health.Failed("config", f), f.Fix, Explain(f.Code).ExitCode
		return res, nil
	}
	res.Working = append(res.Working, presence.Read(o.WS)...)
	state, info := lock.Look(o.WS.Lock())
	s := &StatusResult{Next: "`relay run`"}
	err = s.readWith(r, o, state, info, loop.Look(o.WS, func(pid int) bool { return res.works(pid) || state == lock.Held && info.PID == pid }))
	if err != nil {
		return nil, err
	}
	res.Branch, res.Loop, res.Problem, res.Next, res.ExitCode = s.Branch, s.Loop, s.Problem, s.Next, s.ExitCode
	res.Budgets, res.Alerts = s.Budgets, s.Alerts
	res.Cycles = append(res.Cycles, s.Cycles...)
	if s.LastCycle != nil {
		res.Cycles = append(res.Cycles, *s.LastCycle)
	}
	res.Needs = append(res.Needs, s.Needs...)
	res.tasks(r, o)
	if metas, err := o.History.List(watchedRuns); err == nil {
		for _, m := range metas {
			res.Runs = append(res.Runs, runLine(m))
		}
	}
	res.Log = lastLines(activitylog.File(o.WS.Logs(), r.Now()))
	if len(res.Needs) > 0 {
		res.ExitCode = ExitWaiting
	}
	return res, nil
}

func (w *WatchResult) works(pid int) bool {
	return slices.ContainsFunc(w.Working, func(p PresenceEntry) bool { return p.PID == pid })
}

// tasks adds where the pipeline stands, where there is one.
func (w *WatchResult) tasks(r *Repo, o *Opened) {
	_, list, err := r.TaskList()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil: // broken in the middle of an edit
		w.Open, _ = pipeline.Open(o.WS)
	default:
		w.Open, w.Tasks = r.OpenTasks(list), map[string]int{}
		for s, n := range list.Count() {
			w.Tasks[string(s)] = n
		}
	}
}

// lastLines is the end of a log.
func lastLines(file string) []string {
	f, err := os.OpenFile(file, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil || !fi.Mode().IsRegular() {
		return nil
	}
	b := make([]byte, min(fi.Size(), watchedTail))
	n, _ := f.ReadAt(b, fi.Size()-int64(len(b)))
	b = b[:n]
	if fi.Size() > watchedTail { // the first line has no beginning
		_, b, _ = bytes.Cut(b, []byte("\n"))
	}
	lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	if n == 0 {
		return nil
	}
	return lines[max(0, len(lines)-watchedLog):]
}

// WatchStamp changes when something may have changed of what Watch reads. It costs a few
// looks at folders, however much they hold.
func (r *Repo) WatchStamp() string {
	o, err := r.Look()
	if err != nil {
		return "error: " + err.Error()
	}
	var b strings.Builder
	stamp := func(path string) {
		if fi, err := os.Lstat(path); err == nil {
			fmt.Fprintf(&b, "%d %d ", fi.ModTime().UnixNano(), fi.Size())
		}
		b.WriteByte('\n')
	}
	ws := o.WS
	for _, path := range []string{ws.Dir(), ws.History(), ws.Usage(), ws.Lock(), ws.Cycles(), loop.Dir(ws), filepath.Join(ws.Dir(), "live"), filepath.Join(ws.Dir(), "pipeline"),
		activitylog.File(ws.Logs(), r.Now()), filepath.Join(o.Root, TasksFile), filepath.Join(o.Root, ".git", "HEAD"), ws.Journal()} {
		stamp(path)
	}
	for _, path := range []string{ws.Cycles(), filepath.Join(ws.Dir(), "pipeline", "tasks")} {
		entries, _ := os.ReadDir(path)
		for _, e := range entries {
			stamp(filepath.Join(path, e.Name()))
		}
	}
	for _, p := range presence.Read(ws) { // who was killed changes no file
		fmt.Fprintln(&b, p.PID)
	}
	state, _ := lock.Look(ws.Lock())
	fmt.Fprintln(&b, state)
	if last, _ := newest(loop.Dir(ws)); last != "" {
		stamp(last)
	}
	if last, _ := o.History.Latest(); last != "" {
		stamp(filepath.Dir(o.History.Path(last, "meta.json")))
	}
	return b.String()
}

// newest is the folder whose name comes last.
func newest(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) == 0 {
		return "", err
	}
	return filepath.Join(dir, entries[len(entries)-1].Name()), nil
}

// Known gives the repositories that this person trusted on this machine, and this one:
// those that are still there.
func (r *Repo) Known() []string {
	roots, _ := r.TrustStore().Roots()
	roots = append(roots, r.Root())
	slices.Sort(roots)
	return slices.DeleteFunc(slices.Compact(roots), func(root string) bool {
		if !filepath.IsAbs(root) {
			return true
		}
		_, err := workspace.FindRoot(root)
		return err != nil
	})
}
