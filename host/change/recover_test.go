package change

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
	_ "github.com/paxiom/relay/judge/box/copies"
)

// A child process lands a change and is killed when it reaches its n-th point.
const (
	envRoot    = "CHANGE_TEST_ROOT"
	envKill    = "CHANGE_TEST_KILL"    // n
	envCommit  = "CHANGE_TEST_COMMIT"  // "true" or "false"
	envPoints  = "CHANGE_TEST_POINTS"  // file that lists the points reached
	envRecover = "CHANGE_TEST_RECOVER" // set: recover instead of landing
	envSave    = "CHANGE_TEST_SAVE"    // a file that the operator saves at the point before the n-th
)

func TestMain(m *testing.M) {
	box.Init()
	if root := os.Getenv(envRoot); root != "" {
		victim(root)
		return
	}
	os.Exit(m.Run())
}

// victim lands everything in the repository at root.
func victim(root string) {
	kill, _ := strconv.Atoi(os.Getenv(envKill))
	reached := 0
	list, err := os.OpenFile(os.Getenv(envPoints), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		panic(err)
	}
	journal.Failpoint = func(point string) {
		reached++
		fmt.Fprintln(list, point)
		if name := os.Getenv(envSave); name != "" && reached == kill-1 {
			os.WriteFile(filepath.Join(root, name), []byte("mine\n"), 0o644)
		}
		if reached == kill {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			time.Sleep(time.Hour)
		}
	}
	t := &fatal{}
	r := &repo{t: t, root: root, made: filepath.Join(filepath.Dir(root), "made")}
	r.open()
	if os.Getenv(envRecover) != "" {
		Recover(context.Background(), r.env, false, nil)
		return
	}
	r.everything()
	fmt.Println("landing")
	if _, err := r.land("run-1", os.Getenv(envCommit) == "true"); err != nil {
		panic(err)
	}
	fmt.Println("landed")
}

// fatal is a testing.TB for the child.
type fatal struct{ testing.TB }

func (*fatal) Helper()                   {}
func (*fatal) Fatal(args ...any)         { panic(fmt.Sprint(args...)) }
func (*fatal) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }

// child runs victim until its n-th point and gives the points it reached.
func child(t *testing.T, r *repo, n int, commit bool) []string {
	t.Helper()
	points := filepath.Join(filepath.Dir(r.root), "points")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envRoot+"="+r.root, envKill+"="+strconv.Itoa(n), envPoints+"="+points, envCommit+"="+strconv.FormatBool(commit))
	out, err := cmd.CombinedOutput()
	if n == 0 && err != nil {
		t.Fatalf("child: %v\n%s", err, out)
	}
	if n > 0 {
		if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || ws.Signal() != syscall.SIGKILL {
			t.Fatalf("child was not killed: %v\n%s", err, out)
		}
	}
	b, err := os.ReadFile(points)
	must(t, err)
	return strings.Fields(string(b))
}

// killedBetween gives a repository in which an apply was cut off after its first
// rename.
func killedBetween(t *testing.T) *repo {
	t.Helper()
	r := newRepo(t)
	points := child(t, r, 0, true)
	for n, p := range points {
		if p == "apply.renamed" {
			r = newRepo(t)
			child(t, r, n+2, true)
			return r
		}
	}
	t.Fatalf("no rename among %v", points)
	return nil
}

func TestRecoverStopsAtForeignEdits(t *testing.T) {
	r := killedBetween(t)
	r.write("README.md", "edited after the crash\n", 0o644)
	before, head := r.snapshot(false), r.git("rev-parse", "HEAD")
	done, err := Recover(context.Background(), r.env, false, nil)
	must(t, err)
	if len(done) != 1 || done[0].Conflict == "" || r.snapshot(false) != before {
		t.Fatalf("%+v", done)
	}
	done, err = Recover(context.Background(), r.env, true, nil)
	must(t, err)
	if len(done) != 1 || done[0].Conflict != "" {
		t.Fatalf("%+v", done)
	}
	r.noLeftovers()
	if r.read("README.md") != "edited after the crash\n" || r.git("rev-parse", "HEAD") != head {
		t.Error("the operator's file or HEAD was touched")
	}
	if out := r.git("status", "--porcelain"); out != "M README.md" {
		t.Errorf("status: %q", out)
	}
	if r.git("show", "refs/relay/run-1:README.md") != "hello, world" {
		t.Error("relay's version was not kept")
	}
}

func TestRecoverAfterOtherWork(t *testing.T) {
	r := killedBetween(t)
	r.git("checkout", "-q", "--force", "-b", "elsewhere")
	r.git("clean", "-qfd", "-e", ".relay")
	r.git("commit", "-q", "--allow-empty", "-m", "mine")
	head := r.git("rev-parse", "HEAD")
	done, err := Recover(context.Background(), r.env, false, nil)
	must(t, err)
	if len(done) != 1 || done[0].Conflict != "" || done[0].Landed {
		t.Fatalf("%+v", done)
	}
	r.clean()
	if r.git("rev-parse", "HEAD") != head {
		t.Error("HEAD moved")
	}
}

func TestUndo(t *testing.T) {
	ctx := context.Background()
	r := newRepo(t)
	base := r.snapshot(false)
	r.everything()
	landed, err := r.land("run-1", true)
	must(t, err)

	readme := r.read("README.md")
	r.write("README.md", "mine\n", 0o644)
	r.write("dirt", "x", 0o644)
	r.write("to-be.txt", "half", 0o644)
	r.git("add", "to-be.txt")
	f, ok := diag.As(func() error {
		err := Undo(ctx, r.env, "undo-1", "", landed.Commit, Message{Subject: "undo"}, func(Undone) error { return nil })
		return err
	}())
	if !ok || !strings.Contains(f.Why, `"README.md" differs`) {
		t.Errorf("undone over a change that is not committed: %v", f)
	}
	r.write("README.md", readme, 0o644)
	var u Undone
	err = Undo(ctx, r.env, "undo-1", "", landed.Commit, Message{Subject: "undo"}, func(is Undone) error { u = is; return nil })
	must(t, err)
	if got := r.git("status", "--porcelain"); got != "A  to-be.txt\n?? dirt" { // what is elsewhere stays, staged as it was
		t.Errorf("status: %q", got)
	}
	must(t, os.Remove(filepath.Join(r.root, "dirt")))
	r.git("reset", "-q", "--hard")
	r.clean()
	if got := r.snapshot(false); got != base {
		t.Errorf("not the base: %s", diff(base, got))
	}
	if r.git("rev-parse", "HEAD^") != landed.Commit || r.git("rev-parse", "HEAD") != u.Commit {
		t.Error("HEAD")
	}
	if err := Undo(ctx, r.env, "undo-2", "", landed.Commit, Message{Subject: "undo"}, func(Undone) error { return nil }); err == nil {
		t.Error("undone below later work")
	}
}

func TestRawCommitKeepsBytes(t *testing.T) {
	r := newRepo(t)
	r.git("config", "core.autocrlf", "true")
	r.change("README.md", "a\r\nb\r\n", 0o644)
	r.change("src/a.go", "", 0)
	r.change("gone", "file now\n", 0o755)
	before := r.snapshot(false)
	k := newCommitter(r.env, filepath.Join(r.env.StateDir, "x"))
	ctx := context.Background()
	head, _, err := r.env.Git.Head(ctx)
	must(t, err)
	commit, err := k.rawCommit(ctx, head, r.kept, func(ch judge.Change) (io.ReadCloser, error) { return r.source(ch.Path) }, Message{Subject: "kept"})
	must(t, err)
	must(t, k.remove())
	if got := r.git("ls-tree", "-r", "--name-only", commit); strings.Contains(got, "a.go") || !strings.Contains(got, "gone") || strings.Contains(got, "only.txt") {
		t.Errorf("tree:\n%s", got)
	}
	out, err := exec.Command("git", "-C", r.root, "cat-file", "blob", commit+":README.md").Output()
	if err != nil || string(out) != "a\r\nb\r\n" {
		t.Errorf("%q, %v", out, err)
	}
	if r.snapshot(false) != before {
		t.Error("the tree was touched")
	}
}
