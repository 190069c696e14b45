package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/paxiom/relay/host/internal/workspace"
)

// The groups that calls are added up by.
const (
	ByRun       = "run"
	ByDay       = "day" // where the person is
	ByProvider  = "provider"
	ByModel     = "model"
	ByRole      = "role"
	ByCycle     = "cycle"
	ByMilestone = "milestone"
)

// Totals are sums of calls, in all and by group.
type Totals struct {
	All   Sum             `json:"all"`
	Days  map[string]*Day `json:"days"`
	Names map[string]sums `json:"names"` // by group: providers, models, roles, cycles
	// Milestones are those of runs that are over. A run's first call, the one that
	// proposes the task, is made before its milestone is known.
	Milestones sums       `json:"milestones"`
	Late       []*runSum  `json:"late"` // the newest runs, which may go on
	runs       sums       // not kept: there is one for each
	late       lateByName // of Late
}

type (
	sums       map[string]*Sum
	lateByName map[string]*runSum
)

// Day is one day's sum, with its first and last call: they tell whether it still is one
// day when the person has moved to another time zone.
type Day struct {
	Sum
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
}

// runSum is a run's sum, and its milestone as far as that is known.
type runSum struct {
	Run       string `json:"run"`
	Milestone string `json:"milestone,omitempty"`
	Sum       Sum    `json:"sum"`
}

// mostLate is how many of the newest runs may still get a milestone.
const mostLate = 256

// named are the groups in which a call has a name of its own.
var named = map[string]func(Line) string{
	ByProvider: func(l Line) string { return l.Provider },
	ByModel:    func(l Line) string { return l.Model },
	ByRole:     func(l Line) string { return l.Role },
	ByCycle:    func(l Line) string { return l.CycleID },
}

// NewTotals are those of no call.
func NewTotals() *Totals {
	t := &Totals{Days: map[string]*Day{}, Names: map[string]sums{}, Milestones: sums{}, runs: sums{}, late: lateByName{}}
	for group := range named {
		t.Names[group] = sums{}
	}
	return t
}

// Add adds one call.
func (t *Totals) Add(l Line) {
	t.All.Add(l)
	t.runs.of(l.RunID).Add(l)
	for group, name := range named {
		t.Names[group].of(name(l)).Add(l)
	}
	name := l.At.Local().Format(time.DateOnly)
	day := t.Days[name]
	if day == nil {
		day = &Day{First: l.At, Last: l.At}
		t.Days[name] = day
	}
	day.Add(l)
	if l.At.Before(day.First) {
		day.First = l.At
	}
	if l.At.After(day.Last) {
		day.Last = l.At
	}
	t.addLate(l)
}

func (t *Totals) addLate(l Line) {
	r := t.late[l.RunID]
	if r == nil {
		r = &runSum{Run: l.RunID}
		t.Late, t.late[l.RunID] = append(t.Late, r), r
	}
	r.Sum.Add(l)
	if l.MilestoneID != "" {
		r.Milestone = l.MilestoneID
	}
	for len(t.Late) > mostLate {
		over := t.Late[0]
		t.Milestones.of(over.Milestone).Merge(over.Sum)
		delete(t.late, over.Run)
		t.Late = t.Late[1:]
	}
}

func (s sums) of(name string) *Sum {
	if s[name] == nil {
		s[name] = &Sum{}
	}
	return s[name]
}

// By are the sums of a group by name; nil when there is no such group. Those by run are
// of the calls that were added one by one only.
func (t *Totals) By(group string) map[string]Sum {
	out := map[string]Sum{}
	add := func(from sums) map[string]Sum {
		for name, s := range from {
			out[name] = *s
		}
		return out
	}
	switch group {
	case ByRun:
		return add(t.runs)
	case ByDay:
		for name, d := range t.Days {
			out[name] = d.Sum
		}
		return out
	case ByMilestone:
		add(t.Milestones)
		for _, r := range t.Late {
			s := out[r.Milestone]
			s.Merge(r.Sum)
			out[r.Milestone] = s
		}
		return out
	}
	if t.Names[group] == nil {
		return nil
	}
	return add(t.Names[group])
}

// Of is one name's sum in a group.
func (t *Totals) Of(group, name string) Sum { return t.By(group)[name] }

// keepEvery is how many bytes of usage.jsonl are added up before that is kept.
var keepEvery = int64(128 << 10)

// kept is usage.sums.json: what the first bytes of usage.jsonl add up to. Check is over
// both, so that neither can have changed.
type kept struct {
	SchemaVersion int             `json:"schema_version"` // 2
	Bytes         int64           `json:"usage_bytes"`
	Check         uint32          `json:"check"`
	Totals        json.RawMessage `json:"totals"`
}

// AllTotals adds up all of usage.jsonl, but for its runs one by one. What was added up
// before is kept beside it, since a list of calls only grows: then it costs a checksum of
// what is old and the reading of what is new. Whatever does not fit is read anew.
func AllTotals(ws *workspace.Workspace) (*Totals, error) {
	f, err := openUsage(ws)
	if f == nil {
		return NewTotals(), err
	}
	defer f.Close()
	whole, err := wholeLines(f)
	if err != nil {
		return nil, err
	}
	t, from := readKept(ws, f, whole)
	add := func(u Line) error { t.Add(u); return nil }
	if err := usagesBetween(ws, from, whole, add); err != nil {
		return nil, err
	}
	if whole-from >= keepEvery {
		t.keep(ws, f, whole) // or the next look costs as much as this one
	}
	return t, usagesBetween(ws, whole, toEnd, add) // a line that may be under way
}

// readKept gives the kept totals and how far they reach, or those of nothing.
func readKept(ws *workspace.Workspace, usage io.ReaderAt, whole int64) (*Totals, int64) {
	raw, err := workspace.ReadFile(ws.UsageSums(), workspace.MaxRunnerFile)
	var k kept
	if err != nil || json.Unmarshal(raw, &k) != nil || k.SchemaVersion != 2 || k.Bytes > whole {
		return NewTotals(), 0
	}
	t := NewTotals()
	check, err := checksum(usage, k.Bytes, k.Totals)
	if err != nil || check != k.Check || json.Unmarshal(k.Totals, t) != nil {
		return NewTotals(), 0
	}
	for name, d := range t.Days {
		if d.First.Local().Format(time.DateOnly) != name || d.Last.Local().Format(time.DateOnly) != name {
			return NewTotals(), 0 // another time zone has other days
		}
	}
	for _, r := range t.Late {
		t.late[r.Run] = r
	}
	return t, k.Bytes
}

// keep writes the totals of so many bytes down. Who may not write here reads all of it
// each time.
func (t *Totals) keep(ws *workspace.Workspace, usage io.ReaderAt, bytes int64) {
	raw, err := json.Marshal(t)
	if err != nil {
		return
	}
	check, err := checksum(usage, bytes, raw)
	if err != nil {
		return
	}
	if raw, err = json.Marshal(kept{SchemaVersion: 2, Bytes: bytes, Check: check, Totals: raw}); err == nil {
		_ = workspace.WriteScratch(ws.UsageSums(), raw)
	}
}

// checksum is over the first n bytes of a file and a text. It finds what was changed by
// accident or by hand, and is some ten times as fast as reading the lines.
func checksum(f io.ReaderAt, n int64, text []byte) (uint32, error) {
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	got, err := io.CopyBuffer(sum, io.NewSectionReader(f, 0, n), make([]byte, 256<<10))
	if err == nil && got != n {
		err = io.ErrUnexpectedEOF
	}
	sum.Write(text)
	return sum.Sum32(), err
}

// openUsage opens usage.jsonl; nil when there is none.
func openUsage(ws *workspace.Workspace) (*os.File, error) {
	fd, err := unix.Open(ws.Usage(), unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) {
		return nil, nil
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: ws.Usage(), Err: err}
	}
	return os.NewFile(uintptr(fd), ws.Usage()), nil
}

// wholeLines is the length of a file of lines up to the last one that has an end.
func wholeLines(f *os.File) (int64, error) {
	fi, err := f.Stat()
	if err != nil {
		return 0, err
	}
	chunk := make([]byte, 4<<10)
	for end := fi.Size(); end > 0; {
		part := chunk[:min(end, int64(len(chunk)))]
		if _, err := f.ReadAt(part, end-int64(len(part))); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			return end - int64(len(part)) + int64(i) + 1, nil
		}
		end -= int64(len(part))
	}
	return 0, nil
}
