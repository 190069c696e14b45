package prd

import (
	"fmt"
	"strconv"
	"strings"
)

// Marks are the signs of the statuses in a drawn tree; each says the same without
// color.
var marks = map[Status]string{Pending: "○", InProgress: "◐", Completed: "✓", Failed: "✗", Skipped: "–"}

// Tree draws the graph for a terminal: each task below its first blocker, the others
// that it waits for named behind it. text makes a title safe to print.
func (l *List) Tree(text func(string) string) string {
	var b strings.Builder
	held := l.Held()
	under := make([][]int, len(l.Tasks)) // children in the drawing
	var roots []int
	for i, t := range l.Tasks {
		if len(t.DependsOn) == 0 {
			roots = append(roots, i)
		} else {
			first := l.index[t.DependsOn[0]]
			under[first] = append(under[first], i)
		}
	}
	type line struct {
		task         int
		lead, branch string
	}
	var stack []line
	push := func(ids []int, lead string, top bool) {
		for k := len(ids) - 1; k >= 0; k-- {
			branch := "├─ "
			if k == len(ids)-1 {
				branch = "└─ "
			}
			if top {
				branch = ""
			}
			stack = append(stack, line{ids[k], lead, branch})
		}
	}
	push(roots, "", true)
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		t := &l.Tasks[n.task]
		fmt.Fprintf(&b, "%s%s%s %s  %s%s\n", n.lead, n.branch, marks[t.Status], t.ID, text(t.Title), l.aside(t, held))
		lead := n.lead
		switch n.branch {
		case "├─ ":
			lead += "│  "
		case "└─ ":
			lead += "   "
		}
		push(under[n.task], lead, false)
	}
	return b.String()
}

// aside says what the place in the tree does not.
func (l *List) aside(t *Task, held map[string]string) string {
	var s []string
	if len(t.DependsOn) > 1 {
		s = append(s, "also after "+strings.Join(t.DependsOn[1:], ", "))
	}
	switch waits := l.Waits(t); {
	case held[t.ID] != "":
		s = append(s, "held up by "+held[t.ID]+", which failed")
	case t.Status == Pending && len(waits) == 0:
		s = append(s, "ready")
	case t.Status == InProgress || t.Status == Failed || t.Status == Skipped:
		s = append(s, strings.ReplaceAll(string(t.Status), "_", " "))
	}
	if len(s) == 0 {
		return ""
	}
	return "  (" + strings.Join(s, "; ") + ")"
}

// DOT draws the graph for Graphviz; an arrow runs from a blocker to what waits for it.
func (l *List) DOT() string {
	var b strings.Builder
	b.WriteString("digraph tasks {\n  rankdir=LR;\n  node [shape=box];\n")
	styles := map[Status]string{Pending: "solid", InProgress: "bold", Completed: "filled", Failed: "dashed", Skipped: "dotted"}
	for _, t := range l.Tasks {
		fmt.Fprintf(&b, "  %s [label=%s, style=%s];\n", quote(t.ID), quote(marks[t.Status]+" "+t.ID+"\n"+t.Title), styles[t.Status])
	}
	for _, t := range l.Tasks {
		for _, d := range t.DependsOn {
			fmt.Fprintf(&b, "  %s -> %s;\n", quote(d), quote(t.ID))
		}
	}
	b.WriteString("}\n")
	return b.String()
}

// quote makes a text a string of DOT: what is not printable is shown as its code.
func quote(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		q := strconv.QuoteToGraphic(line)
		lines[i] = q[1 : len(q)-1]
	}
	return `"` + strings.Join(lines, `\n`) + `"`
}
