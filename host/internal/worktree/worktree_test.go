package worktree

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/judge/git"
)

func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@t"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func pool(t *testing.T) *Pool {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(base, "repo")
	os.Mkdir(root, 0o755)
	run(t, root, "init", "-q", "-b", "main")
	os.WriteFile(filepath.Join(root, "a.txt"), []byte("one\n"), 0o644)
	os.WriteFile(filepath.Join(root, ".gitignore"), []byte("*.log\n"), 0o644)
	run(t, root, "add", "-A")
	run(t, root, "commit", "-qm", "base")
	git, err := git.Open(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	return &Pool{Git: git, Dir: Dir(filepath.Join(base, "pool"), git)}
}

// A tree that was given back is taken over, and nothing of its last owner is in it.
func TestTakeOver(t *testing.T) {
	p, ctx := pool(t), t.Context()
	first, err := p.Take(ctx, "one", "work/one", "main")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"a.txt": "changed\n", "new.txt": "new\n", "x.log": "ignored\n"} {
		os.WriteFile(filepath.Join(first, name), []byte(text), 0o644)
	}
	second, err := p.Take(ctx, "two", "", "main")
	if err != nil || second == first {
		t.Fatalf("%s, %v", second, err)
	}
	if err := p.Release(ctx, first, "two"); err != nil || ownerOf(first) != "one" {
		t.Fatalf("a stranger gave the tree back: %v", err)
	}
	if err := p.Release(ctx, first, "one"); err != nil {
		t.Fatal(err)
	}
	run(t, p.Git.Root, "branch", "-D", "work/one") // it is free
	third, err := p.Take(ctx, "three", "work/three", "main")
	if err != nil || third != first {
		t.Fatalf("%s instead of %s, %v", third, first, err)
	}
	if out := run(t, third, "status", "--porcelain", "--ignored"); out != "" {
		t.Errorf("left behind: %s", out)
	}
	if b := run(t, third, "branch", "--show-current"); b != "work/three" {
		t.Errorf("on branch %q", b)
	}
	if run(t, p.Git.Root, "status", "--porcelain") != "" || run(t, p.Git.Root, "branch", "--show-current") != "main" {
		t.Error("the operator's checkout was touched")
	}
}

func TestRoomAndCollect(t *testing.T) {
	p, ctx := pool(t), t.Context()
	full := errors.New("full")
	p.Room = func(n int, bytes int64) error {
		if n > 0 && bytes == 0 {
			t.Error("the sizes were not looked at")
		}
		if n >= 2 {
			return full
		}
		return nil
	}
	gone := map[string]bool{}
	p.Alive = func(o string) bool { return !gone[o] }
	take := func(owner string) (string, error) { return p.Take(context.WithoutCancel(ctx), owner, "", "main") }
	a, err := take("a")
	if err != nil {
		t.Fatal(err)
	}
	b, err := take("b")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := take("c"); !errors.Is(err, full) {
		t.Fatalf("a third: %v", err)
	}
	gone["a"] = true // its owner ended without giving it back
	if c, err := take("c"); err != nil || c != a {
		t.Fatalf("%s, %v", c, err)
	}
	gone["c"] = true
	for _, dry := range []bool{true, false} {
		trees, err := p.Collect(ctx, dry)
		if err != nil || len(trees) != 1 || trees[0].Path != a || trees[0].Bytes == 0 {
			t.Fatalf("dry %v: %+v, %v", dry, trees, err)
		}
	}
	if left, err := p.List(false); err != nil || len(left) != 1 || left[0].Path != b || left[0].Owner != "b" {
		t.Errorf("%+v, %v", left, err)
	}
	if out := run(t, p.Git.Root, "worktree", "list"); strings.Contains(out, a+" ") || !strings.Contains(out, b) {
		t.Errorf("git knows: %s", out)
	}
}
