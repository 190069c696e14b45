package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func (b *bench) version() error {
	s := &sample{b: b, dir: b.dir, home: b.dir}
	d, err := median(3*b.rounds, func() (time.Duration, error) { return s.timed(b.relay, "--version") })
	row("relay --version", ms(d), "10 ms")
	return err
}

const appendLine = "date +%s%N >> src/a.txt"

func (b *bench) smallRepo() error  { return b.repoRows("small", b.small, "150 ms") }
func (b *bench) mediumRepo() error { return b.repoRows("medium", b.medium, "-") }
func (b *bench) largeRepo() error  { return b.repoRows("large", b.large, "600 ms") }

func (b *bench) judgedRepos() error {
	for _, files := range []int{b.medium, b.large} {
		if err := b.judged(files); err != nil {
			return err
		}
	}
	return nil
}

// repoRows measures status and ticks in one repository, beside git status.
func (b *bench) repoRows(name string, files int, aim string) error {
	s, err := b.newSample(name, files, appendLine)
	if err != nil {
		return err
	}
	label := fmt.Sprintf(", %d files", files)
	git, err := median(b.rounds, func() (time.Duration, error) { return s.timed("git", "status", "--porcelain") })
	if err != nil {
		return err
	}
	row("git status, warm"+label, ms(git), "-")
	var ticks []tick
	if _, err := s.tick(); err != nil { // warm
		return err
	}
	wall, err := median(b.rounds, func() (time.Duration, error) {
		t, err := s.tick()
		ticks = append(ticks, t)
		return t.wall, err
	})
	if err != nil {
		return err
	}
	row("whole judged tick"+label, ms(wall), aim)
	for _, state := range []string{"PREFLIGHT", "ORCHESTRATE", "BUILD", "JUDGE", "VERIFY", "APPLY", "REPORT"} {
		d, err := median(len(ticks), func() (time.Duration, error) {
			t := ticks[0]
			ticks = append(ticks[1:], t)
			return t.states[state], nil
		})
		if err != nil {
			return err
		}
		row("    of which "+strings.ToLower(state), ms(d), "-")
	}
	status, err := median(b.rounds, func() (time.Duration, error) { return s.timed(b.relay, "status") })
	row("relay status"+label, ms(status), "30 ms")
	if err != nil {
		return err
	}
	peak, err := s.peakOfRun()
	if err != nil {
		return err
	}
	row("peak memory of the host"+label, mib(peak), "40 MiB")
	return s.agentRows(label)
}

// bigHistory measures status beside many kept runs: copies of a real one.
func (b *bench) bigHistory() error {
	s, err := b.newSample("history", b.small, appendLine)
	if err != nil {
		return err
	}
	if _, err := s.tick(); err != nil {
		return err
	}
	history := filepath.Join(s.dir, ".relay", "history")
	runs, err := filepath.Glob(filepath.Join(history, "2*"))
	if err != nil || len(runs) == 0 {
		return fmt.Errorf("no run in %s: %w", history, err)
	}
	for i := range b.history {
		id := fmt.Sprintf("20200101-%06d-aaaaaaaa", i)
		if err := os.CopyFS(filepath.Join(history, id), os.DirFS(runs[0])); err != nil {
			return err
		}
	}
	d, err := median(b.rounds, func() (time.Duration, error) { return s.timed(b.relay, "status") })
	row(fmt.Sprintf("relay status, %d runs in the history", b.history), ms(d), "30 ms")
	return err
}

// flood lets a builder print 1 GB and looks at the host's memory.
func (b *bench) flood() error {
	s, err := b.newSample("flood", b.small, "head -c 1000000000 /dev/zero | tr '\\0' 'x'; head -c 1000000 /dev/zero >&2\n"+appendLine)
	if err != nil {
		return err
	}
	start := time.Now()
	peak, err := s.peakOfRun("--set=box.limits.output_mb=0") // or it would be ended half way
	row("peak memory of the host, builder prints 1 GB", mib(peak), "40 MiB")
	row("    the whole tick", ms(time.Since(start)), "-")
	return err
}

// peakOfRun runs a tick and gives the largest resident set of the host process
// alone, which the kernel keeps as VmHWM.
func (s *sample) peakOfRun(flags ...string) (int64, error) {
	cmd := s.command(append([]string{s.b.relay, "run", "--json"}, flags...)...)
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	var peak int64
	for {
		select {
		case err := <-done:
			return peak, err
		case <-time.After(2 * time.Millisecond):
			peak = max(peak, highWater(cmd.Process.Pid))
		}
	}
}

// highWater is a process's VmHWM in bytes, 0 when it is gone.
func highWater(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err == nil {
				return kb << 10
			}
		}
	}
	return 0
}

func mib(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

// killed ends the host with SIGKILL in the middle of a build and counts what lives
// one second later.
func (b *bench) killed() error {
	const marker = "86399.123"
	s, err := b.newSample("killed", b.small, "setsid sleep "+marker+" & sleep "+marker)
	if err != nil {
		return err
	}
	cmd := s.command(b.relay, "run")
	if err := cmd.Start(); err != nil {
		return err
	}
	for deadline := time.Now().Add(20 * time.Second); count(marker) < 2; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("the builder did not start")
		}
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	_ = cmd.Wait() // its error is the signal
	time.Sleep(time.Second)
	left := count(marker) + count(s.dir)
	row("processes left 1 s after SIGKILL of the host", strconv.Itoa(left), "0")
	return nil
}

// count is how many processes have the text in their command line.
func count(text string) int {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return -1
	}
	n := 0
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err == nil && strings.Contains(strings.ReplaceAll(string(b), "\x00", " "), text) && !strings.HasPrefix(f, fmt.Sprintf("/proc/%d/", os.Getpid())) {
			n++
		}
	}
	return n
}
