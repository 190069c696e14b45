package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/paxiom/relay/host/pipeline/prd"
)

// statusBar measures what a status bar asks every few seconds.
func (b *bench) statusBar() error {
	s, err := b.newSample("bar", b.small, "true")
	if err != nil {
		return err
	}
	d, err := median(3*b.rounds, func() (time.Duration, error) { return s.timed(b.relay, "tmux-status") })
	row("relay tmux-status", ms(d), "30 ms")
	return err
}

// taskList measures the way from a long task list to the next task.
func (b *bench) taskList() error {
	tasks := make([]prd.Task, b.history)
	for i := range tasks {
		tasks[i] = prd.Task{ID: fmt.Sprintf("task-%05d", i), Title: "A task of a long list, with a title as people write them", Priority: i % 5,
			AcceptanceCriteria: []string{"the command prints what it should", "a test shows it"}, Validation: prd.Validation{Command: prd.Command{"go", "test", "./..."}}}
		if i > 0 {
			tasks[i].DependsOn = []string{tasks[i/2].ID}
		}
	}
	raw, err := json.Marshal(map[string]any{"tasks": tasks})
	if err != nil {
		return err
	}
	f := &prd.File{Path: filepath.Join(b.dir, "prd.json")}
	if err := os.WriteFile(f.Path, raw, 0o644); err != nil {
		return err
	}
	next := func() (time.Duration, error) {
		start := time.Now()
		l, err := f.Read()
		if err == nil && len(l.Ready()) == 0 {
			err = fmt.Errorf("no task is ready")
		}
		return time.Since(start), err
	}
	first, err := median(b.rounds, func() (time.Duration, error) {
		f = &prd.File{Path: f.Path}
		return next()
	})
	if err != nil {
		return err
	}
	time.Sleep(100 * time.Millisecond) // a file that was just written is read twice
	if _, err := next(); err != nil {
		return err
	}
	again, err := median(b.rounds, next)
	row(fmt.Sprintf("next of %d tasks, the list as it was", len(tasks)), ms(again), "10 ms")
	row("    the list read anew", ms(first), "-")
	return err
}
