package change

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/patch"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
)

// begin opens a change of the repository at its present HEAD.
func (r *repo) begin(id string) *Change {
	r.t.Helper()
	head, branch, err := r.env.Git.Head(context.Background())
	must(r.t, err)
	c, err := Begin(context.Background(), r.env, Options{RunID: id, Base: head, Branch: branch})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { c.Discard() })
	return c
}

// build runs a shell script as the builder.
func (r *repo) build(c *Change, script string) {
	r.t.Helper()
	var out bytes.Buffer
	pr, pw, err := os.Pipe()
	must(r.t, err)
	p, err := c.Box().Start(box.Proc{Argv: []string{"/bin/sh", "-ec", script}, Stdout: pw, Stderr: pw,
		Env: []string{"PATH=/usr/bin:/bin", "HOME=" + os.Getenv("HOME"), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null"}})
	pw.Close()
	if err != nil {
		r.t.Fatalf("this machine allows no box: %v", err)
	}
	out.ReadFrom(pr)
	state, err := p.Wait()
	must(r.t, err)
	if !state.OK() {
		r.t.Fatalf("builder: %+v\n%s", state, out.String())
	}
}

// look runs a shell script in a box that shows the change.
func (c *Change) look(script string) error {
	fresh, err := c.Fresh("look", c.verdict.Kept)
	if err != nil {
		return err
	}
	defer fresh.Discard()
	p, err := fresh.Start(box.Proc{Argv: []string{"sh", "-ec", script}, Env: os.Environ()})
	if err != nil {
		return err
	}
	if state, err := p.Wait(); err != nil || !state.OK() {
		return fmt.Errorf("%q: %+v %w", script, state, err)
	}
	return nil
}

var wide = lawOf(judge.SquashCommits)

// lawOf is a wide policy.
func lawOf(own judge.BuilderCommits, named ...string) judge.Policy {
	none := []string{}
	p, _ := judge.NewPolicy(judge.Ceiling{Allowed: [][]string{{"**"}}, Forbidden: []string{"**/.env*"}, RunnerOwned: []string{".relay/**"}, Protected: none, Programs: none, Tests: []string{"**/*_test.sh"}, Lockfiles: none, Scratch: none,
		NewFiles: true, MaxFiles: 100, MaxLines: 1000, BuilderCommits: own},
		judge.Request{By: judge.Operator, Kind: judge.Execute, Allowed: append([]string{"README.md", "src/**", "gone", "gone/**"}, named...), NewFiles: true, MaxFiles: 100, MaxLines: 1000})
	return p
}

const someWork = `
echo changed >> README.md
rm src/a.go
mkdir -p src/new; echo x > src/new/file
chmod 755 src/new/file
ln -sf run.sh src/link
rm -r gone; echo now a file > gone
echo junk > junk.log
git add -A && git -c user.name=b -c user.email=b@x commit -qm "builder's own"
`

func TestWholePassage(t *testing.T) {
	ctx := context.Background()
	r := newRepo(t)
	c := r.begin("run-1")
	before := r.snapshot(false)
	r.build(c, someWork)
	v, err := c.Judge(ctx, wide)
	must(t, err)
	if v.Code != judge.Success || !v.BuilderCommitted || v.Radius.New != 2 && v.Radius.New != 3 {
		t.Fatalf("%+v", v)
	}
	if r.snapshot(false) != before {
		t.Error("the builder wrote the real tree")
	}
	for i, script := range []string{
		"grep -q changed README.md",
		"! test -e junk.log && ! test -e src/a.go",
		"echo evil > README.md; echo evil > .git/config; rm -rf src", // it writes nothing
		"grep -q changed README.md",                                  // each afresh
	} {
		if err := c.look(script); err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
	done, err := c.Land(ctx, Landing{Commit: true, Message: Message{Subject: "work"}})
	must(t, err)
	must(t, c.Discard())
	r.clean()
	if r.read("gone") != "now a file\n" || !strings.Contains(r.read("README.md"), "changed") {
		t.Error("content")
	}
	if got := r.git("log", "--format=%s", "-2"); got != "work\nbase" || r.git("rev-parse", "HEAD") != done.Commit {
		t.Errorf("log: %q", got)
	}
	if _, err := os.Lstat(filepath.Join(r.root, "junk.log")); err == nil {
		t.Error("scratch was applied")
	}
}

func TestRejectedWorkIsKept(t *testing.T) {
	ctx := context.Background()
	r := newRepo(t)
	c := r.begin("run-1")
	before := r.snapshot(false)
	r.build(c, someWork+`
printf evil > "$(printf 'bad\nname')"
mkfifo src/fifo
mkdir -p .relay; echo forged > .relay/STATE.json
ln -s /etc/passwd src/out
echo KEY=1 > .env`)
	v, err := c.Judge(ctx, wide)
	must(t, err)
	if v.Code.Outcome() != judge.OutcomeStop {
		t.Fatalf("%+v", v)
	}
	if _, err := c.Land(ctx, Landing{Commit: true}); err == nil {
		t.Fatal("a rejected change landed")
	}
	patch, err := patch.Bytes(c.Left)
	must(t, err)
	if !bytes.Contains(patch, []byte("+changed")) || !bytes.Contains(patch, []byte("src/new/file")) {
		t.Errorf("patch:\n%s", patch)
	}
	kept, err := c.Reject(ctx, Message{Subject: "rejected"})
	must(t, err)
	must(t, c.Discard())
	if r.snapshot(false) != before {
		t.Error("the work tree was touched")
	}
	r.clean()
	tree := r.git("ls-tree", "-r", "--name-only", kept.Ref)
	for name, want := range map[string]bool{"src/new/file": true, "gone": true, ".env": true, "src/a.go": false, "fifo": false, "bad": false, "STATE.json": false, "src/out": false, "junk.log": false} {
		if strings.Contains(tree, name) != want {
			t.Errorf("%s in the kept tree: %v", name, !want)
		}
	}
	if len(kept.Notes) != 1 {
		t.Errorf("notes %q", kept.Notes)
	}
	must(t, Branch(ctx, r.env.Git, "run-1", "rescued"))
	if r.git("rev-parse", "rescued") != r.git("rev-parse", kept.Ref) {
		t.Error("branch")
	}
	if Branch(ctx, r.env.Git, "run-1", "rescued") == nil || Branch(ctx, r.env.Git, "run-1", "-x") == nil {
		t.Error("a branch was replaced, or has a bad name")
	}
}

func TestOperatorEditsDuringTheBuild(t *testing.T) {
	ctx := context.Background()
	r := newRepo(t)
	c := r.begin("run-1")
	r.build(c, "echo changed >> README.md; echo more >> src/run.sh")
	_, err := c.Judge(ctx, wide)
	must(t, err)
	r.write("README.md", "mine\n", 0o644)
	_, err = c.Land(ctx, Landing{Commit: true, Message: Message{Subject: "work"}})
	if f, ok := diag.As(err); !ok || f.Code != judge.StopHeadMoved {
		t.Fatalf("error %v", err)
	}
	kept, err := c.Reject(ctx, Message{Subject: "rejected"})
	must(t, err)
	must(t, c.Discard())
	if r.read("README.md") != "mine\n" || r.read("src/run.sh") != "#!/bin/sh\n" {
		t.Error("the tree was written")
	}
	if got := r.git("show", kept.Ref+":README.md"); !strings.Contains(got, "changed") {
		t.Errorf("kept %q", got)
	}
	r.noLeftovers()
}

// In a linked work tree, where commits are kept, the builder has its own git all the same.
func TestLinkedWorkTreeIsKept(t *testing.T) {
	ctx := context.Background()
	r := newRepo(t)
	wt := filepath.Join(filepath.Dir(r.root), "linked")
	r.git("worktree", "add", "-q", "-b", "side", wt)
	r.root = wt
	r.open()
	if r.env.Keep = r.env.filtering().Keeper(r.env.Git, box.Overlay, ".relay"); r.env.Keep == nil {
		t.Fatal("no commits are kept")
	}
	r.write("draft.txt", "mine\n", 0o644)
	c := r.begin("run-1")
	r.build(c, `test ! -e draft.txt
test "$(git branch --show-current)" = side
echo changed >> README.md
git -c user.name=b -c user.email=b@x commit -qam own`)
	_, err := c.Judge(ctx, wide)
	must(t, err)
	_, err = c.Land(ctx, Landing{Commit: true, Message: Message{Subject: "work"}})
	must(t, err)
	must(t, c.Discard())
	if got := r.git("log", "-p", "--format=%s", "-1", "side"); !strings.Contains(got, "+changed") || strings.Contains(got, "mine") {
		t.Errorf("landed %s", got)
	}
	if r.read("draft.txt") != "mine\n" {
		t.Error("the operator's draft was written")
	}
}

func TestOddRepositories(t *testing.T) {
	for name, odd := range map[string]func(r *repo){
		"sha256": func(r *repo) {
			must(r.t, os.RemoveAll(filepath.Join(r.root, ".git")))
			r.git("init", "-q", "-b", "main", "--object-format=sha256")
			r.git("config", "user.name", "Ada")
			r.git("config", "user.email", "ada@example.org")
			r.git("add", "-A")
			r.git("commit", "-qm", "base")
		},
		"linked worktree": func(r *repo) {
			wt := filepath.Join(filepath.Dir(r.root), "linked")
			r.git("worktree", "add", "-q", "-b", "side", wt)
			r.root = wt
		},
		"split index":     func(r *repo) { r.git("update-index", "--split-index") },
		"index v4":        func(r *repo) { r.git("update-index", "--index-version", "4") },
		"untracked cache": func(r *repo) { r.git("update-index", "--untracked-cache") },
		"fsmonitor":       func(r *repo) { r.git("config", "core.fsmonitor", "touch ran; false") },
		"packed refs":     func(r *repo) { r.git("gc", "-q") },
		"sparse": func(r *repo) {
			r.git("sparse-checkout", "set", "--no-cone", "/*", "!gone")
		},
		"no file modes": func(r *repo) { r.git("config", "core.fileMode", "false") },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			odd(r)
			r.open()
			r.change("README.md", "hello, world\n", 0o644)
			r.change("src/a.go", "", 0)
			r.change("src/new", "x\n", 0o644)
			base := r.snapshot(false)
			done, err := r.land("run-1", true)
			must(t, err)
			r.clean()
			if _, err := os.Lstat(filepath.Join(r.root, "ran")); err == nil {
				t.Error("fsmonitor ran")
			}

			err = Undo(context.Background(), r.env, "undo-1", "", done.Commit, Message{Subject: "undo"}, func(Undone) error { return nil })
			must(t, err)
			r.clean()
			if got := r.snapshot(false); got != base {
				t.Errorf("not the base: %s", diff(base, got))
			}
		})
	}
}
