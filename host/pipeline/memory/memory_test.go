package memory

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/paxiom/relay/host/diag"
)

func at(minute int) time.Time { return time.Date(2026, 4, 8, 12, minute, 0, 0, time.UTC) }

func TestBounds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "context.json")
	c, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range MaxTasks + 50 {
		c.Add(Entry{TaskID: fmt.Sprint("t", i), Title: "x", Done: strings.Repeat("é", 3000), At: at(i)}, strings.Repeat("ü", 900))
	}
	if err := c.Write(path); err != nil {
		t.Fatal(err)
	}
	b, _ := os.ReadFile(path)
	c, err = Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) > MaxBytes || len(c.Tasks) == 0 || len(c.Tasks) > MaxTasks || utf8.RuneCountInString(c.Summary) != MaxSummary {
		t.Errorf("%d bytes, %d tasks, %d characters", len(b), len(c.Tasks), utf8.RuneCountInString(c.Summary))
	}
	if last := c.Tasks[len(c.Tasks)-1]; last.TaskID != fmt.Sprint("t", MaxTasks+49) || utf8.RuneCountInString(last.Done) != MaxNote {
		t.Errorf("the newest is %s with %d characters", last.TaskID, utf8.RuneCountInString(last.Done))
	}
}

// TestConflict reads the file as git leaves it when two branches each added a task.
func TestConflict(t *testing.T) {
	path := filepath.Join(t.TempDir(), "context.json")
	a, b := &Context{}, &Context{}
	a.Add(Entry{TaskID: "one", Title: "One", At: at(1)}, "first")
	b.Add(Entry{TaskID: "one", Title: "One", At: at(1)}, "first")
	a.Add(Entry{TaskID: "two", Title: "Two", At: at(2)}, "ours")
	b.Add(Entry{TaskID: "three", Title: "Three", At: at(3)}, "theirs")
	text := "<<<<<<< HEAD\n" + string(a.encode()) + "||||||| base\nrubbish\n=======\n" + string(b.encode()) + ">>>>>>> other\n"
	os.WriteFile(path, []byte(text), 0o644)
	c, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, e := range c.Tasks {
		ids = append(ids, e.TaskID)
	}
	if got := strings.Join(ids, " "); got != "one two three" || c.Summary != "theirs" {
		t.Errorf("%s, %q", got, c.Summary)
	}
}

func TestBroken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "context.json")
	for _, text := range []string{"{", `{"version":1,"summary":"x","tasks":[]}x`, "<<<<<<< a\n{}\n", `{"summary":7}`} {
		os.WriteFile(path, []byte(text), 0o644)
		_, err := Read(path)
		if f, ok := diag.As(err); !ok || !strings.Contains(f.Fix, "`relay recover`") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
