package prd

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
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
	im := &importer{common: map[string]int{}}
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
	im.sayCommon()
	if _, err := Format(im.tasks); err != nil {
		return nil, nil, err
	}
	return im.tasks, im.losses, nil
}

type importer struct {
	tasks  []Task
	losses []Loss
	common map[string]int // what many entries have, by how many
	text   block
}

// block is text that belongs to no task, line after line.
type block struct {
	first, last int
	words       string // of its first line
}

func (im *importer) lose(where, format string, args ...any) {
	im.losses = append(im.losses, Loss{where, fmt.Sprintf(format, args...)})
}

// sayCommon names once what many entries have and none of the tasks.
func (im *importer) sayCommon() {
	for _, what := range slices.Sorted(maps.Keys(im.common)) {
		im.lose(fmt.Sprintf("%d in all", im.common[what]), "%s", what)
	}
}

// prose sees a line that belongs to no task; an empty one, or any other, ends the block.
func (im *importer) prose(n int, line string) {
	if line = strings.TrimSpace(line); line == "" {
		im.endProse()
		return
	}
	if im.text.first == 0 {
		im.text = block{first: n, words: line}
	}
	im.text.last = n
}

func (im *importer) endProse() {
	t := im.text
	im.text = block{}
	words := []rune(t.words)
	if len(words) > 60 {
		words = append(words[:59], '…')
	}
	switch {
	case t.first == 0:
	case t.first == t.last:
		im.lose(fmt.Sprintf("line %d", t.first), "text: %s", string(words))
	default:
		im.lose(fmt.Sprintf("lines %d to %d", t.first, t.last), "text: %s", string(words))
	}
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
	for _, k := range slices.Sorted(maps.Keys(object)) {
		v := strings.TrimSpace(string(object[k]))
		if !slices.Contains(read, k) && v != `""` && v != "null" && v != "[]" && v != "{}" {
			im.lose(where, "the field %q", k)
		}
	}
}
