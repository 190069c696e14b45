package prd

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/paxiom/relay/host/internal/strictjson"
	"github.com/paxiom/relay/judge"
)

// Problem is one thing that is wrong with a task list.
type Problem = strictjson.Problem

// Error names everything that is wrong with a task list.
type Error = strictjson.Problems

// maxID is the longest id; ids become names of files and branches.
const maxID = 64

// ValidID says why an id can't be one, "" when it can.
func ValidID(id string) string {
	ok := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r)
	}
	switch {
	case id == "":
		return "is missing"
	case len(id) > maxID:
		return fmt.Sprintf("is longer than %d characters", maxID)
	case strings.ContainsFunc(id, func(r rune) bool { return !ok(r) }) || !unicode.IsLetter(rune(id[0])) && !unicode.IsDigit(rune(id[0])),
		strings.HasSuffix(id, ".lock"), strings.HasSuffix(id, "."), strings.Contains(id, ".."):
		return fmt.Sprintf("%q: write letters, digits, - _ and . only, beginning with a letter or digit, without .. and without . or .lock at the end", id)
	}
	return ""
}

// check fills the index and looks at each task by itself, then at the graph.
func (l *List) check() []Problem {
	var ps []Problem
	add := func(path, format string, args ...any) {
		ps = append(ps, Problem{Path: path, Reason: fmt.Sprintf(format, args...)})
	}
	l.index = make(map[string]int, len(l.Tasks))
	for i, t := range l.Tasks {
		at := strictjson.Index("tasks", i)
		if why := ValidID(t.ID); why != "" {
			add(at+".id", "%s", why)
			continue
		}
		if first, ok := l.index[t.ID]; ok {
			add(at+".id", "%q is the id of tasks[%d] too", t.ID, first)
			continue
		}
		l.index[t.ID] = i
		if strings.TrimSpace(t.Title) == "" {
			add(at+".title", "is missing")
		}
		if !slices.Contains([]Status{Pending, InProgress, Completed, Failed, Skipped}, t.Status) {
			add(at+".status", "%q is none of pending, in_progress, completed, failed, skipped", t.Status)
		}
		if t.Scope != nil {
			for _, g := range slices.Concat(t.Scope.AllowedGlobs, t.Scope.ForbiddenGlobs) {
				if err := judge.ValidGlob(g); err != nil {
					add(at+".scope", "the pattern %q %v", g, err)
				}
			}
		}
	}
	for i, t := range l.Tasks {
		for j, d := range t.DependsOn {
			if _, ok := l.index[d]; !ok {
				add(strictjson.Index(strictjson.Index("tasks", i)+".depends_on", j), "there is no task %q%s", d, l.like(d))
			}
		}
	}
	if len(ps) == 0 {
		if c := l.cycle(); c != nil {
			add("tasks", "a circle of blockers: %s", strings.Join(c, " → "))
		}
	}
	return ps
}

// like names the id that a wrong one probably meant.
func (l *List) like(id string) string {
	fold := func(s string) string { return strings.Map(letters, strings.ToLower(s)) }
	for _, t := range l.Tasks {
		if fold(t.ID) == fold(id) {
			return fmt.Sprintf("; %q is one", t.ID)
		}
	}
	return ""
}

func letters(r rune) rune {
	if unicode.IsLetter(r) || unicode.IsDigit(r) {
		return r
	}
	return -1
}

// cycle gives a circle of blockers as the ids along it, the first one again at the
// end; nil when there is none. It keeps its own stack: a chain may be as long as the
// list.
func (l *List) cycle() []string {
	const fresh, open, closed = 0, 1, 2
	state := make([]int, len(l.Tasks))
	type frame struct{ task, next int }
	for root := range l.Tasks {
		if state[root] != fresh {
			continue
		}
		state[root] = open
		stack := []frame{{task: root}}
		for len(stack) > 0 {
			f := &stack[len(stack)-1]
			deps := l.Tasks[f.task].DependsOn
			if f.next == len(deps) {
				state[f.task] = closed
				stack = stack[:len(stack)-1]
				continue
			}
			to := l.index[deps[f.next]]
			f.next++
			switch state[to] {
			case open:
				var ids []string
				for i := range stack {
					if stack[i].task == to || len(ids) > 0 {
						ids = append(ids, l.Tasks[stack[i].task].ID)
					}
				}
				return append(ids, l.Tasks[to].ID)
			case fresh:
				state[to] = open
				stack = append(stack, frame{task: to})
			}
		}
	}
	return nil
}

// Doubts are what a valid list still leaves open: a task that nothing can say "done"
// about, and one that nobody would ever reach.
func (l *List) Doubts() []string {
	var out []string
	held := l.Held()
	for i := range l.Tasks {
		t := &l.Tasks[i]
		if t.Status.over() {
			continue
		}
		if len(t.AcceptanceCriteria) == 0 && len(t.Validation.Command) == 0 {
			out = append(out, fmt.Sprintf("%s has neither acceptance criteria nor a validation command: nothing can say when it is done", t.ID))
		}
		if by := held[t.ID]; by != "" {
			out = append(out, fmt.Sprintf("%s can't start, since %s failed", t.ID, by))
		}
	}
	return out
}
