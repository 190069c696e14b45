package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/paxiom/relay/fleet/internal/blob"
	"github.com/paxiom/relay/fleet/internal/job"
)

// Worker makes runs on this machine.
type Worker struct {
	Relay   string              // the program
	Dir     string              // checkouts
	Signers string              // whose results of other machines count; "" is nobody's
	Queue   string              // of this worker alone
	Label   string              // the queue of its label
	Here    func(remote string) // is told which repositories the worker has
	Env     []string            // names of variables that relay gets besides the usual ones
	// Coordinator is the socket by which relay shares its accounts with the other workers.
	Coordinator string
	Blobs       blob.Store
	Slots       *Slots
	Version     string // of this worker; "" where the server has none
	// RelayVersion is that of the relay that the worker began with; "" is any.
	RelayVersion string
	// Patience is how long relay has to end in order; then its processes are killed.
	Patience time.Duration

	mu    sync.Mutex
	known os.FileInfo // the relay, when it was last asked for its version
	busy  map[string]*sync.Mutex
	whole map[string]bool // checkouts whose last run here came to its end
}

// beat is how often the engine hears that the run is under way, and how soon a run that was
// stopped hears of it.
const beat = 200 * time.Millisecond

// The kinds of errors that a history names.
const (
	Refused = "REFUSED" // asking again changes nothing
	Failed  = "FAILED"
)

// Tick makes one run. Its errors name a blob and not what went wrong: they stay in the history.
func (w *Worker) Tick(ctx context.Context, st job.Step) (job.Result, error) {
	var place atomic.Pointer[job.Result] // what is known of the result so far: where it is made
	place.Store(&job.Result{Worker: w.Queue})
	done := make(chan struct{})
	defer close(done)
	go func() {
		for t := time.NewTicker(beat); ; {
			select {
			case <-done:
				t.Stop()
				return
			case <-t.C:
				activity.RecordHeartbeat(ctx, place.Load())
			}
		}
	}()
	if queue := activity.GetInfo(ctx).TaskQueue; queue != w.Label { // there the poll has reserved a slot
		limited, cancel := ctx, context.CancelFunc(func() {})
		if queue != w.Queue || st.Do == job.Join && st.N == 0 && !st.Wait {
			if queue != w.Queue && w.Version != "" && st.Version != "" && st.Version != w.Version {
				return job.Result{Busy: true, Mirror: job.Other}, nil
			}
			limited, cancel = context.WithTimeout(ctx, w.Patience)
		}
		err := w.Slots.take(limited, &w.Slots.first)
		cancel()
		switch {
		case ctx.Err() != nil:
			return job.Result{}, temporal.NewCanceledError()
		case err != nil:
			return job.Result{Busy: true}, nil
		}
		defer w.Slots.give()
	}
	res, err := w.tick(ctx, st, st.Again || activity.GetInfo(ctx).Attempt > 1, func(mirror string) {
		place.Store(&job.Result{Worker: w.Queue, Mirror: mirror})
	})
	switch {
	case err == nil:
		return res, nil
	case ctx.Err() != nil:
		return res, temporal.NewCanceledError()
	}
	digest, perr := w.Blobs.Put([]byte(err.Error()))
	if perr != nil {
		digest = "none"
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	fmt.Fprintf(os.Stderr, "%s: attempt %d has failed: %s\n", st.ID, activity.GetInfo(ctx).Attempt, visible.ReplaceAllString(first, "?"))
	kind := Failed
	if errors.Is(err, errRefused) {
		kind = Refused
	}
	return res, temporal.NewApplicationErrorWithOptions("blob "+digest, kind, temporal.ApplicationErrorOptions{NonRetryable: kind == Refused})
}

var visible = regexp.MustCompile(`[^\pL\pM\pN\pP\pS ]`)

var errRefused = errors.New("relay refuses")

// tick makes one run; at is told whether the repository was here.
func (w *Worker) tick(ctx context.Context, st job.Step, again bool, at func(mirror string)) (res job.Result, err error) {
	s, err := w.spec(st.Spec)
	if err != nil {
		return res, fmt.Errorf("what is asked for can't be read: %w", err)
	}
	about := job.New(s, st.Spec, st.Queue)
	if st.Mirror == "" { // it was asked for before there was one
		about.Mirror = ""
	}
	if about != st.Job {
		return res, fmt.Errorf("%w: the blob is not what this run is about", errRefused)
	}
	if err := w.same(); err != nil {
		return res, err
	}
	ctx = context.WithValue(ctx, traced{}, st.ID)
	defer w.lock(st.Repo)()
	if ctx.Err() != nil {
		return res, ctx.Err()
	}
	mirror := st.Cold
	if w.has(ctx, s) {
		mirror = job.Here
	}
	at(mirror)
	begun := time.Now()
	dir, err := w.checkout(ctx, s)
	if err != nil {
		return res, err
	}
	w.Here(s.Remote)
	w.ended(dir, false)
	defer func() { w.ended(dir, err == nil) }()
	if st.Do == job.Look {
		res, err = w.ready(ctx, dir, s, st)
		res.Worker, res.Mirror, res.MS = w.Queue, mirror, time.Since(begun).Milliseconds()
		return res, err
	}
	word := ""
	if st.N > 0 {
		word, err = w.answer(ctx, dir, s, st, again)
		if no := (*refusal)(nil); errors.As(err, &no) {
			return w.askAgain(st, no)
		} else if err != nil {
			return res, err
		}
	}
	if st.Do == job.Join {
		made, err := w.spec(st.Task)
		if err != nil {
			return res, fmt.Errorf("what is to join can't be read: %w", err)
		}
		word = made.Key
	}
	args, in := w.command(s, st, word)
	if args == nil {
		return res, fmt.Errorf("%w: this worker knows no %q", errRefused, s.Kind)
	}
	doc, out, code, err := w.relay(ctx, dir, in, args...)
	if err == nil && doc.Cycle == nil && s.Kind == job.KindAudit && doc.What != "" {
		switch {
		case again:
			doc, out, code, err = w.cycle(ctx, dir, s.Service, "resume")
		case st.N == 0 && doc.Code == lockHeld: // the run that began it has ended: a branch's runs are made one after the other
			if _, _, _, err = w.cycle(ctx, dir, s.Service, "abort"); err == nil {
				doc, out, code, err = w.relay(ctx, dir, in, args...)
			}
		case st.N > 0:
			raw, _ := w.Blobs.Get(st.Answer.Question)
			no := &refusal{stopped: doc.stopped}
			_ = json.Unmarshal(raw, &no.q)
			return w.askAgain(st, no)
		}
	}
	if err != nil {
		return res, err
	}
	if res, err = w.result(doc, out, code); err != nil {
		return res, err
	}
	if doc.Cycle != nil {
		if res.Commit, err = w.pushCycle(ctx, dir, doc); err != nil {
			return res, err
		}
	}
	if res.Ask, err = w.ask(ctx, dir, doc, code); err != nil {
		return res, err
	}
	res.Ticks, res.Worker, res.Mirror, res.MS, res.Spend = st.Ticks+len(doc.Ticks), w.Queue, mirror, time.Since(begun).Milliseconds(), w.spent(ctx, dir, begun)
	if s.Kind == job.KindTask && res.Commit != "" { // git has the result
		_, _, _, _ = w.run(ctx, dir, nil, w.Relay, "gc", "--json") // what relay keeps for this checkout elsewhere
		_ = os.RemoveAll(dir)
	}
	if s.MaxTicks > 0 && res.Ticks >= s.MaxTicks {
		res.Ask = nil // no answer would have another tick made
	}
	return res, nil
}

// askAgain is the result of an answer that relay did not take.
func (w *Worker) askAgain(st job.Step, no *refusal) (res job.Result, err error) {
	_, before, _ := strings.Cut(no.q.Prompt, notTaken)
	if before == "" {
		before = no.q.Prompt
	}
	no.q.Prompt = no.Error() + notTaken + before
	a := &job.Ask{Of: st.Of, Only: st.Kind == job.KindAudit}
	res = job.Result{ExitCode: 1, Ticks: st.Ticks, Worker: w.Queue}
	res.Ask, err = w.put(a, no.q)
	return res, err
}

const notTaken = "\nrelay did not take that answer; it asks again: "

// result reads what relay says. Blocked is no result: another worker, or this one later, may
// get further.
func (w *Worker) result(doc said, out []byte, code int) (res job.Result, err error) {
	switch {
	case doc.Report == nil && doc.Reason == "" && doc.Cycle == nil:
		err := fmt.Errorf("relay ended with exit code %d: %s", code, doc.said(out))
		if code == 3 && doc.What != "" && !strings.HasPrefix(doc.Code, "BLOCKED_") { // those may pass: a lock, a remote that is away
			err = fmt.Errorf("%w: %w", errRefused, err)
		}
		return res, err
	case code == 3 || code > 128 || doc.Pushed != nil && doc.Pushed.What != "":
		return res, fmt.Errorf("relay ended with exit code %d: %s", code, doc.said(out))
	case code == 0 && doc.LoopID == "" && doc.Report != nil && doc.Report.Commit != "" && (doc.Earlier == nil || doc.Earlier.Here) && (doc.Pushed == nil || doc.Pushed.Branch == ""):
		return res, fmt.Errorf("what landed is not at the remote:\n%s", out)
	case doc.Earlier != nil && !doc.Earlier.Here && doc.Report.Commit != "":
		return res, fmt.Errorf("%w: the branch has diverged and does not have the commit; the result has it:\n%s", errRefused, out)
	}
	res = job.Result{ExitCode: code, Earlier: doc.Earlier != nil}
	if r := doc.Report; r != nil {
		res.Code, res.Run, res.Commit = r.Code, r.RunID, r.Commit
	}
	if doc.Reason != "" {
		res.Code, res.Run = doc.Reason, doc.LoopID+doc.RunID
	}
	if r := doc.Left; r != nil && len(doc.Tasks) > 0 {
		res.Code, res.Commit = doc.Tasks[0].Code, r.Object
	}
	if c := doc.Cycle; c != nil {
		res.Code, res.Run = c.State, c.UUID
	}
	res.Report, err = w.Blobs.Put(out)
	return res, err
}

// usual are the variables that relay and git need to be at home on this machine. Whatever else the worker was started with,
// the key to its Temporal server for one, is for those that the operator names.
var usual = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "LANG", "LC_ALL", "TZ", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME",
	"XDG_DATA_HOME", "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK", "GIT_CONFIG_NOSYSTEM", "SSL_CERT_FILE", "SSL_CERT_DIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY",
	"http_proxy", "https_proxy", "no_proxy", "RELAY_TRUST"}

func (w *Worker) environment() (all []string) {
	for _, name := range slices.Concat(usual, w.Env) {
		if v, ok := os.LookupEnv(name); ok {
			all = append(all, name+"="+v)
		}
	}
	return all
}

// traced is the key of the run whose spans a program continues with: those of all its attempts, on whichever machines, are one trace.
type traced struct{}

// maxOutput is the most that is kept of what a program says.
const maxOutput = 8 << 20

// run starts a program in a process group of its own. When ctx ends it gets SIGTERM, and what
// is left of the group after the worker's patience is killed.
func (w *Worker) run(ctx context.Context, dir string, in []byte, name string, args ...string) (out, said []byte, code int, err error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(in)
	stdout, stderr := &clipped{}, &clipped{}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.SysProcAttr = Group(syscall.SIGKILL)
	cmd.Env = append(w.environment(), "GIT_TERMINAL_PROMPT=0", "GIT_HTTP_LOW_SPEED_LIMIT=1", "GIT_HTTP_LOW_SPEED_TIME=60", "RELAY_COORDINATOR="+w.Coordinator,
		"RELAY_FLEET_BLOBS="+w.Blobs.Dir()) // relay hides it in its boxes
	if run, ok := ctx.Value(traced{}).(string); ok {
		trace := job.Digest([]byte("trace " + run))
		cmd.Env = append(cmd.Env, "TRACEPARENT=00-"+trace[:32]+"-"+trace[32:48]+"-01")
	}
	ended := make(chan struct{})
	cmd.Cancel = func() error {
		group := -cmd.Process.Pid
		err := syscall.Kill(group, syscall.SIGTERM)
		go func() {
			select {
			case <-ended:
			case <-time.After(w.Patience):
			}
			_ = syscall.Kill(group, syscall.SIGKILL) // also what outlived its leader
		}()
		return err
	}
	cmd.WaitDelay = w.Patience + time.Second
	err = cmd.Run()
	close(ended)
	if ctx.Err() != nil {
		return nil, nil, 0, ctx.Err()
	}
	if fail := (*exec.ExitError)(nil); errors.As(err, &fail) && fail.Exited() {
		err = nil
	}
	if err != nil {
		return nil, nil, 0, fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	return stdout.b.Bytes(), []byte(strings.TrimSpace(stderr.b.String())), cmd.ProcessState.ExitCode(), nil
}

// clipped keeps the first part of what is written.
type clipped struct{ b bytes.Buffer }

func (c *clipped) Write(p []byte) (int, error) {
	c.b.Write(p[:min(len(p), maxOutput-c.b.Len())])
	return len(p), nil
}
