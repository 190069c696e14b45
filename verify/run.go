package verify

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/paxiom/relay/judge"
)

// MaxLog is the most that one [Run] writes to its log, in bytes.
const MaxLog = 8 << 20

// MaxOutput is how much of one command's output is kept, in bytes.
const MaxOutput = 1 << 20

const (
	defaultFast = 90 * time.Second
	defaultSlow = 600 * time.Second
)

// Run runs the commands in order and stops at the first whose failure counts. The
// code is Success, StopVerifyFailedFast, StopVerifyFailedSlow, or StopInterrupted when
// ctx ended first. The results are those of the commands that ran, one for each.
func Run(ctx context.Context, commands []Command, o Options) ([]Result, judge.Code) {
	log := &boundedLog{w: o.Log, left: MaxLog}
	var results []Result
	for i, c := range commands {
		if ctx.Err() != nil {
			return results, judge.StopInterrupted
		}
		run := func() Result {
			r := o.run(ctx, c)
			log.result("", r)
			return r
		}
		r := run()
		finding := Passed
		if !r.OK() {
			finding = NewFailure
			if o.Base != nil && ctx.Err() == nil {
				finding, r = settle(o.Base[i], r, o.Excuse, run)
			}
		}
		if finding != NewFailure && o.Prove != nil {
			finding = o.Prove(ctx, &r, finding)
		}
		if finding == Unproven && o.Agreed != nil && r.Evidence.OnlyMissing() && ctx.Err() == nil && o.Agreed(r) {
			finding = Passed
		}
		r.Finding = finding
		results = append(results, r)
		switch {
		case finding == Unproven && ctx.Err() == nil && len(r.Evidence.Missing) > 0:
			return results, judge.StopTestsMissing
		case finding != NewFailure && finding != Unproven:
		case ctx.Err() != nil:
			return results, judge.StopInterrupted
		case c.Slow:
			return results, judge.StopVerifyFailedSlow
		default:
			return results, judge.StopVerifyFailedFast
		}
	}
	return results, judge.Success
}

// Outcome says in a few words how a command ended.
func (r Result) Outcome() string {
	d := r.Duration.Round(time.Millisecond)
	switch {
	case r.TimedOut:
		return fmt.Sprintf("timed out after %v", d)
	case r.Err != nil:
		return fmt.Sprintf("did not run: %v", r.Err)
	case r.Finding == Unproven:
		return fmt.Sprintf("exit code %d after %v, and yet: %s", r.ExitCode, d, r.Evidence.Why())
	default:
		return fmt.Sprintf("exit code %d after %v", r.ExitCode, d)
	}
}

// boundedLog writes to w until it has written enough. A log that can't be written
// changes no verdict.
type boundedLog struct {
	w    io.Writer
	left int
}

func (l *boundedLog) result(where string, r Result) {
	l.print("== %s%s: %q\n", where, r.Command.ID, r.Command.Argv)
	if r.Truncated {
		l.print("[the beginning is cut off: the last %d bytes follow]\n", len(r.Output))
	}
	l.print("%s", r.Output)
	if n := len(r.Output); n > 0 && r.Output[n-1] != '\n' {
		l.print("\n")
	}
	l.print("== %s%s: %s\n\n", where, r.Command.ID, r.Outcome())
}

func (l *boundedLog) print(format string, args ...any) {
	if l.w == nil || l.left == 0 {
		return
	}
	const cut = "\n[the log ends here: it is full]\n"
	b := fmt.Appendf(nil, format, args...)
	if len(b) > l.left-len(cut) {
		b = append(b[:max(l.left-len(cut), 0)], cut...)
		l.left = len(b)
	}
	n, err := l.w.Write(b)
	l.left -= n
	if err != nil {
		l.left = 0
	}
}

// Tail is a writer that keeps the last Max bytes (0 means MaxOutput), for an [Exec]
// to collect a command's stdout and stderr in. It is safe for use by several writers.
type Tail struct {
	Max int

	mu      sync.Mutex
	buf     []byte
	dropped bool
}

// Write never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, most := len(p), t.most()
	if len(p) > most {
		p, t.dropped = p[len(p)-most:], true
	}
	t.buf = append(t.buf, p...)
	if len(t.buf) > 2*most { // moved once for every Max bytes written
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-most:]...)
		t.dropped = true
	}
	return n, nil
}

// Bytes gives what is kept, and whether something before it was dropped.
func (t *Tail) Bytes() (kept []byte, truncated bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if most := t.most(); len(t.buf) > most {
		return append([]byte(nil), t.buf[len(t.buf)-most:]...), true
	}
	return append([]byte(nil), t.buf...), t.dropped
}

func (t *Tail) most() int {
	if t.Max > 0 {
		return t.Max
	}
	return MaxOutput
}
