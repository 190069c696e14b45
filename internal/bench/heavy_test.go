package bench

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// What a builder can leave at most, and the host's memory beside it.

func (b *bench) hugeFile() error {
	return b.heavy("a file of 2 GB", "truncate -s 2G src/big", nil)
}

func (b *bench) hugeDiff() error {
	n := 7
	if *quick {
		n = 2
	}
	text, files := strings.Repeat(strings.Repeat("a", 79)+"\n", 7<<20/80), map[string]string{}
	for i := range n {
		files[fmt.Sprintf("src/t%02d.txt", i)] = text
	}
	return b.heavy(fmt.Sprintf("a diff of %d MB", 2*7*n), "for f in src/t*; do tr a b <$f >tmp; cat tmp >$f; done; rm tmp", files)
}

func (b *bench) manyIgnored() error {
	n, script := b.many()
	return b.heavy(fmt.Sprintf("%d ignored files", n), script, map[string]string{".gitignore": "out/\n"})
}

func (b *bench) manyNew() error {
	n, script := b.many()
	return b.heavy(fmt.Sprintf("%d new files", n), script, nil)
}

// many is a script that makes almost as many files as are looked at.
func (b *bench) many() (n int, script string) {
	n = 49_000
	if *quick {
		n = 1000
	}
	return n, fmt.Sprintf("mkdir out; cd out; seq %d | split -l 1 -a 5; cd ..", n)
}

// heavy runs a tick with such a builder, in a repository that holds these files, too.
func (b *bench) heavy(name, script string, files map[string]string) error {
	s, err := b.newSample("heavy", b.small, script)
	if err != nil {
		return err
	}
	defer os.RemoveAll(s.dir)
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
