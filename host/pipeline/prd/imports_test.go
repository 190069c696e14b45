package prd

import (
	"fmt"
	"strings"
	"testing"
)

// shape is a list of tasks in few words.
func shape(ts []Task) string {
	var b strings.Builder
	for _, t := range ts {
		fmt.Fprintf(&b, "%s|%s|%s|%d|%s|%s|%s\n", t.ID, t.Title, t.Status, t.Priority, strings.Join(t.DependsOn, ","),
			strings.Join(t.AcceptanceCriteria, ";"), strings.Join(t.Validation.Command, " "))
	}
	return b.String()
}

func TestImport(t *testing.T) {
	for name, c := range map[string]struct {
		file, text, tasks string
		lost              []string
	}{
		"beads": {"issues.jsonl", `{"id":"bd-1","title":"First","status":"closed","priority":1,"issue_type":"task","created_at":"2025-01-10T10:00:00Z","closed_at":"2025-01-11T10:00:00Z"}
{"id":"bd-2","title":"Second","status":"in_progress","priority":0,"acceptance_criteria":"- [ ] one\n- two","labels":["x"],"dependencies":[{"issue_id":"bd-2","depends_on_id":"bd-1","type":"blocks"},{"depends_on_id":"bd-9","type":"parent-child"},{"depends_on_id":"bd-7","type":"blocks"}]}
{"id":"bd-9","title":"All","status":"open","issue_type":"epic"}
`, "bd-1|First|completed|1|||\nbd-2|Second|in_progress|0|bd-1|one;two|\n",
			[]string{`1 in all: the field "created_at"`, `bd-2: its link "parent-child" to bd-9`, `bd-2: the field "labels"`, `bd-9: the whole entry`, `bd-2: depends on "bd-7"`}},
		"task-master": {"tasks.json", `{"master":{"tasks":[{"id":1,"title":"A","status":"done","priority":"high","dependencies":[],"subtasks":[]},
			{"id":2,"title":"B","description":"d","status":"pending","priority":"low","dependencies":[1],"testStrategy":"run it","subtasks":[{"id":1,"title":"s","status":"pending"}],"complexityScore":5},
			{"id":3,"title":"C","status":"in-progress","dependencies":[]},{"id":4,"title":"D","status":"deferred","dependencies":[]}],"metadata":{"version":"1"}}}`,
			"task-1|A|completed|1|||\ntask-2|B|pending|3|task-1|run it;s|\ntask-3|C|in_progress|2|||\ntask-4|D|pending|2|||\n",
			[]string{`task-4: the status "deferred", now pending`, `master: the field "metadata"`, "task-2: its 1 subtasks", `task-2: the field "complexityScore"`}},
		"spec-kit": {"tasks.md", `# Tasks
## Phase 1: Setup
**Goal**: a start
that goes quickly
- [x] T001 Make the folders
- [ ] T002 [P] Lint
  with the team's rules
### Code
- [ ] T003 [P] [US1] Format in a.go
- [ ] T004 Join
- [ ] no id here
`, "T001|Make the folders|completed|0|||\nT002|Lint|pending|0|T001||\nT003|Format in a.go|pending|0|T001||\nT004|Join|pending|0|T002,T003||\n",
			[]string{"line 1: text: # Tasks", "lines 3 to 4: text: **Goal**: a start", "line 11: a box without an id"}},
		"ralphex": {"plan.md", "# Plan\n## Overview\nwhy\n## Validation Commands\n- `go test ./...`\n- `go vet ./... && echo`\n### Task 1: Parse\n- [x] read\n- [x] test\n### Task 2: Print\nwords\n- [x] open\n- [ ] write\n## Later\n- [ ] outside\n",
			"task-1|Parse|completed|0||read;test|go test ./...\ntask-2|Print|pending|0|task-1|open;write|go test ./...\n",
			[]string{"line 1: text: # Plan", "line 3: text: why", "line 6: the validation command", "line 15: a box outside", "task-2: that 1 of its 2 boxes"}},
	} {
		kind := Guess(c.file, []byte(c.text))
		if string(kind) != name {
			t.Errorf("%s is taken for %q", name, kind)
		}
		tasks, losses, err := Import(kind, []byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if name == "spec-kit" && (tasks[2].Description != "Phase 1: Setup, Code, US1" || tasks[1].Description != "Phase 1: Setup\nwith the team's rules") {
			t.Errorf("the story is %q, after %q", tasks[2].Description, tasks[1].Description)
		}
		if name == "beads" && (tasks[0].CompletedAt == nil || tasks[0].CompletedAt.Day() != 11) {
			t.Errorf("closed at %v", tasks[0].CompletedAt)
		}
		if got := shape(tasks); got != c.tasks {
			t.Errorf("%s:\n%swant\n%s", name, got, c.tasks)
		}
		var said string
		for _, l := range losses {
			said += l.Where + ": " + l.What + "\n"
		}
		for _, want := range c.lost {
			if !strings.Contains(said, want) {
				t.Errorf("%s: %q is not said in\n%s", name, want, said)
			}
		}
		if len(losses) != len(c.lost) {
			t.Errorf("%s: %d losses, want %d:\n%s", name, len(losses), len(c.lost), said)
		}
	}
	for _, k := range append(Kinds(), "nonsense") {
		for _, text := range []string{"", "{", "{}", "# nothing\n", `{"id":`, `[]`} {
			if tasks, _, err := Import(k, []byte(text)); err == nil {
				t.Errorf("%s took %q as %v", k, text, tasks)
			}
		}
	}
}

// BenchmarkNext is the look for the next task in a list of ten thousand: unchanged on
// disk, and after an edit by the operator.
func BenchmarkNext(b *testing.B) {
	var tasks strings.Builder
	tasks.WriteString(`{"tasks":[`)
	for i := range 10_000 {
		if i > 0 {
			fmt.Fprintf(&tasks, `,{"id":"t%d","title":"Task %d","priority":%d,"depends_on":["t%d"],"acceptance_criteria":["it works"],"validation":{"command":"go test ./..."}}`, i, i, i%5, i/2)
		} else {
			tasks.WriteString(`{"id":"t0","title":"x","status":"completed"}`)
		}
	}
	tasks.WriteString(`]}`)
	text := []byte(tasks.String())
	l, err := Parse(text)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("list", func(b *testing.B) {
		for b.Loop() {
			if len(l.Ready()) == 0 {
				b.Fatal("nothing is ready")
			}
		}
	})
	b.Run("parse", func(b *testing.B) {
		for b.Loop() {
			if _, err := Parse(text); err != nil {
				b.Fatal(err)
			}
		}
	})
}
