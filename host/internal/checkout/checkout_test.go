package checkout

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/judge/git"
)

type repo struct {
	testing.TB
	k    *Keeper
	root string
}

func newRepo(t testing.TB) *repo {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &repo{TB: t, root: filepath.Join(dir, "repo")}
	r.put(".gitignore", "/big\n/small\n*.o\n")
	r.put("src/a.txt", "a\n")
	r.put("src/b.txt", "b\n")
	r.git("init", "-q", "-b", "main")
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "base")
	r.open()
	return r
}

// open has the keeper look at the repository at r.root.
func (r *repo) open() {
	r.Helper()
	git, err := git.Open(r.Context(), r.root)
	if err != nil {
		r.Fatal(err)
	}
	r.k = &Keeper{Git: git, Dir: filepath.Join(filepath.Dir(r.root), "kept")}
}

func (r *repo) git(args ...string) string {
	r.Helper()
	cmd := exec.Command("git", append([]string{"-C", r.root, "-c", "user.name=t", "-c", "user.email=t@t"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.Fatalf("git %s: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r *repo) put(name, text string) {
	r.Helper()
	at := filepath.Join(r.root, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
		r.Fatal(err)
	}
}

func (r *repo) take() *Tree {
	r.Helper()
	t, err := r.k.Take(r.Context(), r.git("rev-parse", "HEAD"), "main")
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(t.Release)
	return t
}

// holds checks a file of the checkout; "" is that it is not there.
func (r *repo) holds(t *Tree, name, want string) {
	r.Helper()
	got, err := os.ReadFile(filepath.Join(t.Kept.Root, name))
	if err != nil && want != "" || string(got) != want {
		r.Errorf("%s: %q, %v, want %q", name, got, err, want)
	}
}

// sameTime checks that a file has the time that it has in the work tree.
func (r *repo) sameTime(t *Tree, name string, want bool) {
	r.Helper()
	a, errA := os.Stat(filepath.Join(r.root, name))
	b, errB := os.Stat(filepath.Join(t.Kept.Root, name))
	if errA != nil || errB != nil || a.ModTime().Equal(b.ModTime()) != want {
		r.Errorf("%s: %v %v, %v %v", name, a, errA, b, errB)
	}
}

// What the operator does has no part in the checkout, and what git ignores is there.
func TestTake(t *testing.T) {
	r := newRepo(t)
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{"src/a.txt", "src/b.txt"} {
		if err := os.Chtimes(filepath.Join(r.root, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	r.put("src/b.txt", "half a sent")
	r.put("draft.txt", "mine")
	r.put("staged.txt", "mine")
	r.git("add", "staged.txt")
	r.put("src/a.o", "object")
	r.put("small/out", "built")
	for i := range maxFiles + 1 {
		r.put(fmt.Sprintf("big/%d", i), "")
	}
	tree := r.take()
	r.holds(tree, "src/a.txt", "a\n")
	r.sameTime(tree, "src/a.txt", true)
	r.holds(tree, "src/b.txt", "b\n")
	r.sameTime(tree, "src/b.txt", false)
	r.holds(tree, "draft.txt", "")
	r.holds(tree, "staged.txt", "")
	r.holds(tree, "src/a.o", "object")
	r.sameTime(tree, "src/a.o", true)
	r.holds(tree, "small/out", "built")
	r.holds(tree, "big/1", "")
	if !slices.Contains(tree.Kept.Shown, filepath.Join(r.root, "big")) {
		t.Errorf("shown: %q", tree.Kept.Shown)
	}
	if out, err := tree.Git.Run(t.Context(), nil, "status", "--porcelain"); err != nil || len(out) > 0 {
		t.Errorf("git status: %q, %v", out, err)
	}
	tree.Release()

	// Brought up to date: a commit, what is ignored no more, what is edited back.
	r.git("reset", "-q")
	r.put("src/b.txt", "b\n")
	r.git("rm", "-q", "src/a.txt")
	r.put("src/c.txt", "c\n")
	r.git("add", "src/c.txt")
	r.git("commit", "-q", "-m", "second")
	if err := os.RemoveAll(filepath.Join(r.root, "small")); err != nil {
		t.Fatal(err)
	}
	r.take().Release()
	if err := os.Chmod(filepath.Join(r.root, "src/c.txt"), 0o600); err != nil {
		t.Fatal(err)
	}
	again := r.take()
	if again.Kept.Root != tree.Kept.Root {
		t.Errorf("%s was not taken again", tree.Kept.Root)
	}
	r.holds(again, "src/a.txt", "")
	r.holds(again, "src/c.txt", "c\n")
	r.sameTime(again, "src/b.txt", true)
	r.sameTime(again, "src/c.txt", true)
	if fi, err := os.Stat(filepath.Join(again.Kept.Root, "src/c.txt")); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("src/c.txt: %v, %v", fi, err)
	}
	r.holds(again, "small/out", "")
	if out, err := again.Git.Run(t.Context(), nil, "status", "--porcelain"); err != nil || len(out) > 0 {
		t.Errorf("git status: %q, %v", out, err)
	}

	// Two at once do not share one.
	other := r.take()
	if other.Kept.Root == again.Kept.Root {
		t.Error("one checkout was given twice")
	}
}

// What is ignored is a matter of the commit: no uncommitted rule, and nothing that was taken
// out of the index, has a work in progress copied, or shown in the place of what git has.
func TestTakeByTheCommitsRules(t *testing.T) {
	r := newRepo(t)
	r.put(".gitignore", "/big\n/small\n*.o\nb/*\n!b/keep\n")
	r.put("src/x.o", "x\n")
	r.put("vendor/v.txt", "v\n")
	r.git("add", "-f", ".")
	r.git("commit", "-q", "-m", "more")
	r.put("b/one", "1")
	r.put("src/y.o", "object")
	tree := r.take()
	r.holds(tree, "b/one", "1")
	r.holds(tree, "src/y.o", "object")
	tree.Release()

	r.git("rm", "-r", "-q", "--cached", "vendor", "src/x.o")
	r.put(".gitignore", "/big\n/small\n*.o\nb/*\nvendor/\n/draft.txt\n")
	r.put("b/keep", "mine")
	for _, name := range []string{"draft.txt", "src/x.o", "vendor/v.txt", "vendor/new.txt"} {
		r.put(name, "mine")
	}
	check := func() {
		tree := r.take()
		for name, want := range map[string]string{"src/x.o": "x\n", "vendor/v.txt": "v\n", "vendor/new.txt": "", "draft.txt": "", "b/one": "1", "b/keep": "", "src/y.o": "object"} {
			r.holds(tree, name, want)
		}
		if out, err := tree.Git.Run(t.Context(), nil, "status", "--porcelain"); err != nil || len(out) > 0 {
			t.Errorf("git status: %q, %v", out, err)
		}
		tree.Release()
	}
	check()
	if err := os.RemoveAll(r.k.Dir); err != nil {
		t.Fatal(err)
	}
	check()

	// Once the commit says so they are.
	r.git("add", ".gitignore")
	r.git("commit", "-q", "-m", "less")
	tree = r.take()
	for _, name := range []string{"draft.txt", "src/x.o", "vendor/v.txt", "vendor/new.txt", "b/keep"} {
		r.holds(tree, name, "mine")
	}
}

// Folders that tools make ignore themselves: no commit has a rule for them. One whose own rules
// name only some of what is in it is not there, not even empty: a tool would take it for its own.
func TestTakeWhatIgnoresItself(t *testing.T) {
	r := newRepo(t)
	r.put(".pytest_cache/.gitignore", "# Created by pytest automatically.\n*\n")
	r.put(".pytest_cache/v/cache/nodeids", "[]")
	r.put("mine/.gitignore", "notes\n.gitignore\n")
	r.put("mine/notes/a", "a")
	for range 2 {
		tree := r.take()
		r.holds(tree, ".pytest_cache/.gitignore", "# Created by pytest automatically.\n*\n")
		r.holds(tree, ".pytest_cache/v/cache/nodeids", "[]")
		if _, err := os.Lstat(filepath.Join(tree.Kept.Root, "mine")); err == nil {
			t.Error("an empty folder is left")
		}
		tree.Release()
	}
}

// A checkout whose refresh was cut off is remade, whatever it holds.
func TestTakeAfterKill(t *testing.T) {
	r := newRepo(t)
	tree := r.take()
	tree.Release()
	if err := os.Remove(filepath.Join(filepath.Dir(tree.Kept.Root), readyFile)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tree.Kept.Root, "src/a.txt"), []byte("torn"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tree.Kept.Root, "stray"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	again := r.take()
	r.holds(again, "src/a.txt", "a\n")
	if _, err := os.Lstat(filepath.Join(again.Kept.Root, "stray")); err == nil {
		t.Error("a stray file is still there")
	}
}

// A filtered file that the operator told git not to look at is made of what git has.
func TestTakeFilteredAndHidden(t *testing.T) {
	r := newRepo(t)
	r.git("config", "filter.case.clean", "tr a-z A-Z")
	r.git("config", "filter.case.smudge", "tr A-Z a-z")
	r.put(".gitattributes", "*.dat filter=case\n")
	r.put("one.dat", "one\n")
	r.put("two.dat", "two\n")
	old := time.Now().Add(-time.Hour) // or git would compare contents, without the filter
	if err := os.Chtimes(filepath.Join(r.root, "one.dat"), old, old); err != nil {
		t.Fatal(err)
	}
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "filtered")
	r.git("update-index", "--assume-unchanged", "two.dat")
	r.put("two.dat", "mine\n")
	r.open()
	var made []string
	r.k.Smudge = func(_ context.Context, _ string, paths []string, to string) error {
		made = append(made, paths...)
		return os.WriteFile(filepath.Join(to, "two.dat"), []byte("two\n"), 0o644)
	}
	tree := r.take()
	r.holds(tree, "one.dat", "one\n")
	r.holds(tree, "two.dat", "two\n")
	if !slices.Equal(made, []string{"two.dat"}) {
		t.Errorf("made: %q", made)
	}
}

// In a sparse checkout, too, what the operator told git not to look at is what git has.
func TestTakeSparseAndHidden(t *testing.T) {
	r := newRepo(t)
	r.put("aside/c.txt", "c\n")
	r.git("add", "aside")
	r.git("commit", "-q", "-m", "aside")
	r.git("sparse-checkout", "set", "src")
	r.git("update-index", "--assume-unchanged", "src/b.txt")
	r.git("config", "core.ignoreStat", "true")
	r.open()
	r.put("src/b.txt", "mine\n")
	for range 2 {
		tree := r.take()
		r.holds(tree, "src/b.txt", "b\n")
		r.holds(tree, "aside/c.txt", "")
		tree.Release()
	}
}

// The commit says which files a filter stands for, whatever the operator has in the work tree.
func TestTakeAttributesOfTheCommit(t *testing.T) {
	r := newRepo(t)
	r.git("config", "filter.case.clean", "cat")
	r.git("config", "filter.case.smudge", "tr a-z A-Z")
	r.open()
	r.k.Smudge = func(_ context.Context, _ string, paths []string, to string) error {
		return os.WriteFile(filepath.Join(to, paths[0]), []byte("ONE\n"), 0o644)
	}
	r.put(".gitattributes", "")
	r.put("one.dat", "one\n")
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "plain")
	r.take().Release()
	r.put(".gitattributes", "*.dat filter=case\n")
	r.git("commit", "-q", "-a", "-m", "filtered")
	r.put(".gitattributes", "mine\n")
	if err := os.Remove(filepath.Join(r.root, "one.dat")); err != nil {
		t.Fatal(err)
	}
	tree := r.take()
	r.holds(tree, ".gitattributes", "*.dat filter=case\n")
	r.holds(tree, "one.dat", "ONE\n")
}

// A checkout that can't be made takes no room.
func TestTakeFails(t *testing.T) {
	r := newRepo(t)
	if _, err := r.k.Take(t.Context(), strings.Repeat("a", 40), "main"); err == nil {
		t.Fatal("a commit that is not there was taken")
	}
	if left, err := filepath.Glob(filepath.Join(r.k.Dir, "*", "*", treeDir)); err != nil || len(left) > 0 {
		t.Errorf("left: %q, %v", left, err)
	}
}

// A link that the operator has leads nothing out of the checkout.
func TestTakeThroughLink(t *testing.T) {
	r := newRepo(t)
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(r.root, "small")); err != nil {
		t.Fatal(err)
	}
	r.take().Release()
	if err := os.Remove(filepath.Join(r.root, "small")); err != nil {
		t.Fatal(err)
	}
	r.put("small/in", "tracked")
	r.git("add", "-f", "small/in")
	r.git("commit", "-q", "-m", "a folder")
	tree := r.take()
	r.holds(tree, "small/in", "tracked")
	if names, _ := os.ReadDir(outside); len(names) > 0 {
		t.Errorf("written outside: %v", names)
	}
}

func TestSweep(t *testing.T) {
	r := newRepo(t)
	held := r.take()
	r.take().Release()
	var gone []string
	sweep := func(root string, dry bool) {
		gone = nil
		if err := Sweep(r.k.Dir, func(of string) bool { return of == root }, dry, func(path string) { gone = append(gone, path) }); err != nil {
			t.Fatal(err)
		}
	}
	sweep("/elsewhere", false)
	if len(gone) > 0 {
		t.Errorf("removed of another repository: %q", gone)
	}
	for range 2 {
		if sweep(r.root, true); len(gone) != 1 {
			t.Errorf("would remove %q", gone)
		}
	}
	if sweep(r.root, false); len(gone) != 1 {
		t.Errorf("removed %q", gone)
	}
	r.holds(held, "src/a.txt", "a\n")
	held.Release()
	if sweep(r.root, false); len(gone) != 1 {
		t.Errorf("removed %q", gone)
	}
}

// A git directory that was moved out of the work tree, or back into it, leaves nothing of the old
// one behind.
func TestTakeGitDirMoves(t *testing.T) {
	r := newRepo(t)
	r.take().Release()
	for _, dir := range []string{filepath.Join(filepath.Dir(r.root), "apart.git"), filepath.Join(filepath.Dir(r.root), "moved.git")} {
		r.git("init", "-q", "--separate-git-dir", dir)
		r.open()
		tree := r.take()
		r.holds(tree, "src/a.txt", "a\n")
		if out, err := tree.Git.Run(t.Context(), nil, "status", "--porcelain"); err != nil || len(out) > 0 {
			t.Errorf("git status in a checkout of %s: %q, %v", dir, out, err)
		}
		tree.Release()
	}
}

// What git makes of a file on its way into the work tree is what it makes of it now, in a box too.
func TestTakeConversionChanges(t *testing.T) {
	r := newRepo(t)
	r.take().Release()
	r.git("config", "core.autocrlf", "true")
	r.git("rm", "-q", "src/a.txt")
	r.git("reset", "-q", "--hard")
	tree := r.take()
	r.holds(tree, "src/a.txt", "a\r\n")
	r.sameTime(tree, "src/a.txt", true)
	r.holds(tree, "src/b.txt", "b\n")
	if out, err := tree.Git.Run(t.Context(), nil, "status", "--porcelain"); err != nil || len(out) > 0 {
		t.Errorf("git status: %q, %v", out, err)
	}
}
