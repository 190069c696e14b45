package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
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
	if *repo != "" {
		return b.judgedIn(&sample{b: b, dir: *repo, home: b.dir}, *repo)
	}
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

// bigHistory measures a tick and the commands that look back beside many kept runs, and
// before there were any.
func (b *bench) bigHistory() error {
	s, err := b.newSample("history", b.small, appendLine)
	if err != nil {
		return err
	}
	if _, err := s.tick(); err != nil { // warm
		return err
	}
	if err := s.lookBack("few runs"); err != nil {
		return err
	}
	if err := s.pile(b.history); err != nil {
		return err
	}
	return s.lookBack(fmt.Sprintf("%d runs in the history", b.history))
}

func (s *sample) lookBack(where string) error {
	wall, err := median(s.b.rounds, func() (time.Duration, error) {
		t, err := s.tick()
		return t.wall, err
	})
	if err != nil {
		return err
	}
	row("whole judged tick, "+where, ms(wall), "150 ms")
	for _, c := range []struct{ args, aim string }{{"status", "30 ms"}, {"cost --since 12h", "30 ms"}, {"cost", "30 ms"}, {"report", "-"}, {"history list", "-"}} {
		d, err := median(s.b.rounds, func() (time.Duration, error) {
			return s.timed(append([]string{s.b.relay}, strings.Fields(c.args)...)...)
		})
		if err != nil {
			return err
		}
		row("relay "+c.args+", "+where, ms(d), c.aim)
	}
	return nil
}

var (
	stamped = regexp.MustCompile(`"(started_at|ended_at)": "[^"]*"`)
	called  = regexp.MustCompile(`"at":"[^"]*"`)
)

// pile makes n runs of the past: copies of a real one's record, each with two calls.
func (s *sample) pile(n int) error {
	history := filepath.Join(s.dir, ".git", "relay", "history")
	runs, err := filepath.Glob(filepath.Join(history, "2*"))
	if err != nil || len(runs) == 0 {
		return fmt.Errorf("no run in %s: %w", history, err)
	}
	old := filepath.Base(runs[0])
	files := map[string]string{}
	for _, name := range []string{"meta.json", "report.json", "report.md"} {
		raw, err := os.ReadFile(filepath.Join(runs[0], name))
		if err != nil {
			return err
		}
		files[name] = string(raw)
	}
	usage, err := os.ReadFile(filepath.Join(s.dir, ".git", "relay", "usage.jsonl"))
	if err != nil {
		return err
	}
	calls := strings.Join(strings.SplitAfter(string(usage), "\n")[:2], "")
	var past strings.Builder
	for i := range n {
		at := time.Date(2020, 1, 1, 0, i, 0, 0, time.UTC)
		id := at.Format("20060102-150405") + "-aaaaaaaa"
		if err := os.Mkdir(filepath.Join(history, id), 0o755); err != nil {
			return err
		}
		for name, text := range files {
			text = stamped.ReplaceAllString(strings.ReplaceAll(text, old, id), `"$1": "`+at.Format(time.RFC3339)+`"`)
			if err := os.WriteFile(filepath.Join(history, id, name), []byte(text), 0o644); err != nil {
				return err
			}
		}
		then := called.ReplaceAllString(calls, `"at":"`+at.Format(time.RFC3339)+`"`)
		past.WriteString(strings.ReplaceAll(then, old, id))
	}
	return os.WriteFile(filepath.Join(s.dir, ".git", "relay", "usage.jsonl"), []byte(past.String()+string(usage)), 0o644)
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
