package push

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// world is a repository with a remote of its own.
type world struct {
	t      *testing.T
	git    *git.Repo
	remote string
}

func (w *world) run(dir string, args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@t"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %s: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (w *world) commit(dir, name string) string {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(name+"\n"), 0o644); err != nil {
		w.t.Fatal(err)
	}
	w.run(dir, "add", "-A")
	w.run(dir, "commit", "-qm", name)
	return w.run(dir, "rev-parse", "HEAD")
}

func newWorld(t *testing.T) *world {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, remote: filepath.Join(base, "remote.git")}
	root := filepath.Join(base, "repo")
	w.run(base, "init", "-q", "--bare", "-b", "main", w.remote)
	w.run(base, "init", "-q", "-b", "main", root)
	w.run(root, "remote", "add", "origin", w.remote)
	w.commit(root, "a.txt")
	if w.git, err = git.Open(t.Context(), root); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) push() (Result, error) {
	w.t.Helper()
	to, err := To(w.t.Context(), w.git, "origin", "")
	if err != nil {
		w.t.Fatal(err)
	}
	return Push(w.t.Context(), w.git, to, w.run(w.git.Root, "rev-parse", "HEAD"))
}

func (w *world) tip() string { return w.run(w.remote, "rev-parse", "refs/heads/main") }

func TestPush(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hook := filepath.Join(w.git.GitDir, "hooks", "pre-push")
	os.MkdirAll(filepath.Dir(hook), 0o755)
	if err := os.WriteFile(hook, []byte("#!/bin/sh\ntouch \""+w.remote+"/ran\"\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	first, err := w.push()
	if err != nil || first.Was != "" || w.tip() != first.Commit || first.Target.String() != "origin/main" {
		t.Fatalf("%+v, %v", first, err)
	}
	w.commit(w.git.Root, "b.txt")
	w.run(w.git.Root, "tag", "-am", "x", "v1")
	w.run(w.git.Root, "config", "push.followTags", "true")
	second, err := w.push()
	if err != nil || second.Was != first.Commit || w.tip() != second.Commit {
		t.Fatalf("%+v, %v", second, err)
	}
	if tags := w.run(w.remote, "tag"); tags != "" {
		t.Errorf("a tag went along: %s", tags)
	}
	if again, err := w.push(); err != nil || again.Was != second.Commit {
		t.Errorf("%+v, %v", again, err)
	}
	if _, err := os.Stat(w.remote + "/ran"); err == nil {
		t.Error("a hook ran")
	}
}

// What others pushed stays, and so does what is here.
func TestDiverged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, err := w.push(); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(filepath.Dir(w.git.Root), "other")
	w.run(filepath.Dir(other), "clone", "-q", w.remote, other)
	theirs := w.commit(other, "theirs.txt")
	w.run(other, "push", "-q", "origin", "main")
	ours := w.commit(w.git.Root, "ours.txt")
	w.run(w.git.Root, "config", "remote.origin.push", "+refs/heads/*:refs/heads/*")
	_, err := w.push()
	f, ok := diag.As(err)
	if !ok || f.Code != judge.StopHeadMoved || !strings.Contains(f.What, "origin/main") || w.tip() != theirs {
		t.Fatalf("%v; the remote is at %s", err, w.tip())
	}
	_, fix, _ := strings.Cut(f.Fix, "`git ")
	fix, _, _ = strings.Cut(fix, "`")
	edited := filepath.Join(w.git.Root, "ours.txt") // as the list of a pipeline may be
	if err := os.WriteFile(edited, []byte("not committed"), 0o644); err != nil {
		t.Fatal(err)
	}
	w.run(w.git.Root, strings.Fields(fix)...)
	if w.run(w.git.Root, "rev-parse", "HEAD") == ours {
		t.Fatal("nothing was joined")
	}
	w.run(w.git.Root, "merge-base", "--is-ancestor", ours, "HEAD") // what landed keeps its name
	if b, _ := os.ReadFile(edited); string(b) != "not committed" {
		t.Errorf("the edit became %q", b)
	}
	if r, err := w.push(); err != nil || w.tip() != r.Commit {
		t.Errorf("after the fix: %v", err)
	}
}

// A race is refused by the remote itself.
func TestRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hook := filepath.Join(w.remote, "hooks", "pre-receive")
	os.MkdirAll(filepath.Dir(hook), 0o755)
	if err := os.WriteFile(hook, []byte("#!/bin/sh\necho no releases today >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := w.push()
	if f, ok := diag.As(err); !ok || !strings.Contains(f.Why, "no releases today") || !strings.Contains(f.Fix, "git push origin") {
		t.Errorf("%v", err)
	}
}

func TestNowhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	for name, c := range map[string]struct{ remote, branch, want string }{
		"no remote": {"upstream", "", "there is no remote"},
		"an option": {"--mirror", "", "there is no remote"},
		"a refspec": {"origin", "a:b", "is not a valid branch name"},
		"an url":    {w.remote, "", "there is no remote"},
	} {
		if _, err := To(ctx, w.git, c.remote, c.branch); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.run(w.git.Root, "remote", "add", "gone", "file://user:secret@localhost/nowhere/at/all.git")
	err := Check(ctx, w.git, Target{"gone", "main"}, "HEAD")
	if f, ok := diag.As(err); !ok || !strings.Contains(f.What, "can't be reached") || strings.Contains(f.Why, "secret") {
		t.Errorf("%v", err)
	}
	w.run(w.git.Root, "checkout", "-q", "--detach")
	if _, err := To(ctx, w.git, "origin", ""); err == nil || !strings.Contains(err.Error(), "not clear to which branch") {
		t.Errorf("detached: %v", err)
	}
}
