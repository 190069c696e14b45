package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// attempted is a run, a tick of a loop, or a task.
type attempted struct {
	TaskID  string `json:"task_id"`
	Intent  string `json:"intent"`
	Code    string `json:"code"`
	Summary string `json:"summary"`
	Why     string `json:"why"`
	Commit  string `json:"commit"`
	Task    struct {
		Intent string `json:"intent"`
	} `json:"task"`
}

func (a *attempted) String() string {
	text := a.Code
	for _, part := range []string{a.TaskID, a.Intent, a.Task.Intent, a.Summary, a.Why} {
		if part != "" {
			text += "  " + part
		}
	}
	if a.Commit != "" {
		text += "  " + a.Commit[:min(12, len(a.Commit))]
	}
	return text + "\n"
}

// told is what relay printed of a run, for a terminal: how it ended and what it made. What is no document of relay stays as it is.
func told(id string, raw []byte) string {
	var d struct {
		Kind        string
		Report      *attempted
		Reason, Why string
		Ticks       []*attempted
		Tasks       []*attempted
		Counts      map[string]int
		Held        map[string]string
		Cycle       *struct{ State, Branch string }
	}
	if json.Unmarshal(raw, &d) != nil || d.Kind == "" {
		return visible(string(raw)) + "\n"
	}
	text := ""
	if d.Reason != "" {
		text += d.Reason + "  " + d.Why + "\n"
	}
	for _, a := range slices.Concat(d.Ticks, d.Tasks) {
		text += "  " + a.String()
	}
	if d.Report != nil && len(d.Ticks) == 0 {
		text += d.Report.String()
	}
	if d.Cycle != nil {
		text += "cycle  " + d.Cycle.State + "  " + d.Cycle.Branch + "\n"
	}
	var counts []string
	for _, status := range slices.Sorted(maps.Keys(d.Counts)) {
		counts = append(counts, fmt.Sprintf("%s %d", status, d.Counts[status]))
	}
	if len(counts) > 0 {
		text += "tasks: " + strings.Join(counts, ", ") + "\n"
	}
	for _, task := range slices.Sorted(maps.Keys(d.Held)) {
		text += "  " + task + " waits for " + d.Held[task] + ", which failed\n"
	}
	return visible(text) + "next: relay fleet report " + id + " --json shows all of it\n"
}
