package change

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/internal/sampling"
	"github.com/paxiom/relay/judge"
)

// judged is a change that may land.
func (r *repo) judged(ctx context.Context) (*Change, Landing) {
	r.t.Helper()
	c := r.begin("run-1")
	r.build(c, someWork)
	if v, err := c.Judge(ctx, wide); err != nil || v.Code != judge.Success {
		r.t.Fatalf("%+v %v", v, err)
	}
	return c, Landing{Commit: true, Message: Message{Subject: "work"}}
}

// TestMovedMeanwhile: what happens between the verdict and the landing counts.
func TestMovedMeanwhile(t *testing.T) {
	ctx := context.Background()
	for name, meanwhile := range map[string]func(*repo){
		"a file":    func(r *repo) { r.write("README.md", "the operator's\n", 0o644) },
		"the index": func(r *repo) { r.write("mine.txt", "mine\n", 0o644); r.git("add", "mine.txt") },
		"HEAD":      func(r *repo) { r.git("commit", "-q", "--allow-empty", "-m", "another") },
		"a branch":  func(r *repo) { r.git("checkout", "-q", "-b", "other") },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			c, l := r.judged(ctx)
			meanwhile(r)
			before := r.snapshot(false)
			_, err := c.Land(ctx, l)
			if f, ok := diag.As(err); !ok || f.Code != judge.StopHeadMoved {
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

// While another git holds the index nothing lands: the operator's next commit would take the
// change back, since the index would not know of it. A lock that goes is waited for.
func TestIndexHeld(t *testing.T) {
	sampling.Rare(t)
	ctx := context.Background()
	for name, stays := range map[string]bool{"stays": true, "goes": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			c, l := r.judged(ctx)
			lock := filepath.Join(r.root, ".git", "index.lock")
			r.write(".git/index.lock", "", 0o644)
			before := r.snapshot(false)
			if !stays {
				time.AfterFunc(100*time.Millisecond, func() { os.Remove(lock) })
			}
			done, err := c.Land(ctx, l)
			if stays {
				if f, ok := diag.As(err); !ok || f.Code != judge.StopHeadMoved || !strings.Contains(f.Why, "index.lock") {
					t.Errorf("%+v %v", done, err)
				}
				if r.snapshot(false) != before {
					t.Error("something was written")
				}
				must(t, os.Remove(lock))
			} else if must(t, err); r.git("status", "--porcelain", "--untracked-files=no") != "" {
				t.Errorf("git status: %s", r.git("status", "--porcelain"))
			}
			must(t, c.Discard())
		})
	}
}
