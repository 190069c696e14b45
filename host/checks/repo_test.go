package checks

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/judge/git"
)

func TestMain(m *testing.M) {
	box.Init()
	os.Exit(m.Run())
}

// repo is a real repository, in which changes are made and checked.
type repo struct {
	t    testing.TB
	root string
	env  change.Env
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newRepo(t testing.TB) *repo {
	t.Helper()
	r := &repo{t: t, root: filepath.Join(t.TempDir(), "repo")}
	must(t, os.Mkdir(r.root, 0o755))
	r.git("init", "-q", "-b", "main")
	r.git("config", "user.name", "Ada")
	r.git("config", "user.email", "ada@example.org")
	r.write("README.md", "hello\n", 0o644)
	r.write("src/a.go", "package a\n", 0o644)
	r.write(".gitignore", "*.log\n/.relay/\n", 0o644)
	r.git("add", "-A")
	r.git("commit", "-qm", "base")
	r.open()
	return r
}

func (r *repo) open() {
	git, err := git.Open(context.Background(), r.root)
	must(r.t, err)
	state := filepath.Join(filepath.Dir(r.root), "state")
	must(r.t, os.MkdirAll(state, 0o700))
	r.env = change.Env{Git: git, StateDir: state, Journal: journal.Open(filepath.Join(r.root, ".relay/journal")), Environ: os.Environ(), Owned: []string{".relay/**", "relay.config.json"}}
}

// begin opens a change of the repository at its present HEAD, and its checks.
func (r *repo) begin(id string) *checked {
	r.t.Helper()
	head, branch, err := r.env.Git.Head(context.Background())
	must(r.t, err)
	c, err := change.Begin(context.Background(), r.env, change.Options{RunID: id, Base: head, Branch: branch})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { c.Discard() })
	return r.check(c, Options{})
}

// checked is a change with its checks.
type checked struct {
	*change.Change
	*Checker
}

func (r *repo) check(c *change.Change, o Options) *checked {
	r.t.Helper()
	k, err := New(c, o)
	must(r.t, err)
	return &checked{c, k}
}

func (r *repo) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "core.fsmonitor=false"}, args...)...)
	cmd.Dir = r.root
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r *repo) write(name, text string, mode fs.FileMode) {
	r.t.Helper()
	p := filepath.Join(r.root, name)
	must(r.t, os.MkdirAll(filepath.Dir(p), 0o755))
	must(r.t, os.WriteFile(p, []byte(text), mode))
	must(r.t, os.Chmod(p, mode))
}

// build runs a shell script as the builder.
func (r *repo) build(c *checked, script string) {
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

var wide = lawOf(judge.SquashCommits)

// lawOf is a wide policy.
func lawOf(own judge.BuilderCommits, named ...string) judge.Policy {
	none := []string{}
	p, _ := judge.NewPolicy(judge.Ceiling{Allowed: [][]string{{"**"}}, Forbidden: []string{"**/.env*"}, RunnerOwned: []string{".relay/**"}, Protected: none, Programs: none, Tests: []string{"**/*_test.sh"}, Lockfiles: none, Scratch: none,
		NewFiles: true, MaxFiles: 100, MaxLines: 1000, BuilderCommits: own},
		judge.Request{By: judge.Operator, Kind: judge.Execute, Allowed: append([]string{"README.md", "src/**", "gone", "gone/**"}, named...), NewFiles: true, MaxFiles: 100, MaxLines: 1000})
	return p
}
