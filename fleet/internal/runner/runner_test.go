package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/paxiom/relay/fleet/internal/blob"
	"github.com/paxiom/relay/fleet/internal/job"
)

// newWorker has a repository with one commit, and a program in place of relay.
func newWorker(t *testing.T, relay string) (*Worker, job.Spec) {
	t.Helper()
	dir := t.TempDir()
	remote := filepath.Join(dir, "remote")
	git := func(args ...string) {
		if out, err := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@t"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %s", args, out)
		}
	}
	git("init", "-q", "-b", "main", remote)
	git("-C", remote, "commit", "-q", "--allow-empty", "-m", "base")
	program := filepath.Join(dir, "relay")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"+relay), 0o755); err != nil {
		t.Fatal(err)
	}
	blobs, err := blob.Open(filepath.Join(dir, "blobs"), "")
	if err != nil {
		t.Fatal(err)
	}
	return &Worker{Relay: program, Dir: filepath.Join(dir, "checkouts"), Blobs: blobs, Patience: 300 * time.Millisecond, Slots: NewSlots(1), Here: func(string) {}, Label: "default-test-taskqueue"},
		job.Spec{Kind: "run", Remote: remote, Ref: "main", Key: "k1", Goal: "a canary"}
}

func (w *Worker) step(t *testing.T, s job.Spec) job.Step {
	t.Helper()
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	digest, err := w.Blobs.Put(raw)
	if err != nil {
		t.Fatal(err)
	}
	return job.Step{Job: job.New(s, digest, job.Pool)}
}

func (w *Worker) once(ctx context.Context, st job.Step, again bool) (job.Result, error) {
	return w.tick(ctx, st, again, func(string) {})
}

func execute(w *Worker, j job.Step) (res job.Result, err error) {
	var s testsuite.WorkflowTestSuite
	env := s.NewTestActivityEnvironment()
	env.RegisterActivity(w.Tick)
	v, err := env.ExecuteActivity(w.Tick, j)
	if err == nil {
		err = v.Get(&res)
	}
	return res, err
}

func TestTick(t *testing.T) {
	w, s := newWorker(t, `[ -e args ] || echo "$@" > args; echo '{"report": {"code": "STOP_FORBIDDEN", "run_id": "r1"}, "earlier": {"here": true}}'; exit 2`)
	j := w.step(t, s)
	res, err := execute(w, j)
	if err != nil || res.Code != "STOP_FORBIDDEN" || res.ExitCode != 2 || res.Run != "r1" || !res.Earlier {
		t.Fatal(res, err)
	}
	args, err := os.ReadFile(filepath.Join(w.Dir, mustOne(t, w.Dir), "args"))
	if err != nil || string(args) != "run --json --no-input --key k1 --push origin --goal a canary\n" {
		t.Errorf("%s %v", args, err)
	}
	if b, err := w.Blobs.Get(res.Report); err != nil || !strings.Contains(string(b), "STOP_FORBIDDEN") {
		t.Errorf("%s %v", b, err)
	}
}

// Each kind is one command of relay, and each answer is the command that gives it.
func TestCommands(t *testing.T) {
	until := time.Date(2026, 11, 24, 7, 0, 0, 0, time.UTC)
	w := &Worker{Signers: "/s"}
	for want, c := range map[string]struct {
		s    job.Spec
		st   job.Step
		word string
	}{
		"run --json --no-input --key k --push origin --signers /s --goal g":                                        {s: job.Spec{Kind: "run", Key: "k", Goal: "g"}},
		"run --json --no-input --key k-3 --push origin --signers /s --goal g":                                      {s: job.Spec{Kind: "run", Key: "k", Goal: "g"}, st: job.Step{N: 2}},
		"run --json --no-input --key k --push origin --signers /s --task -":                                        {s: job.Spec{Kind: "run", Key: "k", Task: []byte("{}")}},
		"loop --json --no-input --key k --push origin --signers /s --mode task --until 2026-11-24T07:00:00Z":       {s: job.Spec{Kind: "loop", Key: "k", Mode: "task", Until: until}},
		"loop --json --no-input --key k-2 --push origin --signers /s --mode task --max-ticks 3 --max-cost-usd 0.5": {s: job.Spec{Kind: "loop", Key: "k", Mode: "task", MaxTicks: 5, MaxCostUSD: 0.5}, st: job.Step{N: 1, Ticks: 2}},
		"pipeline run --json --no-input --push --only a --parallel 2":                                              {s: job.Spec{Kind: "pipeline", Only: "a", Parallel: 2}},
		"pipeline run --json --no-input --push --join k.a --signers /s":                                            {s: job.Spec{Kind: "pipeline", Key: "k"}, st: job.Step{Do: job.Join}, word: "k.a"},
		"pipeline run --json --no-input --push --only a --key k.a --signers /s":                                    {s: job.Spec{Kind: "task", Only: "a", Key: "k.a"}, st: job.Step{N: 1}},
		"audit start --json --no-input -- A-1":                                                                     {s: job.Spec{Kind: "audit", Service: "A-1"}},
		"audit continue --json --no-input --yes -- u":                                                              {s: job.Spec{Kind: "audit", Service: "A-1"}, st: job.Step{N: 1, Of: "u"}, word: "continue"},
		"audit accept --json --no-input -- u":                                                                      {s: job.Spec{Kind: "audit", Service: "A-1"}, st: job.Step{N: 2, Of: "u"}, word: "accept"},
		"":                                                                                                         {s: job.Spec{Kind: "other"}},
	} {
		if args, _ := w.command(c.s, c.st, c.word); strings.Join(args, " ") != want {
			t.Errorf("%q\nwant %q", args, want)
		}
	}
}

// What relay asks is in a blob, and the answer is given before it continues. One that it does not take is asked for again,
// but by an attempt that comes after a lost one: that may have given it.
func TestAnswer(t *testing.T) {
	w, s := newWorker(t, `echo "$@" >>../args
[ ! -e ../held ] || [ "$1" != answer ] || { echo '{"kind": "relay.error", "code": "BLOCKED_LOCK_HELD", "what": "another relay is at work"}'; exit 3; }
case "$1 $2" in
"recover "*) ;;
"answer "*) echo '{"kind": "relay.error", "what": "too long", "why": "it is", "next": "less"}'; exit 3;;
"cost "*) echo '{"total": {"calls": 2, "cost_usd": 0.0125, "unknown_cost_calls": 1}}';;
*) echo '{"report": {"code": "SUCCESS", "run_id": "r1", "question": {"prompt": "canary?", "choices": ["up", "down"]}}}'; exit 1;;
esac`)
	w.Queue = "mine"
	st := w.step(t, s)
	res, err := execute(w, st)
	if err != nil || res.Ask == nil || res.Ask.Of != "r1" || res.Ask.Choices != 2 || res.Ask.Only || res.Worker != "mine" || res.Spend != (job.Spend{Calls: 2, MicroUSD: 12500, Unknown: 1}) {
		t.Fatalf("%+v %v", res, err)
	}
	if b, err := w.Blobs.Get(res.Ask.Question); err != nil || string(b) != `{"prompt":"canary?","choices":["up","down"]}` {
		t.Errorf("%s %v", b, err)
	}
	next := job.Step{Job: st.Job, N: 1, Of: "r1", Answer: job.Answer{Question: res.Ask.Question, Choice: 2}}
	for range 2 {
		if res, err = w.once(t.Context(), next, false); err != nil || res.Ask == nil || res.Ask.Of != "r1" {
			t.Fatalf("%+v %v", res, err)
		}
		next.Answer.Question = res.Ask.Question
		if b, _ := w.Blobs.Get(res.Ask.Question); strings.Count(string(b), "too long: it is (fix: less)") != 1 || strings.Count(string(b), "canary?") != 1 {
			t.Errorf("%s", b)
		}
	}
	if _, err = w.once(t.Context(), next, true); err != nil {
		t.Fatal(err)
	}
	// One that meets a lock was not given.
	held := filepath.Join(w.Dir, "held")
	if err := os.WriteFile(held, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, again := range []bool{false, true} {
		if res, err := w.once(t.Context(), next, again); err == nil || errors.Is(err, errRefused) {
			t.Errorf("%+v %v", res, err)
		}
	}
	args, _ := os.ReadFile(filepath.Join(w.Dir, "args"))
	if got := string(args); strings.Count(got, "answer --json --no-input -- down\n") != 5 || strings.Count(got, "--key k1-2 ") != 1 {
		t.Errorf("%s", got)
	}
}

func mustOne(t *testing.T, dir string) string {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	return all[0].Name()
}

// What goes wrong is told by a blob: the text of an error stays in the history.
func TestErrorsAreBlobs(t *testing.T) {
	for name, c := range map[string]struct{ relay, kind string }{
		"it crashes":          {`echo canary >&2; exit 9`, Failed},
		"it is blocked":       {`echo '{"report": {"code": "BLOCKED_LOCK_HELD"}, "blocked": {"what": "canary", "why": "w", "next": "n"}}'; exit 3`, Failed},
		"a lock is held":      {`echo '{"kind": "relay.error", "code": "BLOCKED_LOCK_HELD", "what": "canary is running already"}'; exit 3`, Failed},
		"git is away":         {`echo '{"kind": "relay.error", "code": "BLOCKED_MISSING_CONFIG", "what": "canary can not be reached"}'; exit 3`, Failed},
		"it refuses":          {`echo '{"kind": "relay.error", "what": "the key canary is taken"}'; exit 3`, Refused},
		"it was interrupted":  {`echo '{"report": {"code": "STOP_INTERRUPTED", "run_id": "canary"}}'; exit 143`, Failed},
		"it landed here only": {`echo '{"report": {"code": "SUCCESS", "run_id": "canary", "commit": "c"}}'`, Failed},
		"it was not pushed":   {`echo '{"report": {"code": "SUCCESS"}, "pushed": {"what": "canary", "why": "w", "next": "n"}}'; exit 2`, Failed},
	} {
		t.Run(name, func(t *testing.T) {
			w, s := newWorker(t, c.relay)
			_, err := execute(w, w.step(t, s))
			var app *temporal.ApplicationError
			if !errors.As(err, &app) || app.Type() != c.kind || app.NonRetryable() != (c.kind == Refused) || strings.Contains(err.Error(), "canary") {
				t.Fatal(err)
			}
			digest, _ := strings.CutPrefix(app.Message(), "blob ")
			if b, err := w.Blobs.Get(digest); err != nil || !strings.Contains(string(b), "canary") || strings.Contains(c.relay, `"why"`) && !strings.HasSuffix(string(b), ": canary: w (fix: n)") {
				t.Errorf("%s %v", b, err)
			}
		})
	}
}

// relay gets what it needs to be at home, and of the rest what the operator names.
func TestEnvironment(t *testing.T) {
	t.Setenv("TEMPORAL_API_KEY", "canary")
	t.Setenv("NAMED", "yes")
	w, s := newWorker(t, `env > seen; echo '{"report": {"code": "SUCCESS"}}'`)
	w.Env = []string{"NAMED", "NOT_THERE"}
	if _, err := execute(w, w.step(t, s)); err != nil {
		t.Fatal(err)
	}
	seen, err := os.ReadFile(filepath.Join(w.Dir, mustOne(t, w.Dir), "seen"))
	if err != nil || strings.Contains(string(seen), "canary") || strings.Contains(string(seen), "NOT_THERE") || !strings.Contains(string(seen), "\nNAMED=yes\n") || !strings.Contains(string(seen), "HOME=") {
		t.Errorf("%s %v", seen, err)
	}
}

// The spans of one run are one trace, on whichever machine its attempts are; those of another run are another.
func TestOneTrace(t *testing.T) {
	trace := func(key string) string {
		w, s := newWorker(t, `echo $TRACEPARENT > seen; echo '{"report": {"code": "SUCCESS"}}'`)
		s.Key = key
		st := w.step(t, s)
		if _, err := w.once(t.Context(), st, false); err != nil {
			t.Fatal(err)
		}
		seen, err := os.ReadFile(filepath.Join(w.Dir, mustOne(t, w.Dir), "seen"))
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.WithValue(t.Context(), traced{}, st.ID) // as on another machine
		out, _, _, err := w.run(ctx, t.TempDir(), nil, "sh", "-c", "echo $TRACEPARENT")
		if err != nil || !bytes.Equal(out, seen) {
			t.Errorf("%s there, %s here, %v", out, seen, err)
		}
		return string(seen)
	}
	one, other := trace("a"), trace("b")
	if !regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-01\n$`).MatchString(one) || one == other {
		t.Errorf("%s%s", one, other)
	}
}

// What a run that was cut off had landed and not pushed is there for its next attempt, after relay has settled it, and not for
// another run.
func TestCutOffBeforeThePush(t *testing.T) {
	w, s := newWorker(t, `echo "$1 $(git log -1 --format=%s)" >>../seen
[ "$1" = run ] || exit 0
case "$*" in
*"--key k1 "*) [ -e ../once ] || { touch ../once; git -c user.name=t -c user.email=t@t commit -q --allow-empty -m mine --trailer "Relay-Key: k1"; exit 9; }
esac
echo '{"report": {"code": "STOP_SCOPE"}}'; exit 2`)
	for _, key := range []string{"k1", "k1", "k10"} {
		s.Key = key
		_, _ = w.once(t.Context(), w.step(t, s), false)
	}
	seen, err := os.ReadFile(filepath.Join(w.Dir, "seen"))
	if want := "run base\nrecover mine\nrun mine\ncost mine\nrun base\ncost base\n"; err != nil || string(seen) != want {
		t.Errorf("%q, want %q, %v", seen, want, err)
	}
}

// A relay that was cut off and has not ended yet has its checkout to itself: nothing is moved or begun there until it is gone.
func TestCutOffAndStillThere(t *testing.T) {
	w, s := newWorker(t, `echo "$1 $(git log -1 --format=%s)" >>../seen
case $1 in
recover) [ -e ../gone ] || { touch ../gone; echo '{"code": "BLOCKED_LOCK_HELD", "what": "another relay is at work"}'; exit 3; } ;;
run) [ -e ../once ] || { touch ../once; git -c user.name=t -c user.email=t@t commit -q --allow-empty -m theirs; exit 9; }
	echo '{"report": {"code": "STOP_SCOPE"}}'; exit 2 ;;
esac`)
	var errs []error
	for range 3 {
		_, err := w.once(t.Context(), w.step(t, s), false)
		errs = append(errs, err)
	}
	seen, err := os.ReadFile(filepath.Join(w.Dir, "seen"))
	if want := "run base\nrecover theirs\nrecover theirs\nrun base\ncost base\n"; err != nil || string(seen) != want {
		t.Errorf("%q, want %q, %v", seen, want, err)
	}
	if errs[1] == nil || !strings.Contains(errs[1].Error(), "another relay is at work") || errs[2] != nil {
		t.Error(errs)
	}
}

// What relay can't settle is said, and nothing is moved over it. Where it only has no configuration it has begun nothing.
func TestNotSettled(t *testing.T) {
	for name, c := range map[string]struct {
		recover string
		goesOn  bool
	}{
		"an apply that can't be settled": {`echo '{"code": "BLOCKED_CRASH_RECOVERY", "what": "canary"}'; exit 3`, false},
		"it crashes":                     {`echo canary >&2; exit 2`, false},
		"no configuration":               {`echo '{"code": "BLOCKED_MISSING_CONFIG", "what": "canary"}'; exit 3`, true},
	} {
		t.Run(name, func(t *testing.T) {
			w, s := newWorker(t, `[ "$1" != recover ] || { `+c.recover+`; }
[ "$1" = run ] || exit 0
[ -e ../once ] || { touch ../once; git -c user.name=t -c user.email=t@t commit -q --allow-empty -m theirs; exit 9; }
echo '{"report": {"code": "STOP_SCOPE"}}'; exit 2`)
			_, _ = w.once(t.Context(), w.step(t, s), false)
			_, err := w.once(t.Context(), w.step(t, s), false)
			if c.goesOn != (err == nil) || err != nil && (!strings.Contains(err.Error(), "canary") || errors.Is(err, errRefused)) {
				t.Error(err)
			}
		})
	}
}

// A loop ends with an error where a tick is not pushed: its document says nothing of the ticks that are.
func TestLoopLanded(t *testing.T) {
	w, s := newWorker(t, `echo '{"loop_id": "l", "reason": "task_done", "ticks": [{"n": 1}], "report": {"code": "SUCCESS", "run_id": "r1", "commit": "c"}}'`)
	s.Kind = job.KindLoop
	if res, err := w.once(t.Context(), w.step(t, s), false); err != nil || res.Code != "task_done" || res.Ticks != 1 || res.Commit != "c" {
		t.Error(res, err)
	}
}

// A blob that is about another repository than the run says is not believed.
func TestAnotherSpec(t *testing.T) {
	w, s := newWorker(t, "echo must not run; exit 9")
	j := w.step(t, s)
	s.Ref = "other"
	j.Spec = w.step(t, s).Spec
	var app *temporal.ApplicationError
	if _, err := execute(w, j); !errors.As(err, &app) || app.Type() != Refused {
		t.Error(err)
	}
}

// A stopped run leaves no process, within a second, whatever its program does about signals.
func TestStop(t *testing.T) {
	w, s := newWorker(t, `trap '' TERM; sleep 100 & echo $! > child; echo $$ > leader; wait; sleep 100`)
	ctx, cancel := context.WithCancel(t.Context())
	j := w.step(t, s)
	ended := make(chan error, 1)
	go func() { _, err := w.once(ctx, j, false); ended <- err }()
	var pids []int
	for deadline := time.Now().Add(60 * time.Second); len(pids) < 2; {
		if time.Now().After(deadline) {
			t.Fatal("it has not begun")
		}
		time.Sleep(10 * time.Millisecond)
		pids = nil
		files, _ := filepath.Glob(filepath.Join(w.Dir, "*", "[cl][he]*"))
		for _, f := range files {
			b, _ := os.ReadFile(f)
			if pid, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	time.Sleep(500 * time.Millisecond)
	for _, pid := range pids {
		if err := syscall.Kill(pid, 0); err == nil && !zombie(pid) {
			t.Errorf("process %d is there", pid)
		}
	}
}

func zombie(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || strings.Contains(string(b), ") Z ")
}
