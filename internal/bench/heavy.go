package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// heavy measures the host's memory beside what a builder can leave at most.
func (b *bench) heavy() error {
	big, many := 13, 49_000
	if b.quick() {
		big, many = 2, 1000
	}
	text := strings.Repeat(strings.Repeat("a", 79)+"\n", 7<<20/80)
	for _, c := range []struct {
		name, script string
		files        map[string]string
		committed    int // files of 7 MiB
	}{
		{name: "a file of 2 GB", script: "truncate -s 2G src/big"},
		{name: fmt.Sprintf("a diff of %d MB", big*7), script: "for f in src/t*; do tr a b <$f >tmp; cat tmp >$f; done; rm tmp", committed: big},
		{name: fmt.Sprintf("%d ignored files", many), script: fmt.Sprintf("mkdir out; cd out; seq %d | split -l 1 -a 5; cd ..", many), files: map[string]string{".gitignore": "out/\n"}},
		{name: fmt.Sprintf("%d new files", many), script: fmt.Sprintf("mkdir out; cd out; seq %d | split -l 1 -a 5; cd ..", many)},
	} {
		if err := b.heavyOne(c.name, c.script, text, c.files, c.committed); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

func (b *bench) heavyOne(name, script, text string, files map[string]string, committed int) error {
	s, err := b.newSample("heavy", b.small, script)
	if err != nil {
		return err
	}
	defer os.RemoveAll(s.dir)
	if files == nil {
		files = map[string]string{}
	}
	for i := range committed {
		files[fmt.Sprintf("src/t%02d.txt", i)] = text
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	if _, err := s.exec("git", "add", "-A"); err != nil {
		return err
	}
	if len(files) > 0 {
		if _, err := s.exec("git", "commit", "-qm", "what it begins with"); err != nil {
			return err
		}
	}
	start := time.Now()
	peak, err := s.peakOfRun()
	var stopped *exec.ExitError
	if err != nil && !(errors.As(err, &stopped) && stopped.ExitCode() == exitStopped) {
		return err
	}
	row("peak memory of the host, "+name, mib(peak), "40 MiB")
	row("    the whole tick", ms(time.Since(start)), "-")
	return nil
}

// exitStopped is how relay ends when the judge stopped a change.
const exitStopped = 2
