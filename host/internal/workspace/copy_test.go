package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What a repository brings in the workspace is neither read, nor overwritten, nor followed.
func TestPublishIntoAClone(t *testing.T) {
	root, outside := repo(t), t.TempDir()
	victim := put(t, outside, "victim", "v")
	put(t, root, ".relay/STATE.json", "forged")
	put(t, root, ".relay/history/20260101-000000-22222222/report.json", "forged")
	if err := os.Symlink(victim, filepath.Join(root, ".relay", "REPORT.json")); err != nil {
		t.Fatal(err)
	}
	runGit(t, root, "add", "-f", ".relay/STATE.json", ".relay/history")
	runGit(t, root, "commit", "-qm", "forged")
	w, err := Open(root, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Publish(); err != nil {
		t.Fatal(err)
	}
	if err := w.Ensure(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(w.State()); err == nil {
		t.Error("the clone's state is believed")
	}
	for _, name := range []string{"STATE.json", "REPORT.json", "BLOCKED.json", "history/20260202-000000-33333333/report.json", "history/20260202-000000-33333333/meta.json", "journal/run.jsonl"} {
		put(t, w.Dir(), name, "true")
	}
	if err := w.Publish(); err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		b, _ := os.ReadFile(filepath.Join(w.Shared(), name))
		return string(b)
	}
	for name, want := range map[string]string{"STATE.json": "forged", "history/20260101-000000-22222222/report.json": "forged", "REPORT.json": "true", "BLOCKED.json": "true",
		"history/20260202-000000-33333333/report.json": "true", "journal/run.jsonl": ""} {
		if got := read(name); got != want {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
	if b, _ := os.ReadFile(victim); string(b) != "v" {
		t.Error("a link was followed")
	}
	if s := runGit(t, root, "status", "--porcelain", "--untracked-files=no"); s != "" {
		t.Errorf("tracked files were changed:\n%s", s)
	}
	if err := os.Remove(w.Blocked()); err != nil {
		t.Fatal(err)
	}
	run := filepath.Join(w.History(), "20260202-000000-33333333")
	if err := os.RemoveAll(run); err != nil {
		t.Fatal(err)
	}
	w.Withdraw(run)
	if err := w.Publish(); err != nil {
		t.Fatal(err)
	}
	if read("BLOCKED.json") != "" || read("history/20260202-000000-33333333/report.json") != "" || read("history/20260101-000000-22222222/report.json") != "forged" {
		t.Error("copies of what is gone stay, or somebody's own went")
	}
}

// A repository that is itself a link or a file where the workspace belongs, and tracks it, has no copies.
func TestPublishWithoutAPlace(t *testing.T) {
	root := repo(t)
	if err := os.Symlink("/nonexistent", filepath.Join(root, ".relay")); err != nil {
		t.Fatal(err)
	}
	runGit(t, root, "add", "-f", ".relay")
	runGit(t, root, "commit", "-qm", "x")
	w, _ := Open(root, "")
	put(t, w.Dir(), "STATE.json", "{}")
	if err := w.Publish(); err != nil {
		t.Errorf("a tracked link is an error: %v", err)
	}
}

// The operator's edit of a plan is not overwritten by the copy that he edited.
func TestPublishKeepsAnEditedPlan(t *testing.T) {
	root := repo(t)
	w, _ := Open(root, "")
	put(t, w.Dir(), "cycles/u/plan.md", "plan")
	old := time.Now().Add(-time.Minute)
	if err := os.Chtimes(filepath.Join(w.Cycles(), "u", "plan.md"), old, old); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.Publish(); err != nil {
			t.Fatal(err)
		}
		put(t, w.Shared(), "cycles/u/plan.md", "edited")
	}
	b, _ := os.ReadFile(filepath.Join(w.Shared(), "cycles/u/plan.md"))
	if string(b) != "edited" {
		t.Errorf("the plan is %q", b)
	}
}

// A linked work tree has a state of its own; none of it lies in a work tree.
func TestStateOfALinkedWorkTree(t *testing.T) {
	root := repo(t)
	linked := filepath.Join(t.TempDir(), "linked")
	runGit(t, root, "worktree", "add", "-q", linked)
	a, _ := Open(root, "")
	b, _ := Open(linked, "")
	if a.Dir() != filepath.Join(root, ".git", "relay") || b.Dir() != filepath.Join(root, ".git", "worktrees", "linked", "relay") {
		t.Errorf("%s, %s", a.Dir(), b.Dir())
	}
	if err := b.Ensure(); err != nil {
		t.Fatal(err)
	}
	put(t, b.Dir(), "STATE.json", "{}")
	if s := runGit(t, root, "gc", "-q"); s != "" {
		t.Error(s)
	}
	runGit(t, root, "worktree", "remove", linked)
	if _, err := os.Lstat(b.Dir()); err == nil {
		t.Error("the state of a work tree outlives it")
	}
	if got := strings.TrimSpace(runGit(t, root, "fsck")); got != "" && !strings.Contains(got, "notice") {
		t.Error(got)
	}
}
