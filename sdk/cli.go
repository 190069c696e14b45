package sdk

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/paxiom/relay/sdk/internal/proctree"
)

// CLI is one run of a vendor's command line by RunCLI.
type CLI struct {
	// Path is the program: a path, or a name that is looked up in PATH.
	Path string
	Args []string // without the program's name
	// Env is the whole environment; nil means ChildEnv().
	Env []string
	Dir string // working directory; empty: the plugin's
	// Stdin is written to the program's standard input, which is then closed. Empty:
	// the input is empty from the start. It is never left open.
	Stdin string
	// Input is copied to the program's standard input as it comes, instead of Stdin: for
	// a program that is talked with. RunCLI closes it before it returns.
	Input io.ReadCloser
	// Idle ends the program after so long without a byte on standard output; 0: never.
	Idle time.Duration
	// Timeout ends the program after so long in all; 0: never.
	Timeout time.Duration
	// Grace is the time between SIGTERM and SIGKILL; 0: 5 s. After a cancel it is at
	// most 1 s, since a handler has 2 s to return.
	Grace time.Duration
	// MaxOutput is how many bytes of standard output go to OnLine in all; 0: 128 MiB.
	// A line that does not fit is left out and counted. The rest is still read, so
	// that the program does not block, up to the limit that relay gives its plugins
	// (box.limits.output_mb): a program that prints more on both outputs is ended.
	MaxOutput int64
	// OnLine gets each line of standard output without its end, of any length, one at
	// a time. The bytes are valid until it returns. Nil: the output is thrown away.
	OnLine func(line []byte)
}

// CLIResult is how a program ended.
type CLIResult struct {
	ExitCode int            // -1 when a signal ended it
	Signal   syscall.Signal // 0 when it exited by itself
	TimedOut bool           // ended by Timeout
	Idle     bool           // ended by Idle
	Flooded  bool           // ended by relay's limit on output
	Cut      int64          // bytes of standard output that did not reach OnLine
	Stderr   string         // the last 64 KiB of standard error
	Strays   int            // processes of it that had to be killed after its end
	Elapsed  time.Duration
}

// RunCLI runs a program and leaves nothing of it behind. It starts in a process group
// of its own. Its end is SIGTERM to the group, a grace period, SIGKILL to the group,
// then SIGKILL to what left the group (Linux). Also after a normal end nothing stays.
//
// The error is nil when the program ended by itself, whatever its exit code: judge by
// what it printed. Otherwise it is a *Failure to return as it is: ToolMissing when it
// could not be started, Timeout for Idle and Timeout, LimitReached for more output
// than relay allows, Cancelled when ctx ended. The result holds what is known in each
// case.
func RunCLI(ctx context.Context, c CLI) (CLIResult, error) {
	if c.Input != nil {
		defer c.Input.Close() // frees a read that nobody writes to
	}
	if err := ctx.Err(); err != nil {
		return CLIResult{ExitCode: -1}, endedByContext(c, err)
	}
	proctree.AdoptOrphans()
	r, err := startCLI(c)
	if err != nil {
		return CLIResult{ExitCode: -1}, err
	}
	return r.wait(ctx)
}

// cliMarker is set in the environment of all that a run starts: what has left its
// process group and its session is still found by it.
const cliMarker = "RELAY_STEP"

// Bounds of a run of a program.
const (
	defaultGrace  = 5 * time.Second
	cancelGrace   = time.Second
	defaultOutput = 128 << 20
)

// cliRun is a program that was started.
type cliRun struct {
	c      CLI
	cmd    *exec.Cmd
	marker string
	start  time.Time
	out    *lineReader
	err    *tail
	exited chan struct{}
	read   chan struct{} // closed when both outputs are read to their end
	panic  atomic.Pointer[string]
	flood  *flood
	stdout *os.File
	stderr *os.File
}

var cliRuns atomic.Int32 // going on in this process

func startCLI(c CLI) (*cliRun, error) {
	path, err := exec.LookPath(c.Path)
	if err != nil {
		return nil, notStarted(c, err)
	}
	r := &cliRun{c: c, marker: cliMarker + "=" + rand.Text(), exited: make(chan struct{}), read: make(chan struct{})}
	env := c.Env
	if env == nil {
		env = ChildEnv()
	}
	r.cmd = &exec.Cmd{
		Path: path, Args: append([]string{c.Path}, c.Args...), Dir: c.Dir,
		Env:         append(env[:len(env):len(env)], r.marker),
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}
	stdin, err := r.open()
	if err != nil {
		return nil, err
	}
	r.start = time.Now()
	if err := r.cmd.Start(); err != nil {
		r.close(stdin)
		return nil, notStarted(c, err)
	}
	cliRuns.Add(1)
	closeFiles(r.cmd.Stdin, r.cmd.Stdout, r.cmd.Stderr)
	go r.feed(stdin)
	go r.readAll()
	go func() { proctree.AwaitExit(r.cmd); close(r.exited) }()
	return r, nil
}

// open makes the three pipes. They are files, so that waiting for the program never
// means waiting for another process that holds their other end.
func (r *cliRun) open() (stdin *os.File, err error) {
	var outW, errW *os.File
	if r.stdout, outW, err = os.Pipe(); err != nil {
		return nil, err
	}
	widen(outW)
	r.cmd.Stdout = outW
	if r.stderr, errW, err = os.Pipe(); err != nil {
		r.close(nil)
		return nil, err
	}
	r.cmd.Stderr = errW
	if r.c.Stdin != "" || r.c.Input != nil {
		var inR *os.File
		if inR, stdin, err = os.Pipe(); err != nil {
			r.close(nil)
			return nil, err
		}
		r.cmd.Stdin = inR
	}
	limit := r.c.MaxOutput
	if limit <= 0 {
		limit = defaultOutput
	}
	r.flood = newFlood()
	r.out = &lineReader{file: r.stdout, budget: limit, exited: r.exited, onLine: r.c.OnLine, flood: r.flood}
	r.err = &tail{}
	return stdin, nil
}

// close gives up a run that did not start.
func (r *cliRun) close(stdin *os.File) {
	closeFiles(r.cmd.Stdin, r.cmd.Stdout, r.cmd.Stderr, r.stdout, r.stderr, stdin)
}

// closeFiles closes what is an open file.
func closeFiles(files ...any) {
	for _, f := range files {
		if f, ok := f.(*os.File); ok && f != nil {
			_ = f.Close()
		}
	}
}

// feed writes the prompt and closes the input. A program that does not read it is not
// a failure: its output decides.
func (r *cliRun) feed(stdin *os.File) {
	if stdin == nil {
		return
	}
	go func() { <-r.exited; _ = stdin.Close() }() // frees a write that nobody reads
	if r.c.Input != nil {
		_, _ = io.Copy(stdin, r.c.Input)
	} else {
		_, _ = io.WriteString(stdin, r.c.Stdin)
	}
	_ = stdin.Close()
}

// readAll reads both outputs to their end. A panic of OnLine is carried over to the
// goroutine that called RunCLI.
func (r *cliRun) readAll() {
	errRead := make(chan struct{})
	go func() { r.err.readFrom(&patientFile{r.stderr, r.exited, r.flood}); close(errRead) }()
	func() {
		defer func() {
			if p := recover(); p != nil {
				text := fmt.Sprintf("%v\n%s", p, debug.Stack())
				r.panic.Store(&text)
			}
		}()
		r.out.read()
	}()
	if r.panic.Load() != nil {
		_ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL) // not yet reaped: wait needs r.read
	}
	<-errRead
	close(r.read)
}

// wait watches the program until its end, by itself or by us, and cleans up.
func (r *cliRun) wait(ctx context.Context) (CLIResult, error) {
	var res CLIResult
	why := r.watch(ctx, &res)
	// The program is a zombie now: its group's number is still its own.
	group := -r.cmd.Process.Pid
	_ = syscall.Kill(group, syscall.SIGKILL)
	res.Strays = proctree.EndStrays(r.cmd.Process.Pid, r.marker, cliRuns.Load() == 1)
	r.stopReading()
	<-r.read
	_ = r.cmd.Wait()
	cliRuns.Add(-1)
	closeFiles(r.stdout, r.stderr)
	if p := r.panic.Load(); p != nil {
		panic(*p)
	}
	res.Cut, res.Stderr, res.Elapsed = r.out.cut, r.err.String(), time.Since(r.start)
	res.ExitCode = -1
	if st := r.cmd.ProcessState; st != nil {
		res.ExitCode = st.ExitCode()
		if ws, ok := st.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			res.Signal = ws.Signal()
		}
	}
	return res, r.failure(ctx, why, res)
}

// stopReading lets a reader that waits find out that the program has ended.
func (r *cliRun) stopReading() {
	_ = r.stdout.SetReadDeadline(time.Now().Add(afterExit))
	_ = r.stderr.SetReadDeadline(time.Now().Add(afterExit))
}

type endedBy int

const (
	byItself endedBy = iota
	byContext
	byTimeout
	byIdle
	byFlood
)

// watch returns when the program has ended, and says what ended it.
func (r *cliRun) watch(ctx context.Context, res *CLIResult) endedBy {
	var timeout <-chan time.Time
	if r.c.Timeout > 0 {
		t := time.NewTimer(r.c.Timeout)
		defer t.Stop()
		timeout = t.C
	}
	var idle <-chan time.Time
	if r.c.Idle > 0 {
		t := time.NewTicker(max(r.c.Idle/20, time.Millisecond))
		defer t.Stop()
		idle = t.C
	}
	for {
		select {
		case <-r.exited:
			return byItself
		case <-r.flood.over:
			res.Flooded = true
			r.end(0)
			return byFlood
		case <-ctx.Done():
			r.end(min(r.grace(), cancelGrace))
			return byContext
		case <-timeout:
			res.TimedOut = true
			r.end(r.grace())
			return byTimeout
		case <-idle:
			if r.out.silentSince(r.start) >= r.c.Idle {
				res.Idle = true
				r.end(r.grace())
				return byIdle
			}
		}
	}
}

func (r *cliRun) grace() time.Duration {
	if r.c.Grace > 0 {
		return r.c.Grace
	}
	return defaultGrace
}

// end asks the whole group to end, and kills it when it does not.
func (r *cliRun) end(grace time.Duration) {
	group := -r.cmd.Process.Pid
	_ = syscall.Kill(group, syscall.SIGTERM)
	select {
	case <-r.exited:
	case <-time.After(grace):
		_ = syscall.Kill(group, syscall.SIGKILL)
		<-r.exited
	}
}

func (r *cliRun) failure(ctx context.Context, why endedBy, res CLIResult) error {
	name := filepath.Base(r.c.Path)
	switch why {
	case byContext:
		return endedByContext(r.c, ctx.Err())
	case byTimeout:
		return Fail(Timeout, fmt.Sprintf("%s was ended after %v, its time limit", name, r.c.Timeout), Detail(lastLines(res.Stderr)))
	case byFlood:
		return Fail(LimitReached, fmt.Sprintf("%s was ended: it printed more than %d MB", name, r.flood.most/1_000_000),
			Fix("`relay config show box.limits`; if it needs to print that much, raise box.limits.output_mb"))
	case byIdle:
		return Fail(Timeout, fmt.Sprintf("%s was ended after %v without output", name, r.c.Idle), Detail(lastLines(res.Stderr)))
	}
	return nil
}

func endedByContext(c CLI, err error) error {
	reason, text := Cancelled, " was ended because the call was canceled"
	if errors.Is(err, context.DeadlineExceeded) {
		reason, text = Timeout, " was ended because the call took longer than it may"
	}
	return Fail(reason, filepath.Base(c.Path)+text, Cause(err))
}

func notStarted(c CLI, err error) error {
	name := filepath.Base(c.Path)
	if errors.Is(err, os.ErrPermission) {
		return Fail(ToolMissing, name+" may not be executed", Cause(err), EffectNone,
			Fix(fmt.Sprintf("`chmod +x %s`, or name another program in the plugin's configuration", c.Path)))
	}
	return Fail(ToolMissing, name+" could not be started", Cause(err), EffectNone,
		Fix(fmt.Sprintf("install %s, or set its path in the plugin's configuration", name)))
}

// lastLines is the end of a text, for a failure's detail.
func lastLines(s string) string {
	s = strings.TrimSpace(s)
	if n := len(s) - 2000; n > 0 {
		s = "… " + s[n:]
	}
	return s
}
