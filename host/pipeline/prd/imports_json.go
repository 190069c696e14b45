package prd

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// What the words of other tools mean here.
var (
	beadsStates      = map[string]Status{"closed": Completed, "in_progress": InProgress, "open": Pending, "": Pending}
	taskMasterStates = map[string]Status{"done": Completed, "completed": Completed, "cancelled": Skipped, "in-progress": InProgress, "pending": Pending, "": Pending}
)

// status is what a word of another tool means here; one that means nothing is named.
func (im *importer) status(where, word string, means map[string]Status) Status {
	if s, ok := means[word]; ok {
		return s
	}
	im.lose(where, "the status %q, now pending", word)
	return Pending
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
			Type                                  string     `json:"issue_type"`
			ClosedAt                              *time.Time `json:"closed_at"`
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
		if t.Status = im.status(is.ID, is.Status, beadsStates); t.Status == Completed {
			t.CompletedAt = is.ClosedAt
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
		for _, k := range []string{"created_at", "created_by", "updated_at"} {
			if raw[k] != nil {
				im.common[fmt.Sprintf("the field %q", k)]++
			}
		}
		if is.Type != "" && is.Type != "task" {
			im.common[fmt.Sprintf("the type %q", is.Type)]++
		}
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
		im.rest("the file", doc, "tasks")
		return im.taskMasterList("", list)
	}
	for _, tag := range slices.Sorted(maps.Keys(doc)) {
		var under map[string]json.RawMessage
		if json.Unmarshal(doc[tag], &under) != nil || under["tasks"] == nil {
			im.lose(tag, "the field %q", tag)
			continue
		}
		im.rest(tag, under, "tasks")
		prefix := tag + "-"
		if len(doc) == 1 {
			prefix = ""
		}
		if err := im.taskMasterList(prefix, under["tasks"]); err != nil {
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
		t.Status = im.status(t.ID, m.Status, taskMasterStates)
		for _, d := range m.Dependencies {
			t.DependsOn = append(t.DependsOn, name(d))
		}
		t.AcceptanceCriteria = lines(m.TestStrategy)
		for _, s := range m.Subtasks {
			t.AcceptanceCriteria = append(t.AcceptanceCriteria, s.Title)
		}
		if len(m.Subtasks) > 0 {
			im.lose(t.ID, "its %d subtasks as tasks: their titles became acceptance criteria", len(m.Subtasks))
		}
		im.rest(t.ID, raws[i], "id", "title", "description", "status", "priority", "details", "testStrategy", "dependencies", "subtasks")
		im.tasks = append(im.tasks, t)
	}
	return nil
}
