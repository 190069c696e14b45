package prd

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	specTask  = regexp.MustCompile(`(?m)^\s*[-*]\s+\[([ xX])\]\s+(T\d+)\s+(.*)$`)
	specMark  = regexp.MustCompile(`^\[(P|US\d+)\]\s*`)
	mdHeading = regexp.MustCompile(`^(#{2,6})\s+(.*)$`)
	planTask  = regexp.MustCompile(`(?m)^###\s+(?:Task|Iteration)\s+([\w.]+)\s*:?\s*(.*)$`)
	checkbox  = regexp.MustCompile(`^\s*[-*]\s+\[([ xX])\]\s+(.*)$`)
)

// specKit reads the check list: a task waits for those before it, but for neighbours
// marked [P] that may run side by side.
func (im *importer) specKit(text string) {
	var group, before []string      // the tasks side by side now, and those before them
	parallel, below := false, false // below: the line before is a task's
	var sections []string
	for n, line := range strings.Split(text, "\n") {
		if h := mdHeading.FindStringSubmatch(line); h != nil {
			im.endProse()
			below = false
			sections = append(sections[:min(len(sections), len(h[1])-2)], h[2])
			continue
		}
		m := specTask.FindStringSubmatch(line)
		switch {
		case m != nil:
			im.endProse()
		case below && strings.TrimSpace(line) != "" && strings.TrimLeft(line, " \t") != line:
			t := &im.tasks[len(im.tasks)-1]
			t.Description = strings.TrimSpace(t.Description + "\n" + strings.TrimSpace(line))
			continue
		case checkbox.MatchString(line):
			im.endProse()
			im.lose("line "+strconv.Itoa(n+1), "a box without an id: %s", strings.TrimSpace(line))
		default:
			im.prose(n+1, line)
		}
		if below = m != nil; !below {
			continue
		}
		section := strings.Join(sections, ", ")
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
	im.endProse()
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
			im.endProse()
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
			im.endProse()
			section = strings.ToLower(h[2])
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
		case section != "task":
			im.prose(n+1, line)
		}
	}
	im.endProse()
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
