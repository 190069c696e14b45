package prd

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Loss is something of a foreign file that a task list has no place for.
type Loss struct {
	Where string `json:"where"` // a task's id there, or a line
	What  string `json:"what"`
}

// Format names a foreign kind of task list.
type Kind string

// The kinds that can be brought in.
const (
	Beads      Kind = "beads"       // JSON lines, one issue each
	TaskMaster Kind = "task-master" // tasks.json
	SpecKit    Kind = "spec-kit"    // tasks.md with T001-like ids
	Ralphex    Kind = "ralphex"     // a plan in Markdown with "### Task N" headings
)

// Kinds lists them.
func Kinds() []Kind { return []Kind{Beads, TaskMaster, SpecKit, Ralphex} }

// Guess tells the kind of a file from its name and its text, "" when it can't.
func Guess(name string, b []byte) Kind {
	text := string(b)
	switch ext := filepath.Ext(name); {
	case ext == ".jsonl":
		return Beads
	case ext == ".json":
		return TaskMaster
	case specTask.MatchString(text):
		return SpecKit
	case planTask.MatchString(text):
		return Ralphex
	}
	return ""
}

// Import reads a foreign task list. What it could not carry over is named, item by
// item; nothing is left out in silence. The tasks are checked like any list.
func Import(kind Kind, b []byte) ([]Task, []Loss, error) {
	im := &importer{}
	var err error
	switch kind {
	case Beads:
		err = im.beads(b)
	case TaskMaster:
		err = im.taskMaster(b)
	case SpecKit:
		im.specKit(string(b))
	case Ralphex:
		im.ralphex(string(b))
	default:
		err = fmt.Errorf("%q is none of the kinds %v", kind, Kinds())
	}
	if err != nil {
		return nil, nil, err
	}
	if len(im.tasks) == 0 {
		return nil, nil, fmt.Errorf("no tasks are in it that read as %s", kind)
	}
	im.mendBlockers()
	if _, err := Format(im.tasks); err != nil {
		return nil, nil, err
	}
	return im.tasks, im.losses, nil
}

type importer struct {
	tasks  []Task
	losses []Loss
}

func (im *importer) lose(where, format string, args ...any) {
	im.losses = append(im.losses, Loss{where, fmt.Sprintf(format, args...)})
}

// mendBlockers drops blockers that are not in the list, and says so.
func (im *importer) mendBlockers() {
	known := map[string]bool{}
	for _, t := range im.tasks {
		known[t.ID] = true
	}
	for i := range im.tasks {
		t := &im.tasks[i]
		t.DependsOn = slices.DeleteFunc(t.DependsOn, func(d string) bool {
			if !known[d] {
				im.lose(t.ID, "depends on %q, which is not in the file", d)
			}
			return !known[d]
		})
	}
}

var notID = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// id makes an id of any text.
func id(s string) string {
	s = strings.Trim(notID.ReplaceAllString(s, "-"), "-.")
	if len(s) > maxID {
		s = strings.TrimRight(s[:maxID], "-.")
	}
	return s
}

// IDOf makes an id of a title: its words in lower case, joined by hyphens.
func IDOf(title string) string { return id(strings.ToLower(title)) }

// lines makes criteria of a text, one a line, without list marks.
func lines(s string) []string {
	var out []string
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.TrimSpace(listMark.ReplaceAllString(line, ""))
		if line != "" {
			out = append(out, line)
		}
	}
	return out
}

var listMark = regexp.MustCompile(`^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s*)?`)

// rest names the fields of an object that were not read.
func (im *importer) rest(where string, object map[string]json.RawMessage, read ...string) {
	for _, k := range sortedRaw(object) {
		v := strings.TrimSpace(string(object[k]))
		if !slices.Contains(read, k) && v != `""` && v != "null" && v != "[]" && v != "{}" {
			im.lose(where, "the field %q", k)
		}
	}
}

func sortedRaw(m map[string]json.RawMessage) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// beads reads one issue a line. Blocking links become blockers; the others are named.
func (im *importer) beads(b []byte) error {
	for n, line := range strings.Split(string(b), "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		var raw map[string]json.RawMessage
		var is struct {
			ID, Title, Description, Status, Notes string
			Acceptance                            string `json:"acceptance_criteria"`
			Priority                              int
			Type                                  string `json:"issue_type"`
			Dependencies                          []struct {
				On   string `json:"depends_on_id"`
				Type string
			}
		}
		if err := json.Unmarshal([]byte(line), &raw); err != nil {
			return fmt.Errorf("line %d: %w", n+1, err)
		}
		if err := json.Unmarshal([]byte(line), &is); err != nil {
			return fmt.Errorf("line %d: %w", n+1, err)
		}
		if is.Status == "tombstone" || is.Type == "epic" {
			im.lose(is.ID, "the whole entry: %s", cmpOr(is.Status == "tombstone", "it was deleted there", "an epic groups tasks and is none"))
			continue
		}
		t := Task{ID: id(is.ID), Title: is.Title, Description: is.Description, Priority: is.Priority, AcceptanceCriteria: lines(is.Acceptance)}
		if is.Notes != "" {
			t.Notes = &is.Notes
		}
		switch is.Status {
		case "closed":
			t.Status = Completed
		case "open", "in_progress", "blocked", "":
			t.Status = Pending
		default:
			t.Status = Pending
			im.lose(is.ID, "the status %q, now pending", is.Status)
		}
		for _, d := range is.Dependencies {
			if d.Type == "blocks" || d.Type == "" {
				t.DependsOn = append(t.DependsOn, id(d.On))
			} else {
				im.lose(is.ID, "its link %q to %s", d.Type, d.On)
			}
		}
		im.rest(is.ID, raw, "id", "title", "description", "status", "notes", "acceptance_criteria", "priority", "dependencies",
			"created_at", "updated_at", "closed_at", "created_by", "issue_type")
		im.tasks = append(im.tasks, t)
	}
	return nil
}

func cmpOr(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// taskMaster reads tasks.json, with or without tags; subtasks become criteria.
func (im *importer) taskMaster(b []byte) error {
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(b, &doc); err != nil {
		return err
	}
	if list, ok := doc["tasks"]; ok {
		return im.taskMasterList("", list)
	}
	for _, tag := range sortedRaw(doc) {
		var under struct{ Tasks json.RawMessage }
		if json.Unmarshal(doc[tag], &under) != nil || under.Tasks == nil {
			im.lose(tag, "the field %q", tag)
			continue
		}
		prefix := tag + "-"
		if len(doc) == 1 {
			prefix = ""
		}
		if err := im.taskMasterList(prefix, under.Tasks); err != nil {
			return fmt.Errorf("%s: %w", tag, err)
		}
	}
	return nil
}

func (im *importer) taskMasterList(prefix string, list json.RawMessage) error {
	var raws []map[string]json.RawMessage
	var tasks []struct {
		ID                                            any
		Title, Description, Status, Priority, Details string
		TestStrategy                                  string
		Dependencies                                  []any
		Subtasks                                      []struct{ Title, Status string }
	}
	if err := json.Unmarshal(list, &raws); err != nil {
		return err
	}
	if err := json.Unmarshal(list, &tasks); err != nil {
		return err
	}
	name := func(v any) string { return id(prefix + "task-" + fmt.Sprint(v)) }
	for i, m := range tasks {
		t := Task{ID: name(m.ID), Title: m.Title, Description: strings.TrimSpace(m.Description + "\n\n" + m.Details)}
		t.Priority = map[string]int{"critical": 0, "high": 1, "medium": 2, "": 2, "low": 3}[m.Priority]
		switch m.Status {
		case "done", "completed":
			t.Status = Completed
		case "cancelled":
			t.Status = Skipped
		case "pending", "in-progress", "review", "deferred", "blocked", "":
			t.Status = Pending
		default:
			t.Status = Pending
			im.lose(t.ID, "the status %q, now pending", m.Status)
		}
		for _, d := range m.Dependencies {
			t.DependsOn = append(t.DependsOn, name(d))
		}
		t.AcceptanceCriteria = lines(m.TestStrategy)
		for _, s := range m.Subtasks {
			t.AcceptanceCriteria = append(t.AcceptanceCriteria, s.Title)
		}
		if len(m.Subtasks) > 0 {
			im.lose(t.ID, "its %d subtasks as tasks: they became acceptance criteria", len(m.Subtasks))
		}
		im.rest(t.ID, raws[i], "id", "title", "description", "status", "priority", "details", "testStrategy", "dependencies", "subtasks")
		im.tasks = append(im.tasks, t)
	}
	return nil
}

var (
	specTask  = regexp.MustCompile(`(?m)^\s*[-*]\s+\[([ xX])\]\s+(T\d+)\s+(.*)$`)
	specMark  = regexp.MustCompile(`^\[(P|US\d+)\]\s*`)
	mdHeading = regexp.MustCompile(`^#{2,6}\s+(.*)$`)
	planTask  = regexp.MustCompile(`(?m)^###\s+(?:Task|Iteration)\s+([\w.]+)\s*:?\s*(.*)$`)
	checkbox  = regexp.MustCompile(`^\s*[-*]\s+\[([ xX])\]\s+(.*)$`)
)

// specKit reads the check list: a task waits for those before it, but for neighbours
// marked [P] that may run side by side.
func (im *importer) specKit(text string) {
	var group, before []string // the tasks side by side now, and those before them
	parallel := false
	section := ""
	for n, line := range strings.Split(text, "\n") {
		if h := mdHeading.FindStringSubmatch(line); h != nil {
			section = h[1]
			continue
		}
		m := specTask.FindStringSubmatch(line)
		if m == nil {
			if strings.TrimSpace(line) != "" && checkbox.MatchString(line) {
				im.lose("line "+strconv.Itoa(n+1), "a box without an id: %s", strings.TrimSpace(line))
			}
			continue
		}
		title, p, of := m[3], false, section
		for mark := specMark.FindStringSubmatch(title); mark != nil; mark = specMark.FindStringSubmatch(title) {
			if p = p || mark[1] == "P"; mark[1] != "P" {
				of = strings.TrimPrefix(section+", "+mark[1], ", ") // the story
			}
			title = title[len(mark[0]):]
		}
		if !p || !parallel {
			if group != nil {
				before = group
			}
			group = nil
		}
		parallel = p
		t := Task{ID: m[2], Title: title, Status: Pending, DependsOn: slices.Clone(before), Description: of}
		if m[1] != " " {
			t.Status = Completed
		}
		group = append(group, t.ID)
		im.tasks = append(im.tasks, t)
	}
}

// ralphex reads a plan: each "### Task" is a task, its boxes are its criteria, and the
// plan's validation commands are tried after each.
func (im *importer) ralphex(text string) {
	var command Command
	section, now := "", -1
	ticked := map[int]int{}
	for n, line := range strings.Split(text, "\n") {
		where := "line " + strconv.Itoa(n+1)
		if m := planTask.FindStringSubmatch(line); m != nil {
			t := Task{ID: id("task-" + m[1]), Title: m[2], Status: Completed}
			if t.Title == "" {
				t.Title = "Task " + m[1]
			}
			if now >= 0 {
				t.DependsOn = []string{im.tasks[now].ID}
			}
			im.tasks = append(im.tasks, t)
			now, section = len(im.tasks)-1, "task"
			continue
		}
		if h := mdHeading.FindStringSubmatch(line); h != nil {
			section = strings.ToLower(h[1])
			continue
		}
		switch box := checkbox.FindStringSubmatch(line); {
		case section == "task" && box != nil:
			t := &im.tasks[now]
			t.AcceptanceCriteria = append(t.AcceptanceCriteria, box[2])
			if box[1] == " " {
				t.Status = Pending
			} else {
				ticked[now]++
			}
		case strings.HasPrefix(section, "validation") && listMark.MatchString(line):
			s := strings.Trim(strings.TrimSpace(listMark.ReplaceAllString(line, "")), "`")
			argv, err := Split(s)
			if err != nil {
				im.lose(where, "the validation command %q: %v", s, err)
			} else if command != nil {
				im.lose(where, "the validation command %q: a task has one; put both into a script", s)
			} else {
				command = argv
			}
		case box != nil:
			im.lose(where, "a box outside a task: %s", strings.TrimSpace(line))
		case section == "task" && strings.TrimSpace(line) != "":
			t := &im.tasks[now]
			t.Description = strings.TrimSpace(t.Description + "\n" + line)
		}
	}
	for i := range im.tasks {
		t := &im.tasks[i]
		t.Validation.Command = command
		if len(t.AcceptanceCriteria) == 0 {
			t.Status = Pending
		}
		if n := ticked[i]; n > 0 && t.Status == Pending {
			im.lose(t.ID, "that %d of its %d boxes are ticked: all of it is to be done", n, len(t.AcceptanceCriteria))
		}
	}
}
