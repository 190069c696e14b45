package sdk

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// actor is a run of this test binary in one of its roles.
func actor(role string, env ...string) CLI {
	return CLI{Path: os.Args[0], Env: ChildEnv(append(env, actAs+"="+role)...), Timeout: time.Minute}
}

func collect(lines *[]string) func([]byte) {
	return func(b []byte) { *lines = append(*lines, string(b)) }
}

func pidIn(t *testing.T, file string) int {
	t.Helper()
	var pid int
	eventually(t, 10*time.Second, "the pid file is written", func() bool {
		b, _ := os.ReadFile(file)
		pid, _ = strconv.Atoi(string(b))
		return pid > 0
	})
	return pid
}

func TestRunCLIGivesPromptAndLines(t *testing.T) {
	var lines []string
	c := actor("echo")
	c.Stdin, c.OnLine = "one\ntwo\n\nlast", collect(&lines)
	res, err := RunCLI(t.Context(), c)
	if err != nil || res.ExitCode != 0 || res.Cut != 0 || res.Signal != 0 || res.Strays != 0 {
		t.Fatalf("got %+v, %v", res, err)
	}
	if got := strings.Join(lines, "|"); got != "one|two||last" {
		t.Errorf("lines are %q", got)
	}
}

func TestRunCLIInputIsAlwaysClosed(t *testing.T) {
	for prompt, want := range map[string]string{"": "0", strings.Repeat("p", 3<<20): "3145728"} {
		var lines []string
		c := actor("stdin")
		c.Stdin, c.OnLine = prompt, collect(&lines)
		if _, err := RunCLI(t.Context(), c); err != nil || len(lines) != 1 || lines[0] != want {
			t.Errorf("prompt of %d bytes: got %q, %v", len(prompt), lines, err)
		}
	}
}

func TestRunCLITalks(t *testing.T) {
	var lines []string
	r, w := io.Pipe()
	c := actor("echo")
	c.Input = r
	c.OnLine = func(b []byte) {
		lines = append(lines, string(b))
		if len(lines) == 3 {
			_ = w.Close()
			return
		}
		go io.WriteString(w, string(b)+"!\n")
	}
	go io.WriteString(w, "hello\n")
	if res, err := RunCLI(t.Context(), c); err != nil || res.ExitCode != 0 || strings.Join(lines, " ") != "hello hello! hello!!" {
		t.Errorf("got %+v %q, %v", res, lines, err)
	}
	r, w = io.Pipe()
	c = actor("nothing") // ends though its input does not
	c.Input = r
	if _, err := RunCLI(t.Context(), c); err != nil {
		t.Error(err)
	}
	if _, err := io.WriteString(w, "x"); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("the input is still open: %v", err)
	}
}

func TestRunCLIProgramThatDoesNotReadItsInput(t *testing.T) {
	var lines []string
	c := actor("deaf")
	c.Stdin, c.OnLine = strings.Repeat("p", 3<<20), collect(&lines)
	if res, err := RunCLI(t.Context(), c); err != nil || res.ExitCode != 0 || len(lines) != 1 {
		t.Errorf("got %+v %q, %v", res, lines, err)
	}
}

func TestRunCLIExitWithNothing(t *testing.T) {
	c := actor("nothing")
	c.OnLine = func(b []byte) { t.Errorf("got line %q", b) }
	if res, err := RunCLI(t.Context(), c); err != nil || res.ExitCode != 0 || res.Stderr != "" {
		t.Errorf("got %+v, %v", res, err)
	}
}

func TestRunCLIStatusSignalAndStderrTail(t *testing.T) {
	res, err := RunCLI(t.Context(), actor("status"))
	if err != nil || res.ExitCode != 7 || !strings.HasSuffix(res.Stderr, "xxthe end") || len(res.Stderr) != tailSize {
		t.Errorf("got status %d, %d bytes of stderr, %v", res.ExitCode, len(res.Stderr), err)
	}
	res, err = RunCLI(t.Context(), actor("suicide"))
	if err != nil || res.ExitCode != -1 || res.Signal != syscall.SIGKILL {
		t.Errorf("got %d, %v, %v", res.ExitCode, res.Signal, err)
	}
}

func TestRunCLILinesOfManyMegabytes(t *testing.T) {
	var sizes []int
	c := actor("long")
	c.OnLine = func(b []byte) { sizes = append(sizes, len(b)) }
	res, err := RunCLI(t.Context(), c)
	if err != nil || res.Cut != 0 || len(sizes) != 3 || sizes[0] != 50<<20 || sizes[1] != 5 || sizes[2] != 6 {
		t.Errorf("got lines of %v, cut %d, %v", sizes, res.Cut, err)
	}
	sizes, c.MaxOutput = nil, 1<<20 // the long line does not fit; what comes after it does
	res, err = RunCLI(t.Context(), c)
	if err != nil || res.Cut != 50<<20+1 || len(sizes) != 2 {
		t.Errorf("with a limit: lines of %v, cut %d, %v", sizes, res.Cut, err)
	}
}

func TestRunCLIFloodIsBounded(t *testing.T) {
	var got int64
	c := actor("flood")
	c.MaxOutput, c.Timeout, c.Grace = 1<<20, time.Second, 100*time.Millisecond
	c.OnLine = func(b []byte) { got += int64(len(b)) + 1 }
	res, err := RunCLI(t.Context(), c)
	if f := AsFailure(err); f == nil || f.Reason != Timeout || !res.TimedOut {
		t.Errorf("got %+v, %v", res, err)
	}
	if got > c.MaxOutput || got < c.MaxOutput/2 || res.Cut == 0 {
		t.Errorf("%d bytes came through of at most %d; %d were cut", got, c.MaxOutput, res.Cut)
	}
}

func TestRunCLIEndings(t *testing.T) {
	for _, tc := range []struct {
		name, role string
		set        func(*CLI)
		check      func(CLIResult) bool
	}{
		{"idle", "silent", func(c *CLI) { c.Idle = 300 * time.Millisecond }, func(r CLIResult) bool { return r.Idle && r.Signal == syscall.SIGTERM }},
		{"timeout", "silent", func(c *CLI) { c.Timeout = 300 * time.Millisecond }, func(r CLIResult) bool { return r.TimedOut && r.Signal == syscall.SIGTERM }},
		{"ignores SIGTERM", "stubborn", func(c *CLI) { c.Timeout = time.Second }, func(r CLIResult) bool { return r.TimedOut && r.Signal == syscall.SIGKILL }},
		{"says good bye", "polite", func(c *CLI) { c.Timeout, c.Grace = 2*time.Second, 20*time.Second }, func(r CLIResult) bool { return r.TimedOut && r.ExitCode == 0 }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := actor(tc.role)
			c.Grace = 300 * time.Millisecond
			tc.set(&c)
			res, err := RunCLI(t.Context(), c)
			if f := AsFailure(err); f == nil || f.Reason != Timeout || !tc.check(res) {
				t.Errorf("got %+v, %v", res, err)
			}
			if res.Elapsed > 20*time.Second {
				t.Errorf("it took %v", res.Elapsed)
			}
		})
	}
}

func TestRunCLICancelIsFast(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := actor("stubborn")
	c.Grace = time.Hour // a cancel has its own, shorter one
	var at time.Time
	c.OnLine = func([]byte) { at = time.Now(); cancel() }
	res, err := RunCLI(ctx, c)
	if f := AsFailure(err); f == nil || f.Reason != Cancelled || !errors.Is(err, context.Canceled) || res.Signal != syscall.SIGKILL {
		t.Errorf("got %+v, %v", res, err)
	}
	if d := time.Since(at); d > 10*time.Second {
		t.Errorf("the cancel took %v", d)
	}
	if _, err := RunCLI(ctx, c); AsFailure(err).Reason != Cancelled {
		t.Errorf("with an ended context: %v", err)
	}
}

// Every way of staying behind, after a normal end and after a limit.
func TestRunCLILeavesNoProcess(t *testing.T) {
	for _, tc := range []struct {
		name, role string
		env        []string
		linux      bool
	}{
		{"in its group", "grandchild", nil, false},
		{"own session", "daemon", nil, true},
		{"own session, empty environment", "daemon", []string{"DAEMON_ENV=none"}, true},
		{"own session, program hangs", "daemon-silent", nil, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "pid")
			c := actor(tc.role, append(tc.env, "PID_FILE="+file)...)
			c.Timeout, c.Grace = 2*time.Second, 200*time.Millisecond
			res, err := RunCLI(t.Context(), c)
			if hangs := tc.role == "daemon-silent"; hangs != (err != nil) {
				t.Errorf("got %+v, %v", res, err)
			}
			pid := pidIn(t, file)
			eventually(t, 5*time.Second, "the process left behind is dead", func() bool { return gone(pid) })
			if tc.linux && res.Strays == 0 {
				t.Error("the stray was not counted")
			}
			if res.Elapsed > 20*time.Second {
				t.Errorf("a process that held the pipes kept the run for %v", res.Elapsed)
			}
			if left := zombies(t); left != "" {
				t.Errorf("dead children were not reaped: %s", left)
			}
		})
	}
}

func TestRunCLISeveralAtOnce(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			file := filepath.Join(dir, strconv.Itoa(i))
			var lines []string
			c := actor("daemon", "PID_FILE="+file)
			c.OnLine = collect(&lines)
			// The daemon itself prints a line too, when it gets that far.
			if res, err := RunCLI(t.Context(), c); err != nil || res.ExitCode != 0 || len(lines) == 0 {
				t.Errorf("run %d: %+v %q, %v", i, res, lines, err)
			}
			pid := pidIn(t, file)
			eventually(t, 5*time.Second, "the stray of its own run is dead", func() bool { return gone(pid) })
		}()
	}
	wg.Wait()
	if left := zombies(t); left != "" {
		t.Errorf("dead children were not reaped: %s", left)
	}
}

// zombies are the dead children of this process.
func zombies(t *testing.T) string {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		t.Log("there is no /proc here: dead children are not looked for")
	}
	var found []string
	for _, path := range stats {
		raw, _ := os.ReadFile(path)
		stat := string(raw)
		f := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
		if len(f) > 1 && f[0] == "Z" && f[1] == strconv.Itoa(os.Getpid()) {
			found = append(found, strings.TrimSpace(stat))
		}
	}
	return strings.Join(found, "; ")
}

func TestRunCLINotStarted(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "plain")
	must(os.WriteFile(plain, []byte("no program"), 0o755))
	noexec := filepath.Join(t.TempDir(), "noexec")
	must(os.WriteFile(noexec, []byte("no program"), 0o644))
	for _, path := range []string{"no-such-program-here", "/no/such/program", plain, noexec, ""} {
		_, err := RunCLI(t.Context(), CLI{Path: path})
		f := AsFailure(err)
		if f == nil || f.Reason != ToolMissing || f.Fix == "" || f.Effect != EffectNone {
			t.Errorf("%q: got %v", path, err)
		}
	}
	_, err := RunCLI(t.Context(), CLI{Path: os.Args[0], Dir: "/no/such/folder"})
	if err == nil {
		t.Error("a missing folder is not an error")
	}
}

func TestRunCLIPanicOfOnLineReachesItsCaller(t *testing.T) {
	c := actor("silent")
	c.OnLine = func([]byte) { panic("in the author's code") }
	defer func() {
		if p := recover(); p == nil || !strings.Contains(p.(string), "in the author's code") {
			t.Errorf("recovered %v", p)
		}
		if n := cliRuns.Load(); n != 0 {
			t.Errorf("%d runs are still counted", n)
		}
	}()
	_, _ = RunCLI(t.Context(), c)
	t.Error("did not panic")
}

func TestChildEnv(t *testing.T) {
	t.Setenv("RELAY_PLUGIN_COOKIE", "x")
	t.Setenv("PLUGIN_CLIENT_CERT", "x")
	t.Setenv("GOMEMLIMIT", "1GiB")
	t.Setenv("KEPT", "old")
	got := map[string]string{}
	for _, e := range ChildEnv("KEPT=new", "ADDED=a=b") {
		k, v, _ := strings.Cut(e, "=")
		if _, twice := got[k]; twice {
			t.Errorf("%s appears twice", k)
		}
		got[k] = v
	}
	if got["KEPT"] != "new" || got["ADDED"] != "a=b" || got["PATH"] == "" {
		t.Errorf("got %v", got)
	}
	for _, k := range []string{"RELAY_PLUGIN_COOKIE", "PLUGIN_CLIENT_CERT", "GOMEMLIMIT"} {
		if _, ok := got[k]; ok {
			t.Errorf("%s got through", k)
		}
	}
}
