package prd

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tidwall/sjson"
)

// Edit changes one task list into another. It works on the bytes, so that what relay
// does not know, and how the rest is laid out, stays.
type Edit func(l *List) ([]byte, error)

// Set changes fields of the task with this id; keys are the names in the file, such as
// "status" or "artifacts.plan".
func Set(id string, fields map[string]any) Edit {
	return func(l *List) ([]byte, error) {
		i, ok := l.index[id]
		if !ok {
			return nil, fmt.Errorf("there is no task %q%s", id, l.like(id))
		}
		b := l.raw
		for _, key := range slices.Sorted(maps.Keys(fields)) {
			var err error
			if b, err = sjson.SetBytes(b, fmt.Sprintf("tasks.%d.%s", i, key), fields[key]); err != nil {
				return nil, err
			}
		}
		return b, nil
	}
}

// SetStatus says where a task stands now. Only a completed one keeps the time; note ""
// leaves the task's notes alone.
func SetStatus(id string, s Status, at time.Time, note string) Edit {
	fields := map[string]any{"status": s, "completed_at": nil}
	if s == Completed {
		fields["completed_at"] = at.UTC().Truncate(time.Second)
	}
	if note != "" {
		fields["notes"] = note
	}
	return Set(id, fields)
}

// Add puts a new task behind the others.
func Add(t Task) Edit {
	return func(l *List) ([]byte, error) {
		if l.Find(t.ID) != nil {
			return nil, fmt.Errorf("there is a task %q already", t.ID)
		}
		t.DependsOn, t.AcceptanceCriteria = empty(t.DependsOn), empty(t.AcceptanceCriteria)
		t.Status = cmp.Or(t.Status, Pending)
		var b bytes.Buffer
		b.WriteString("\n    ") // the place of a task in a list as relay lays it out
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("    ", "  ")
		if err := enc.Encode(t); err != nil {
			return nil, err
		}
		return sjson.SetRawBytes(l.raw, "tasks.-1", bytes.TrimRight(b.Bytes(), "\n"))
	}
}

// Depend makes a task wait for others, or no longer.
func Depend(id string, on, off []string) Edit {
	return func(l *List) ([]byte, error) {
		t := l.Find(id)
		if t == nil {
			return nil, fmt.Errorf("there is no task %q%s", id, l.like(id))
		}
		deps := slices.DeleteFunc(slices.Clone(t.DependsOn), func(d string) bool { return slices.Contains(off, d) })
		for _, d := range on {
			if !slices.Contains(deps, d) {
				deps = append(deps, d)
			}
		}
		return Set(id, map[string]any{"depends_on": empty(deps)})(l)
	}
}

// empty makes a list that JSON shows as [].
func empty(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// indent lays a whole list out anew, two spaces deep.
func indent(b []byte) ([]byte, error) {
	var out bytes.Buffer
	if err := json.Indent(&out, bytes.TrimSpace(b), "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// Format gives a new list as a file.
func Format(tasks []Task) ([]byte, error) {
	b := []byte(`{"tasks":[]}`)
	l, err := Parse(b)
	for i := 0; err == nil && i < len(tasks); i++ {
		t := tasks[i]
		t.DependsOn, t.AcceptanceCriteria = empty(t.DependsOn), empty(t.AcceptanceCriteria)
		t.Status = cmp.Or(t.Status, Pending)
		l.raw, err = sjson.SetBytes(l.raw, "tasks.-1", t)
	}
	if err != nil {
		return nil, err
	}
	if b, err = indent(l.raw); err != nil {
		return nil, err
	}
	_, err = Parse(b)
	return b, err
}
