package prd

import (
	"cmp"
	"slices"
)

// Waits gives the blockers of a task that are not over yet, in the order in which the
// task names them.
func (l *List) Waits(t *Task) []string {
	var ids []string
	for _, d := range t.DependsOn {
		if !l.Tasks[l.index[d]].Status.over() {
			ids = append(ids, d)
		}
	}
	return ids
}

// Ready gives the tasks that may start now: pending, or in progress when a run was cut
// off, with every blocker over. They come by priority, then by their place in the
// file; what was begun comes first.
func (l *List) Ready() []*Task {
	var ready []*Task
	for i := range l.Tasks {
		t := &l.Tasks[i]
		if (t.Status == Pending || t.Status == InProgress) && len(l.Waits(t)) == 0 {
			ready = append(ready, t)
		}
	}
	slices.SortStableFunc(ready, func(a, b *Task) int {
		if begun := cmp.Compare(begunLast(a), begunLast(b)); begun != 0 {
			return begun
		}
		return cmp.Compare(a.Priority, b.Priority)
	})
	return ready
}

func begunLast(t *Task) int {
	if t.Status == InProgress {
		return 0
	}
	return 1
}

// Held gives every pending task that can't start because a task that it depends on,
// directly or through others, has failed; the value is that failed task's id.
func (l *List) Held() map[string]string {
	held := map[string]string{}
	after := l.dependents()
	var queue []int
	for i, t := range l.Tasks {
		if t.Status == Failed {
			queue = append(queue, i)
		}
	}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		cause := l.Tasks[i].ID
		if c, ok := held[cause]; ok {
			cause = c
		}
		for _, j := range after[i] {
			d := &l.Tasks[j]
			if _, seen := held[d.ID]; !seen && d.Status == Pending {
				held[d.ID] = cause
				queue = append(queue, j)
			}
		}
	}
	return held
}

// dependents gives for each task the places of those that name it as a blocker.
func (l *List) dependents() [][]int {
	after := make([][]int, len(l.Tasks))
	for i, t := range l.Tasks {
		for _, d := range t.DependsOn {
			j := l.index[d]
			after[j] = append(after[j], i)
		}
	}
	return after
}

// Count gives how many tasks have each status.
func (l *List) Count() map[Status]int {
	n := map[Status]int{}
	for _, t := range l.Tasks {
		n[t.Status]++
	}
	return n
}
