package change

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/verify"
)

// prepared is a judged change whose landing was begun, and is at the end of that.
func (r *repo) prepared(ctx context.Context) (*Change, Landing) {
	r.t.Helper()
	c := r.begin("run-1")
	r.build(c, someWork)
	if v, err := c.Judge(ctx, wide); err != nil || v.Code != judge.Success {
		r.t.Fatalf("%+v %v", v, err)
	}
	l := Landing{Commit: true, Message: Message{Subject: "work"}}
	before := r.snapshot(false)
	c.Prepare(ctx, l)
	if c.ahead == nil {
		r.t.Fatal("nothing was begun")
	}
	<-c.ahead.done
	must(r.t, c.ahead.err)
	if r.snapshot(false) != before || r.git("for-each-ref", "refs/relay") != "" {
		r.t.Error("more than objects was written")
	}
	return c, l
}

// TestPrepare: a landing that is begun beside the checks ends as one that is not.
func TestPrepare(t *testing.T) {
	ctx := context.Background()
	r := newRepo(t)
	c, l := r.prepared(ctx)
	if _, code := c.Verify(ctx, Checks{Env: os.Environ(), Commands: []verify.Command{{ID: "reads", Argv: []string{"git", "status"}}}}); code != judge.Success {
		t.Fatal(code)
	}
	commit := c.ahead.plan.Commit
	done, err := c.Land(ctx, l)
	must(t, err)
	must(t, c.Discard())
	r.clean()
	if done.Commit != commit || r.git("rev-parse", "HEAD") != commit || !strings.Contains(r.read("README.md"), "changed") {
		t.Errorf("landed %s, prepared %s", done.Commit, commit)
	}
	r.noLeftovers()
}

// TestPrepareTooEarly: what happens between the beginning and the landing counts.
func TestPrepareTooEarly(t *testing.T) {
	ctx := context.Background()
	for name, meanwhile := range map[string]func(*repo){
		"a file":    func(r *repo) { r.write("README.md", "the operator's\n", 0o644) },
		"the index": func(r *repo) { r.write("mine.txt", "mine\n", 0o644); r.git("add", "mine.txt") },
		"HEAD":      func(r *repo) { r.git("commit", "-q", "--allow-empty", "-m", "another") },
		"a branch":  func(r *repo) { r.git("checkout", "-q", "-b", "other") },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			c, l := r.prepared(ctx)
			meanwhile(r)
			before := r.snapshot(false)
			_, err := c.Land(ctx, l)
			if f, ok := fault.As(err); !ok || f.Code != judge.StopHeadMoved {
				t.Errorf("%v", err)
			}
			if r.snapshot(false) != before {
				t.Error("something was written all the same")
			}
			kept, err := c.Reject(ctx, l.Message)
			must(t, err)
			must(t, c.Discard())
			if got := r.git("show", kept.Ref+":README.md"); !strings.Contains(got, "changed") {
				t.Errorf("kept: %q", got)
			}
			left, _ := filepath.Glob(filepath.Join(r.env.StateDir, "boxes", "*"))
			if len(left) > 0 {
				t.Errorf("left: %q", left)
			}
		})
	}
}

// TestPrepareForNothing: a failed check throws it away.
func TestPrepareForNothing(t *testing.T) {
	ctx := context.Background()
	r := newRepo(t)
	before := r.snapshot(false)
	c, l := r.prepared(ctx)
	kept, err := c.Reject(ctx, l.Message)
	must(t, err)
	must(t, c.Discard())
	if kept.Ref == "" || r.snapshot(false) != before {
		t.Errorf("kept as %q", kept.Ref)
	}
	left, _ := filepath.Glob(filepath.Join(r.env.StateDir, "boxes", "*"))
	if len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// A git that outlives the relay that called it is waited for, and what it has written by
// then is removed.
func TestGitThatOutlivesRelay(t *testing.T) {
	r := newRepo(t)
	scratch := filepath.Join(r.env.StateDir, "boxes", "run-1")
	must(t, os.MkdirAll(filepath.Dir(scratch), 0o700))
	k, began := newCommitter(r.env, scratch), filepath.Join(r.env.StateDir, "began")
	_, err := k.write(t.Context(), nil, nil, "version") // from here on it holds the file
	must(t, err)
	held := int(k.heldFile.Fd())
	done := make(chan error)
	go func() {
		_, err := k.write(t.Context(), nil, nil, "-c", "alias.slow=!mkdir '"+k.stage+"'; touch '"+began+"'; sleep 0.3; touch '"+k.stage+"/late'", "slow")
		done <- err
	}()
	for _, err := os.Lstat(began); err != nil; _, err = os.Lstat(began) {
		time.Sleep(time.Millisecond)
	}
	// As the kernel does for a process that is gone; not by Close, since the file is
	// being used at the same time.
	null, err := os.Open(os.DevNull)
	must(t, err)
	defer null.Close()
	must(t, unix.Dup2(int(null.Fd()), held))
	after := newCommitter(r.env, scratch)
	after.quiet()
	if _, err := os.Lstat(filepath.Join(k.stage, "late")); err != nil {
		t.Errorf("it was not waited for: %v", err)
	}
	must(t, after.remove())
	must(t, <-done)
	r.noLeftovers()
}
