package change

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// repo is a real repository with a list of changes that a box would have read.
type repo struct {
	t    testing.TB
	root string
	made string // new content, as a box's layer holds it
	env  Env
	kept []judge.Change
	move moves
	said chan string     // by Landing.Say
	ctx  context.Context // of follow; nil has no end
}

// submoduleAt and movedTo are commits of a submodule that is not checked out.
var submoduleAt, movedTo = strings.Repeat("1", 40), strings.Repeat("2", 40)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newRepo(t testing.TB) *repo {
	t.Helper()
	dir := t.TempDir()
	r := &repo{t: t, root: filepath.Join(dir, "repo"), made: filepath.Join(dir, "made"), said: make(chan string, 9)}
	must(t, os.Mkdir(r.root, 0o755))
	r.git("init", "-q", "-b", "main")
	r.git("config", "user.name", "Ada")
	r.git("config", "user.email", "ada@example.org")
	r.write("README.md", "hello\n", 0o644)
	r.write("src/a.go", "package a\n", 0o644)
	r.write("src/run.sh", "#!/bin/sh\n", 0o755)
	r.write("gone/only.txt", "x\n", 0o644)
	must(t, os.Symlink("a.go", filepath.Join(r.root, "src/link")))
	r.write("folder/of.txt", "x\n", 0o644)
	r.write("shut/in-place.txt", "x\n", 0o644)
	must(t, os.Symlink("src", filepath.Join(r.root, "to-src")))
	r.write(".gitignore", "*.log\n/.relay/\n", 0o644)
	r.git("add", "-A")
	must(t, os.Mkdir(filepath.Join(r.root, "module"), 0o755))
	r.git("update-index", "--add", "--cacheinfo", "160000,"+submoduleAt+",module")
	r.git("commit", "-qm", "base")
	r.shut(t)
	r.open()
	return r
}

// shut makes a folder one in which nobody may make or rename a file.
func (r *repo) shut(t testing.TB) {
	dir := filepath.Join(r.root, "shut")
	must(t, os.Chmod(dir, 0o555))
	t.Cleanup(func() { os.Chmod(dir, 0o755) }) // or an ordinary user could not remove it
}

// copy is the same repository once more, in a folder of its own.
func (r *repo) copy(t testing.TB) *repo {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("cp", "-a", r.root, filepath.Join(dir, "repo")).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v\n%s", err, out)
	}
	c := &repo{t: t, root: filepath.Join(dir, "repo"), made: filepath.Join(dir, "made")}
	c.shut(t)
	c.git("status", "--porcelain") // the index learns the copies' stamps
	c.open()
	return c
}

func (r *repo) open() {
	git, err := git.Open(context.Background(), r.root)
	must(r.t, err)
	state := filepath.Join(filepath.Dir(r.root), "state")
	must(r.t, os.MkdirAll(state, 0o700))
	r.env = Env{Git: git, StateDir: state, Journal: journal.Open(filepath.Join(r.root, ".relay/journal")), Environ: os.Environ(),
		Owned: []string{".relay/**", "relay.config.json"}}
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

func (r *repo) read(name string) string {
	r.t.Helper()
	b, err := os.ReadFile(filepath.Join(r.root, name))
	must(r.t, err)
	return string(b)
}

// change adds to kept what a builder would have done to name: text, mode 0 deletes.
func (r *repo) change(name, text string, mode fs.FileMode) {
	r.t.Helper()
	ch := judge.Change{Path: name, Kind: judge.Modified, NewMode: mode, Size: int64(len(text)), Nlink: 1}
	if fi, err := os.Lstat(filepath.Join(r.root, name)); err == nil && !fi.IsDir() {
		ch.Base, ch.OldMode = StampOf(fi), fi.Mode()
	} else {
		ch.Kind = judge.Added
	}
	if mode == 0 {
		ch.Kind, ch.Nlink = judge.Deleted, 0
	} else if mode&fs.ModeSymlink != 0 {
		ch.Link = text
	} else {
		p := filepath.Join(r.made, name)
		must(r.t, os.MkdirAll(filepath.Dir(p), 0o755))
		must(r.t, os.WriteFile(p, []byte(text), 0o644))
	}
	r.kept = append(r.kept, ch)
}

func (r *repo) ignored() { r.kept[len(r.kept)-1].Ignored = true }

func (r *repo) source(p string) (io.ReadCloser, error) { return os.Open(filepath.Join(r.made, p)) }

// land lands what change collected, under the run id.
func (r *repo) land(id string, commit bool) (Landed, error) {
	r.t.Helper()
	ctx := context.Background()
	head, branch, err := r.env.Git.Head(ctx)
	must(r.t, err)
	return r.landAt(ctx, id, commit, head, branch)
}

func (r *repo) landAt(ctx context.Context, id string, commit bool, head, branch string) (Landed, error) {
	r.t.Helper()
	log, err := r.env.Journal.Begin(id)
	must(r.t, err)
	layer := filepath.Join(r.env.StateDir, "boxes", id)
	must(r.t, log.Append(recBegin, beginning{Layer: layer, Base: head, Branch: branch}))
	must(r.t, os.MkdirAll(layer, 0o700))
	real, err := openReal(r.root)
	must(r.t, err)
	defer real.Close()
	l := &lander{env: r.env, log: log, real: real, base: head, branch: branch}
	k := newCommitter(r.env, layer)
	var build func(*plan) (string, error)
	if commit {
		build = func(p *plan) (string, error) {
			return l.build(ctx, k, p, Message{Subject: "relay: a test", Body: []string{"Because.\n\nRelay-Run: forged"},
				Trailers: []Trailer{{"Relay-Run", id}}})
		}
	}
	done, err := l.run(ctx, r.kept, r.move, r.source, map[string]string{"run": id}, build)
	k.remove()
	if err == nil {
		must(r.t, os.RemoveAll(layer))
		must(r.t, log.Settle())
	} else {
		log.Close()
	}
	return done, err
}

// snapshot is everything in the work tree and, with git, in .git.
func (r *repo) snapshot(git bool) string {
	r.t.Helper()
	var lines []string
	must(r.t, filepath.WalkDir(r.root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(r.root, p)
		if rel == ".relay" || !git && rel == ".git" {
			return filepath.SkipDir
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		line := fmt.Sprintf("%s %v", rel, fi.Mode())
		switch {
		case fi.Mode().IsRegular():
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %x", sha256.Sum256(b))
		case fi.Mode()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(p)
			line += " -> " + to
		}
		lines = append(lines, line)
		return nil
	}))
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

// clean fails unless git sees nothing to do and nothing of relay's is left.
func (r *repo) clean() {
	r.t.Helper()
	if out := r.git("status", "--porcelain"); out != "" {
		r.t.Errorf("the work tree is not clean:\n%s", out)
	}
	r.noLeftovers()
	if out := r.git("fsck", "--no-dangling", "--connectivity-only"); strings.Contains(out, "error") {
		r.t.Errorf("fsck: %s", out)
	}
}

func (r *repo) noLeftovers() {
	r.t.Helper()
	if out, _ := exec.Command("find", r.root, "-name", "*.relay-tmp", "-o", "-name", "*.relay-old").Output(); len(out) > 0 {
		r.t.Errorf("temporary files are left:\n%s", out)
	}
	for _, dir := range []string{r.env.Journal.Dir(), filepath.Join(r.env.StateDir, "boxes")} {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			r.t.Errorf("%s is left in %s", e.Name(), dir)
		}
	}
}

// diff gives the first line in which two snapshots differ.
func diff(a, b string) string {
	x, y := bytes.Split([]byte(a), []byte("\n")), bytes.Split([]byte(b), []byte("\n"))
	for i := range min(len(x), len(y)) {
		if !bytes.Equal(x[i], y[i]) {
			return fmt.Sprintf("%s | %s", x[i], y[i])
		}
	}
	return fmt.Sprintf("%d lines | %d lines", len(x), len(y))
}
