package change

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
)

// follow builds on a kept commit, lets the operator do something, and lands.
func (r *repo) follow(law judge.Policy, build, operator string, looks string) (Landed, int, error) {
	r.t.Helper()
	ctx := r.ctx
	if ctx == nil {
		ctx = context.Background()
	}
	if r.env.Keep = r.env.filtering().Keeper(r.env.Git, box.Overlay, ".relay"); r.env.Keep == nil {
		r.t.Fatal("no commit is kept")
	}
	c := r.begin("run-1")
	r.build(c, build)
	v, err := c.Judge(ctx, law)
	must(r.t, err)
	if v.Code != judge.Success {
		r.t.Fatalf("%+v", v)
	}
	l := Landing{Commit: true, Message: Message{Subject: "work"}, Say: func(what string) { r.said <- what }}
	r.sh(operator)
	again := 0
	l.Verify = func(ctx context.Context) (string, error) {
		again++
		if err := c.look(looks); err != nil {
			return "the check failed (" + err.Error() + ")", nil
		}
		return "", nil
	}
	landed, err := c.Land(ctx, l)
	must(r.t, c.Discard())
	return landed, again, err
}

func (r *repo) sh(script string) {
	r.t.Helper()
	for line := range strings.Lines(script) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if args, ok := strings.CutPrefix(line, "git "); ok {
			r.git(strings.Fields(args)...)
			continue
		}
		name, text, _ := strings.Cut(line, "=")
		r.write(name, text+"\n", 0o644)
	}
}

// What the operator commits meanwhile stays, and what was built is on top of it, verified
// on that very tree.
func TestLandOnTopOfTheOperatorsCommit(t *testing.T) {
	r := newRepo(t)
	landed, again, err := r.follow(wide, someWork, `
		src/run.sh=mine
		git commit -qam mine
		folder/of.txt=half
		draft.txt=mine`, `grep -q mine src/run.sh; grep -q changed README.md; grep -q x folder/of.txt; ! test -e draft.txt`)
	must(t, err)
	if got := r.git("log", "--format=%s"); got != "work\nmine\nbase" || r.git("rev-parse", "HEAD") != landed.Commit || r.git("rev-parse", "HEAD^") != landed.Base || again != 1 {
		t.Errorf("log %q, %+v, verified %d times more", got, landed, again)
	}
	if got := r.git("status", "--porcelain"); got != "M folder/of.txt\n?? draft.txt" {
		t.Errorf("status: %q", got)
	}
	if r.read("gone") != "now a file\n" || r.read("src/run.sh") != "mine\n" || r.read("folder/of.txt") != "half\n" {
		t.Error("content")
	}
}

// So are the builder's own commits, each of them.
func TestLandOwnCommitsOnTop(t *testing.T) {
	r := newRepo(t)
	_, _, err := r.follow(lawOf(judge.KeepCommits), `
echo one >> README.md; git -c user.name=b -c user.email=b@x commit -qam one
echo two > src/two.txt; git add -A; git -c user.name=b -c user.email=b@x commit -qam two`, `
		src/run.sh=mine
		git commit -qam mine`, "true")
	must(t, err)
	if got := r.git("log", "--format=%s"); got != "two\none\nmine\nbase" {
		t.Errorf("log: %q", got)
	}
	if got := r.git("log", "--format=", "--name-only", "-2"); got != "src/two.txt\nREADME.md" {
		t.Errorf("files: %q", got)
	}
	if got := r.git("status", "--porcelain"); got != "" {
		t.Errorf("status: %q", got)
	}
}

// On another branch the operator's files stay as they are, and the change is on the branch
// that it was built for.
func TestLandBesideTheWorkTree(t *testing.T) {
	for name, operator := range map[string]string{
		"at the base":  "git switch -q -c other",
		"and a commit": "git switch -q -c other\nsrc/a.go=mine\ngit commit -qam mine\ngit branch -f main main~0",
		"detached":     "git checkout -q --detach",
		"main moved":   "src/run.sh=mine\ngit commit -qam mine\ngit switch -q -c other",
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			landed, again, err := r.follow(wide, someWork, operator+"\nREADME.md=half", "true")
			must(t, err)
			if tree := r.git("rev-parse", "main"); tree != landed.Commit || len(landed.Notes) == 0 {
				t.Errorf("main is %s: %+v", tree, landed)
			}
			if r.git("show", "main:gone") != "now a file" || r.read("gone/only.txt") != "x\n" || r.read("README.md") != "half\n" || (again == 1) != (name == "main moved") {
				t.Errorf("content, verified %d times more", again)
			}
			if got := r.git("status", "--porcelain"); got != "M README.md" {
				t.Errorf("status: %q", got)
			}
		})
	}
}

// What can't go together is left alone, and says why.
func TestFollowConflicts(t *testing.T) {
	for name, c := range map[string]struct{ operator, why string }{
		"same file":    {"README.md=mine\ngit commit -qam mine", `"README.md" was changed`},
		"folder":       {"gone/more=mine\ngit add -A\ngit commit -qm mine", `"gone/more" was changed`},
		"edit":         {"README.md=mine\nsrc/run.sh=mine\ngit commit -qm mine src/run.sh", `holds changes of yours`},
		"checks":       {"src/run.sh=no\ngit commit -qam mine", "fails on top of"},
		"branch gone":  {"git switch -q -c other\ngit branch -q -D main", `the branch "main" is gone`},
		"another tree": {"git switch -q -c other\ngit worktree add -q ../tree main", "is checked out in"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			_, _, err := r.follow(wide, someWork, c.operator, "! grep -q no src/run.sh")
			f, ok := diag.As(err)
			if !ok || f.Code != judge.StopHeadMoved || !strings.Contains(f.Why, c.why) {
				t.Errorf("%v", err)
			}
			if got := r.git("log", "--all", "--format=%s"); strings.Contains(got, "work") {
				t.Errorf("log: %q", got)
			}
		})
	}
}

// A commit that comes at the last moment is followed, too, and a switch back is noticed.
func TestFollowAtTheLastMoment(t *testing.T) {
	for _, at := range []string{"apply.planned", "apply.checked", "apply.written", "apply.looked"} {
		r := newRepo(t)
		t.Cleanup(func() { journal.Failpoint = nil })
		journal.Failpoint = func(point string) {
			if point == at {
				journal.Failpoint = nil
				r.sh("src/run.sh=mine\ngit commit -qm mine src/run.sh")
			}
		}
		_, again, err := r.follow(wide, someWork, "", "grep -q mine src/run.sh")
		if err != nil || again != 1 {
			t.Fatalf("%s: %v, verified %d times more", at, err, again)
		}
		if got := r.git("log", "--format=%s"); got != "work\nmine\nbase" {
			t.Errorf("%s: log %q", at, got)
		}
		r.clean()
	}
}

// Commits that come faster than a check runs don't keep the change from landing for ever: it
// waits for a pause.
func TestFollowWhoKeepsCommitting(t *testing.T) {
	r := newRepo(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for until := time.Now().Add(4 * time.Second); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
			_ = exec.Command("git", "-C", r.env.Git.Root, "commit", "-q", "--allow-empty", "-m", "mine").Run() // may meet relay's lock
		}
	}()
	_, again, err := r.follow(wide, someWork, "", "sleep 0.3")
	<-done
	if err != nil || again == 0 {
		t.Fatalf("%v, verified %d times more", err, again)
	}
	if got := r.git("log", "--format=%s", "-1", "--", "README.md"); got != "work" {
		t.Errorf("log: %q", got)
	}
}

// What another git is writing at this moment is no edit of the operator's, and the wait is reported.
func TestFollowASwitchUnderWay(t *testing.T) {
	r := newRepo(t)
	lock, was := filepath.Join(r.env.Git.GitDir, "index.lock"), r.read("README.md")
	go func() {
		<-r.said
		r.write("README.md", was, 0o644)
		_ = os.Remove(lock)
	}()
	_, _, err := r.follow(wide, someWork, ".git/index.lock=\nREADME.md=of the other branch", "true")
	must(t, err)
	if got := r.git("log", "--format=%s"); got != "work\nbase" || r.git("status", "--porcelain") != "" {
		t.Errorf("log %q", got)
	}
}

// What the operator is in the middle of, and what a commit that lands would break, is waited
// for: a rebase whose list he still edits, and a commit whose message he writes.
func TestFollowWhatTheOperatorIsAt(t *testing.T) {
	const list = ".git/rebase-merge"
	for name, c := range map[string]struct{ operator, says string }{
		"rebase":  {list + "/head-name=refs/heads/main", "the rebase"},
		"message": {"", "the message"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			end := func() { _ = os.RemoveAll(filepath.Join(r.root, list)) }
			if name == "message" {
				editor := exec.Command("sleep", "60") // git gives an editor the file's name
				editor.Args[0] = filepath.Join(r.root, ".git", "COMMIT_EDITMSG")
				must(t, editor.Start())
				end = func() { _ = editor.Process.Kill(); _ = editor.Wait() }
			}
			defer end()
			before := make(chan string, 1)
			go func() {
				said := <-r.said
				before <- said + r.git("log", "--format=: %s")
				end()
			}()
			_, _, err := r.follow(wide, someWork, c.operator, "true")
			must(t, err)
			if got := r.git("log", "--format=%s"); got != "work\nbase" {
				t.Errorf("log %q", got)
			}
			select {
			case got := <-before:
				if !strings.Contains(got, c.says) || !strings.HasSuffix(got, ": base") {
					t.Errorf("said, and the log by then: %q", got)
				}
			default:
				t.Error("it was not waited for")
			}
		})
	}
}

// What stays is named in time, before the time of the tick is up.
func TestFollowWhatStays(t *testing.T) {
	for name, c := range map[string]struct{ operator, why string }{
		"lock":   {".git/index.lock=", "index.lock"},
		"rebase": {".git/rebase-merge/head-name=refs/heads/main", `a rebase of the branch "main" is under way`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			r.ctx = ctx
			_, _, err := r.follow(wide, someWork, c.operator, "true")
			if f, ok := diag.As(err); !ok || f.Code != judge.StopHeadMoved || !strings.Contains(f.Why, c.why) || ctx.Err() != nil {
				t.Errorf("%v", err)
			}
			if got := r.git("log", "--format=%s"); got != "base" {
				t.Errorf("log %q", got)
			}
		})
	}
}

// git stash and git reset put HEAD back to where they found it, whatever has landed since: what
// they took off the branch lands once more, and again.
func TestFollowAResetUnderWay(t *testing.T) {
	r := newRepo(t)
	t.Cleanup(func() { journal.Failpoint = nil })
	resets := 0
	journal.Failpoint = func(point string) {
		if point == "committed" && resets < 2 {
			resets++
			r.git("reset", "-q", "--hard", "HEAD~1")
		}
	}
	landed, _, err := r.follow(wide, someWork, "", "true")
	must(t, err)
	if got := r.git("log", "--format=%s"); got != "work\nbase" || r.git("rev-parse", "HEAD") != landed.Commit {
		t.Errorf("log %q, %+v", got, landed)
	}
	r.clean()
}

// A landing beside the work tree that is cut off is settled by what the branch has.
func TestBesideIsCutOff(t *testing.T) {
	for _, at := range []string{"", "committed"} {
		r := newRepo(t)
		cut := errors.New("cut off")
		func() {
			defer func() {
				if got := recover(); at != "" && got != cut {
					t.Errorf("%v", got)
				}
			}()
			t.Cleanup(func() { journal.Failpoint = nil })
			journal.Failpoint = func(point string) {
				if point == at {
					journal.Failpoint = nil
					panic(cut)
				}
			}
			r.follow(wide, someWork, "git switch -q -c other", "true")
		}()
		done, err := Recover(context.Background(), r.env, false, nil)
		must(t, err)
		if at != "" && (len(done) != 1 || !done[0].Landed || done[0].Commit != r.git("rev-parse", "main")) {
			t.Errorf("%s: %+v", at, done)
		}
		if r.git("status", "--porcelain") != "" || r.git("log", "-1", "--format=%s", "main") != "work" {
			t.Errorf("%q: %s", at, r.git("log", "-1", "--format=%s", "main"))
		}
	}
}

// Where git is told that modes mean nothing, as on a file system that keeps none, they are no edit.
func TestLandWhereModesMeanNothing(t *testing.T) {
	r := newRepo(t)
	r.git("config", "core.fileMode", "false")
	r.open()
	must(t, os.Chmod(filepath.Join(r.root, "src/a.go"), 0o755))
	_, _, err := r.follow(wide, "echo more >> src/a.go", "", "true")
	must(t, err)
	if got := r.git("ls-tree", "HEAD", "src/a.go"); !strings.HasPrefix(got, "100644 ") || !strings.HasSuffix(r.read("src/a.go"), "more\n") {
		t.Errorf("%q, %q", got, r.read("src/a.go"))
	}
	r.clean()
}
