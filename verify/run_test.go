package verify

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/paxiom/relay/judge"
)

// scripted answers each command with the result of that name and notes the order.
type scripted struct {
	results  map[string]Result
	ran      []string
	timeouts []time.Duration
	after    func()
}

func (s *scripted) Run(_ context.Context, c Command, timeout time.Duration) Result {
	s.ran = append(s.ran, c.ID)
	s.timeouts = append(s.timeouts, timeout)
	if s.after != nil {
		s.after()
	}
	return s.results[c.ID]
}

var three = []Command{{ID: "a", Argv: []string{"a"}}, {ID: "b", Argv: []string{"b", "x y"}}, {ID: "c", Slow: true, Argv: []string{"c"}}}

func TestRunOrder(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		results map[string]Result
		ran     string
		code    judge.Code
	}{
		{"all pass", nil, "abc", judge.Success},
		{"first fails", map[string]Result{"a": {ExitCode: 1}}, "a", judge.StopVerifyFailedFast},
		{"second times out", map[string]Result{"b": {TimedOut: true}}, "ab", judge.StopVerifyFailedFast},
		{"second does not start", map[string]Result{"b": {Err: errors.New("no such program")}}, "ab", judge.StopVerifyFailedFast},
		{"slow fails", map[string]Result{"c": {ExitCode: -1}}, "abc", judge.StopVerifyFailedSlow},
	}
	for _, tt := range tests {
		s := &scripted{results: tt.results}
		results, code := Run(t.Context(), three, Options{Exec: s})
		if got := strings.Join(s.ran, ""); got != tt.ran || code != tt.code || len(results) != len(tt.ran) {
			t.Errorf("%s: ran %s, %s, %d results", tt.name, got, code, len(results))
		}
		if results[0].Command.ID != "a" {
			t.Errorf("%s: results do not name their command", tt.name)
		}
	}
	if _, code := Run(t.Context(), nil, Options{}); code != judge.Success {
		t.Errorf("nothing to run: %s", code)
	}
}

func TestRunTimeouts(t *testing.T) {
	t.Parallel()
	s := &scripted{}
	Run(t.Context(), three, Options{Exec: s})
	Run(t.Context(), three, Options{Exec: s, FastTimeout: time.Second, SlowTimeout: time.Minute})
	want := []time.Duration{90 * time.Second, 90 * time.Second, 600 * time.Second, time.Second, time.Second, time.Minute}
	for i, d := range want {
		if s.timeouts[i] != d {
			t.Errorf("timeouts %v, want %v", s.timeouts, want)
			break
		}
	}
}

func TestRunInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := &scripted{after: cancel, results: map[string]Result{"a": {ExitCode: -1}}}
	if results, code := Run(ctx, three, Options{Exec: s}); code != judge.StopInterrupted || len(results) != 1 {
		t.Errorf("%s, %d results", code, len(results))
	}
	if results, code := Run(ctx, three, Options{Exec: s}); code != judge.StopInterrupted || len(results) != 0 {
		t.Errorf("ended before: %s, %d results", code, len(results))
	}
}

func TestRunLog(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := &scripted{results: map[string]Result{
		"a": {Output: []byte("fine\n"), Duration: 1500 * time.Millisecond},
		"b": {Output: []byte("tail"), Truncated: true, ExitCode: 3},
	}}
	Run(t.Context(), three, Options{Exec: s, Log: &log})
	want := "== a: [\"a\"]\nfine\n== a: exit code 0 after 1.5s\n\n== b: [\"b\" \"x y\"]\n[the beginning is cut off: the last 4 bytes follow]\ntail\n== b: exit code 3 after 0s\n\n"
	if log.String() != want {
		t.Errorf("got %q", log.String())
	}
	log.Reset()
	big := &scripted{results: map[string]Result{"a": {Output: make([]byte, MaxLog)}}}
	if _, code := Run(t.Context(), three, Options{Exec: big, Log: &log}); code != judge.Success || log.Len() > MaxLog || !strings.HasSuffix(log.String(), "it is full]\n") {
		t.Errorf("%s, %d bytes", code, log.Len())
	}
	if _, code := Run(t.Context(), three, Options{Exec: s, Log: fullDisk{}}); code != judge.StopVerifyFailedFast {
		t.Errorf("a log that can't be written changed the verdict: %s", code)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestTail(t *testing.T) {
	t.Parallel()
	tail := &Tail{Max: 5}
	check := func(want string, cut bool) {
		t.Helper()
		if b, truncated := tail.Bytes(); string(b) != want || truncated != cut {
			t.Errorf("%q, %v; want %q, %v", b, truncated, want, cut)
		}
	}
	check("", false)
	for _, s := range []struct {
		write, want string
		cut         bool
	}{{"ab", "ab", false}, {"cde", "abcde", false}, {"f", "bcdef", true}, {"ghijklmnop", "lmnop", true}, {"q", "mnopq", true}, {"rstuvwxyz", "vwxyz", true}} {
		if n, err := tail.Write([]byte(s.write)); n != len(s.write) || err != nil {
			t.Errorf("write: %d, %v", n, err)
		}
		check(s.want, s.cut)
	}
	flood := &Tail{}
	for range 40 {
		if _, err := flood.Write(make([]byte, MaxOutput/4)); err != nil {
			t.Fatal(err)
		}
	}
	if b, cut := flood.Bytes(); len(b) != MaxOutput || !cut || cap(flood.buf) > 5*MaxOutput {
		t.Errorf("%d bytes kept, %d held", len(b), cap(flood.buf))
	}
}

// plain runs a command on this machine, as a stand-in for a box.
type plain struct{ dir string }

func (p plain) Run(ctx context.Context, c Command, timeout time.Duration) Result {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	out := &Tail{}
	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	begin := time.Now()
	err := cmd.Run()
	r := Result{Duration: time.Since(begin), TimedOut: ctx.Err() == context.DeadlineExceeded, ExitCode: -1}
	r.Output, r.Truncated = out.Bytes()
	var exit *exec.ExitError
	switch {
	case cmd.ProcessState != nil && cmd.ProcessState.Exited():
		r.ExitCode = cmd.ProcessState.ExitCode()
	case err != nil && !errors.As(err, &exit):
		r.Err = err
	}
	return r
}

// With real processes: arguments arrive as they are, no shell looks at them, and
// the outcomes are told apart.
func TestRunRealProcesses(t *testing.T) {
	t.Parallel()
	templates := []Template{
		{ID: "args", Cmd: "printf", Args: []string{"<%s>", "$HOME `id` *; {{x}}"}, Params: map[string]string{"x": KindToken}},
		{ID: "fail", Cmd: "sh", Args: []string{"-c", "echo out; echo err >&2; exit 3"}},
		{ID: "hang", Cmd: "sh", Args: []string{"-c", "sleep 300 & sleep 300"}},
		{ID: "missing", Cmd: "relay-has-no-such-program"},
	}
	run := func(id string, params map[string]any) (Result, judge.Code) {
		t.Helper()
		want := Requests{Fast: []string{id}, Params: map[string]map[string]any{}}
		if params != nil {
			want.Params[id] = params
		}
		commands, err := Plan(templates, Rules{}, want)
		if err != nil {
			t.Fatal(err)
		}
		timeout := time.Minute
		if id == "hang" {
			timeout = 200 * time.Millisecond
		}
		results, code := Run(t.Context(), commands, Options{Exec: plain{t.TempDir()}, FastTimeout: timeout})
		return results[0], code
	}
	if r, code := run("args", map[string]any{"x": "a/b"}); code != judge.Success || string(r.Output) != "<$HOME `id` *; a/b>" {
		t.Errorf("args: %s %q", code, r.Output)
	}
	if r, code := run("fail", nil); code != judge.StopVerifyFailedFast || r.ExitCode != 3 || string(r.Output) != "out\nerr\n" || !strings.Contains(r.Outcome(), "exit code 3") {
		t.Errorf("fail: %s %+v", code, r)
	}
	if r, code := run("hang", nil); code != judge.StopVerifyFailedFast || !r.TimedOut || !strings.Contains(r.Outcome(), "timed out") {
		t.Errorf("hang: %s %+v", code, r)
	}
	if r, code := run("missing", nil); code != judge.StopVerifyFailedFast || r.Err == nil || !strings.Contains(r.Outcome(), "did not run") {
		t.Errorf("missing: %s %+v", code, r)
	}
}
