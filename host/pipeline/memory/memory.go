package memory

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/strictjson"
	"github.com/paxiom/relay/host/internal/workspace"
)

// Bounds of the file; what is older is dropped first.
const (
	MaxSummary = 500       // characters of the rolling summary
	MaxNote    = 1000      // characters kept of what a task did
	MaxTasks   = 200       // tasks that are remembered
	MaxBytes   = 256 << 10 // of the whole file
)

// Entry is one finished task.
type Entry struct {
	TaskID  string    `json:"task_id"`
	Title   string    `json:"title"`
	Done    string    `json:"done"` // what was done, in the builder's words
	Commits []string  `json:"commits"`
	At      time.Time `json:"at"`
}

// Context is the whole memory.
type Context struct {
	Version int     `json:"version"`
	Summary string  `json:"summary"` // key decisions, at most MaxSummary characters
	Tasks   []Entry `json:"tasks"`   // oldest first
}

// Read gives the memory in a file; a file that is not there is an empty one. A merge
// conflict in it is joined.
func Read(path string) (*Context, error) {
	b, err := workspace.ReadFile(path, MaxBytes*3)
	if errors.Is(err, fs.ErrNotExist) {
		return &Context{Version: 1}, nil
	}
	if err != nil {
		return nil, workspace.Unreadable(path, err)
	}
	c, err := parse(b)
	if err != nil {
		return nil, workspace.Unreadable(path, err)
	}
	return c, nil
}

func parse(b []byte) (*Context, error) {
	if ours, theirs, ok := sides(b); ok {
		a, err := parse(ours)
		if err != nil {
			return nil, err
		}
		c, err := parse(theirs)
		if err != nil {
			return nil, err
		}
		return Merge(a, c), nil
	}
	c := &Context{}
	if err := strictjson.Unmarshal(b, c); err != nil {
		return nil, err
	}
	c.bound()
	return c, nil
}

// sides takes a file with git's conflict marks apart.
func sides(b []byte) (ours, theirs []byte, conflict bool) {
	in := 0 // 1: ours, 2: the base, 3: theirs
	for line := range bytes.Lines(b) {
		switch {
		case bytes.HasPrefix(line, []byte("<<<<<<<")):
			in, conflict = 1, true
		case bytes.HasPrefix(line, []byte("|||||||")) && in == 1:
			in = 2
		case bytes.HasPrefix(line, []byte("=======")) && in > 0:
			in = 3
		case bytes.HasPrefix(line, []byte(">>>>>>>")) && in > 0:
			in = 0
		default:
			if in == 0 || in == 1 {
				ours = append(ours, line...)
			}
			if in == 0 || in == 3 {
				theirs = append(theirs, line...)
			}
		}
	}
	return ours, theirs, conflict && in == 0
}

// Merge joins two memories that grew apart: every task once, by time; the summary of
// the side that was written last.
func Merge(a, b *Context) *Context {
	out := &Context{Version: 1, Summary: a.Summary}
	if b.last().After(a.last()) && b.Summary != "" {
		out.Summary = b.Summary
	}
	for _, e := range slices.Concat(a.Tasks, b.Tasks) {
		i := slices.IndexFunc(out.Tasks, func(x Entry) bool { return x.TaskID == e.TaskID })
		switch {
		case i < 0:
			out.Tasks = append(out.Tasks, e)
		case e.At.After(out.Tasks[i].At):
			out.Tasks[i] = e
		}
	}
	slices.SortStableFunc(out.Tasks, func(x, y Entry) int { return x.At.Compare(y.At) })
	out.bound()
	return out
}

func (c *Context) last() time.Time {
	if len(c.Tasks) == 0 {
		return time.Time{}
	}
	return c.Tasks[len(c.Tasks)-1].At
}

// Add remembers a finished task; a task that is there already is replaced. summary ""
// keeps the summary that there was.
func (c *Context) Add(e Entry, summary string) {
	c.Tasks = append(slices.DeleteFunc(c.Tasks, func(x Entry) bool { return x.TaskID == e.TaskID }), e)
	if strings.TrimSpace(summary) != "" {
		c.Summary = summary
	}
	c.bound()
}

// bound keeps the memory within its limits.
func (c *Context) bound() {
	c.Version = 1
	c.Summary = cut(strings.TrimSpace(c.Summary), MaxSummary)
	for i := range c.Tasks {
		c.Tasks[i].Title, c.Tasks[i].Done = cut(c.Tasks[i].Title, MaxNote), cut(strings.TrimSpace(c.Tasks[i].Done), MaxNote)
		if c.Tasks[i].Commits == nil {
			c.Tasks[i].Commits = []string{}
		}
	}
	if n := len(c.Tasks) - MaxTasks; n > 0 {
		c.Tasks = slices.Delete(c.Tasks, 0, n)
	}
	for len(c.Tasks) > 1 && len(c.encode()) > MaxBytes {
		c.Tasks = slices.Delete(c.Tasks, 0, 1)
	}
	if c.Tasks == nil {
		c.Tasks = []Entry{}
	}
}

// cut keeps at most n characters of valid text.
func cut(s string, n int) string {
	return format.Clip(strings.ToValidUTF8(s, "\uFFFD"), n)
}

func (c *Context) encode() []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	_ = enc.Encode(c) // plain values: it can't fail
	return b.Bytes()
}

// Write puts the memory into a file in one piece.
func (c *Context) Write(path string) error {
	c.bound()
	return workspace.WriteFile(path, c.encode())
}
