package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/plugins/internal/eventtest"
	"github.com/paxiom/relay/sdk"
)

// repo makes a repository with the tree that the cases below start from.
func repo(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"src/a.txt": "a 1\na 2\na 3\n", "src/b.txt": "b 1\nb 2\n", "src/crlf.txt": "one\r\ntwo\r\n", "src/open.txt": "no end",
		"src/q.sql": "select 1;\n-- a/drop\nselect 2;\n", "src/café x.txt": "café\n", "docs/guide.md": "guide 1\nguide 2\nguide 3\n",
	} {
		write(t, filepath.Join(dir, name), text)
	}
	gitIn(t, dir, "init", "-q")
	gitIn(t, dir, "add", "-A")
	gitIn(t, dir, "commit", "-q", "-m", "base")
	return dir
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func gitIn(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.test", "-c", "core.autocrlf=false"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func run(t *testing.T, dir, patch string) (*sdk.BuildResult, *eventtest.Log, *sdk.Failure) {
	t.Helper()
	log := &eventtest.Log{}
	res, err := build(t.Context(), &sdk.BuildRequest{Workspace: dir, Patch: patch}, log)
	return res, log, sdk.AsFailure(err)
}

func TestPatchesThatApply(t *testing.T) {
	for name, tc := range map[string]struct {
		patch string
		want  map[string]string // "" means gone
	}{
		"edit":        {"--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,3 +1,3 @@\n a 1\n-a 2\n+A 2\n a 3\n", map[string]string{"src/a.txt": "a 1\nA 2\na 3\n"}},
		"dashes":      {"--- a/src/q.sql\n+++ b/src/q.sql\n@@ -1,3 +1,3 @@\n select 1;\n--- a/drop\n+++ b/../../docs\n select 2;\n", map[string]string{"src/q.sql": "select 1;\n++ b/../../docs\nselect 2;\n"}},
		"quoted name": {"diff --git \"a/src/caf\\303\\251 x.txt\" \"b/src/caf\\303\\251 x.txt\"\n--- \"a/src/caf\\303\\251 x.txt\"\n+++ \"b/src/caf\\303\\251 x.txt\"\n@@ -1 +1,2 @@\n café\n+tea\n", map[string]string{"src/café x.txt": "café\ntea\n"}},
		"crlf":        {"--- a/src/crlf.txt\n+++ b/src/crlf.txt\n@@ -1,2 +1,2 @@\n one\r\n-two\r\n+zwei\r\n", map[string]string{"src/crlf.txt": "one\r\nzwei\r\n"}},
		"end of file": {"--- a/src/open.txt\n+++ b/src/open.txt\n@@ -1 +1 @@\n-no end\n\\ No newline at end of file\n+still none\n\\ No newline at end of file\n", map[string]string{"src/open.txt": "still none"}},
		"new folder":  {"diff --git a/new/deep/x.txt b/new/deep/x.txt\nnew file mode 100755\n--- /dev/null\n+++ b/new/deep/x.txt\n@@ -0,0 +1 @@\n+x\n", map[string]string{"new/deep/x.txt": "x\n"}},
		"empty file":  {"diff --git a/src/e b/src/e\nnew file mode 100644\nindex 0000000..e69de29\n", map[string]string{"src/e": "(empty)"}},
		"rename":      {"diff --git a/src/b.txt b/src/c.txt\nsimilarity index 100%\nrename from src/b.txt\nrename to src/c.txt\n", map[string]string{"src/b.txt": "", "src/c.txt": "b 1\nb 2\n"}},
		"deletion":    {"diff --git a/src/b.txt b/src/b.txt\ndeleted file mode 100644\n--- a/src/b.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-b 1\n-b 2\n", map[string]string{"src/b.txt": ""}},
		"two files":   {"--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,3 +1,2 @@\n a 1\n-a 2\n a 3\n--- a/src/b.txt\n+++ b/src/b.txt\n@@ -2 +2 @@\n-b 2\n+B\n", map[string]string{"src/a.txt": "a 1\na 3\n", "src/b.txt": "b 1\nB\n"}},
		"lost end":    {"--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,3 +1,3 @@\n a 1\n-a 2\n+A 2\n a 3", map[string]string{"src/a.txt": "a 1\nA 2\na 3\n"}},
		"mode":        {"diff --git a/src/a.txt b/src/a.txt\nold mode 100644\nnew mode 100755\n", map[string]string{"src/a.txt": "a 1\na 2\na 3\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := repo(t)
			res, log, f := run(t, dir, tc.patch)
			if f != nil {
				t.Fatal(f, f.Detail)
			}
			for file, want := range tc.want {
				got, err := os.ReadFile(filepath.Join(dir, file))
				switch {
				case want == "" && !os.IsNotExist(err):
					t.Errorf("%s is still there", file)
				case want == "(empty)" && (err != nil || len(got) > 0), want != "" && want != "(empty)" && string(got) != want:
					t.Errorf("%s is %q, %v", file, got, err)
				}
			}
			var doc struct {
				Files []string `json:"files_intended"`
			}
			if err := json.Unmarshal(res.JSON, &doc); err != nil || len(doc.Files) == 0 || !strings.Contains(log.String(), "file "+doc.Files[0]) {
				t.Errorf("result %s, %v, events:\n%s", res.JSON, err, log)
			}
		})
	}
}

func TestBinaryPatch(t *testing.T) {
	dir := repo(t)
	write(t, filepath.Join(dir, "src/bin"), "\x00\x01\xff binary")
	gitIn(t, dir, "add", "-A")
	patch := gitIn(t, dir, "diff", "--cached", "--binary")
	gitIn(t, dir, "reset", "-q", "--hard")
	if _, _, f := run(t, dir, patch); f != nil {
		t.Fatal(f, f.Detail)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "src/bin")); err != nil || string(b) != "\x00\x01\xff binary" {
		t.Errorf("%q %v", b, err)
	}
}

func TestPatchesThatAreRefused(t *testing.T) {
	newFile := func(name, mode string) string {
		return "diff --git a/" + name + " b/" + name + "\nnew file mode " + mode + "\n--- /dev/null\n+++ b/" + name + "\n@@ -0,0 +1 @@\n+EVIL\n"
	}
	for name, tc := range map[string]struct{ patch, says string }{
		"empty":             {" \n", "has no patch"},
		"not a patch":       {"hello\n", "No valid patches"},
		"symlink":           {"diff --git a/src/l b/src/l\nnew file mode 120000\n--- /dev/null\n+++ b/src/l\n@@ -0,0 +1 @@\n+/etc/passwd\n\\ No newline at end of file\n", "mode 120000"},
		"submodule":         {newFile("src/sm", "160000"), "mode 160000"},
		"odd mode":          {newFile("src/x", "100600"), "mode 100600"},
		"mode change":       {"diff --git a/src/a.txt b/src/a.txt\nold mode 100644\nnew mode 120000\n", "120000"},
		"one of two":        {newFile("src/ok", "100644") + newFile("src/sm", "160000"), "mode 160000"},
		"type change":       {"diff --git a/src/a.txt b/src/a.txt\ndeleted file mode 100644\n--- a/src/a.txt\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-a 1\n-a 2\n-a 3\ndiff --git a/src/a.txt b/src/a.txt\nnew file mode 120000\n--- /dev/null\n+++ b/src/a.txt\n@@ -0,0 +1 @@\n+/etc\n\\ No newline at end of file\n", "mode 120000"},
		"other context":     {"--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,3 +1,3 @@\n a 1\n-a two\n+A 2\n a 3\n", "does not apply"},
		"white space":       {"--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,3 +1,3 @@\n a 1\n-a  2\n+A 2\n a 3\n", "does not apply"},
		"line ends":         {"--- a/src/crlf.txt\n+++ b/src/crlf.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n", "does not apply"},
		"second file fails": {"--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,3 +1,2 @@\n a 1\n-a 2\n a 3\n--- a/src/b.txt\n+++ b/src/b.txt\n@@ -2 +2 @@\n-nope\n+B\n", "src/b.txt"},
		"wrong counts":      {"--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,9 +1,9 @@\n a 1\n-a 2\n+A 2\n a 3\n", "corrupt patch"},
		"exists already":    {newFile("src/a.txt", "100644"), "already exists"},
		"upwards":           {newFile("src/../../evil", "100644"), `names "src/../../evil"`},
		"upwards, plain":    {"--- a/src/a.txt\n+++ b/../evil\n@@ -1,3 +1,3 @@\n a 1\n-a 2\n+A 2\n a 3\n", `names "../evil"`},
		"quoted upwards":    {"diff --git \"a/\\056\\056/evil\" \"b/\\056\\056/evil\"\nnew file mode 100644\n--- /dev/null\n+++ \"b/\\056\\056/evil\"\n@@ -0,0 +1 @@\n+EVIL\n", `names "../evil"`},
		"absolute, plain":   {"--- /dev/null\n+++ /etc/evil\n@@ -0,0 +1 @@\n+EVIL\n", "absolute path"},
		"absolute":          {newFile("/tmp/evil", "100644"), "invalid path"},
		"git folder":        {newFile(".git/hooks/post-checkout", "100755"), "invalid path"},
		"git in disguise":   {newFile("src/.GIT/config", "100644"), "invalid path"},
		"overlapping":       {"--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,3 +1,3 @@\n a 1\n-a 2\n+a two\n a 3\n@@ -2,2 +2,2 @@\n-a 2\n+EVIL\n a 3\n", "does not apply"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := repo(t)
			_, _, f := run(t, dir, tc.patch)
			if f == nil {
				t.Fatalf("it was applied:\n%s", gitIn(t, dir, "status", "--short", "-uall"))
			}
			if f.Reason != sdk.BadRequest || f.Effect != sdk.EffectNone || !strings.Contains(f.Error(), tc.says) {
				t.Errorf("got %v, effect %v", f, f.Effect)
			}
			if left := gitIn(t, dir, "status", "--short", "-uall"); left != "" {
				t.Errorf("something changed:\n%s", left)
			}
			if _, err := os.Lstat(filepath.Join(dir, "../evil")); err == nil {
				t.Error("a file was written outside")
			}
		})
	}
}

func TestThroughASymlink(t *testing.T) {
	dir := repo(t)
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "src/ext")); err != nil {
		t.Fatal(err)
	}
	patch := "diff --git a/src/ext/e b/src/ext/e\nnew file mode 100644\n--- /dev/null\n+++ b/src/ext/e\n@@ -0,0 +1 @@\n+EVIL\n"
	if _, _, f := run(t, dir, patch); f == nil {
		t.Error("it was applied")
	}
	if left, _ := os.ReadDir(outside); len(left) > 0 {
		t.Error("it wrote through the link")
	}
}

func TestMovedLinesAreNoted(t *testing.T) {
	dir := repo(t)
	write(t, filepath.Join(dir, "src/a.txt"), "0\n0\n0\n0\na 1\na 2\na 3\n4\n")
	res, _, f := run(t, dir, "--- a/src/a.txt\n+++ b/src/a.txt\n@@ -2,3 +2,3 @@\n a 1\n-a 2\n+A 2\n a 3\n")
	if f != nil {
		t.Fatal(f)
	}
	if !strings.Contains(string(res.JSON), "applied at line 5") {
		t.Errorf("result: %s", res.JSON)
	}
}

// A patch may write .gitattributes; what the configuration names there must not run.
func TestNothingConfiguredRuns(t *testing.T) {
	dir := repo(t)
	canary := filepath.Join(t.TempDir(), "ran")
	evil := "sh -c 'touch " + canary + "; cat'"
	for _, key := range []string{"filter.a.clean", "filter.a.smudge", "filter.a.process", "filter.odd=name.smudge", "core.fsmonitor"} {
		gitIn(t, dir, "config", key, evil)
	}
	gitIn(t, dir, "config", "filter.a.required", "true")
	gitIn(t, dir, "config", "core.hooksPath", filepath.Join(dir, "hooks"))
	for _, hook := range []string{"post-index-change", "reference-transaction", "pre-applypatch"} {
		write(t, filepath.Join(dir, "hooks", hook), "#!/bin/sh\ntouch "+canary+"\n")
		os.Chmod(filepath.Join(dir, "hooks", hook), 0o755)
	}
	write(t, filepath.Join(dir, ".gitattributes"), "*.txt filter=a\n*.md filter=odd=name\n")
	patch := "--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,3 +1,3 @@\n a 1\n-a 2\n+A 2\n a 3\n--- a/docs/guide.md\n+++ b/docs/guide.md\n@@ -1,3 +1,2 @@\n guide 1\n-guide 2\n guide 3\n"
	if _, _, f := run(t, dir, patch); f != nil {
		t.Fatal(f, f.Detail)
	}
	if _, err := os.Lstat(canary); err == nil {
		t.Error("a configured program ran")
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "src/a.txt")); string(b) != "a 1\nA 2\na 3\n" {
		t.Errorf("a.txt is %q", b)
	}
}

// Paths are relative to the workspace, also where a repository lies around it.
func TestWorkspaceInsideAnotherRepository(t *testing.T) {
	outer := repo(t)
	dir := filepath.Join(outer, "inner")
	write(t, filepath.Join(dir, "src/a.txt"), "a 1\na 2\na 3\n")
	if _, _, f := run(t, dir, "--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,3 +1,3 @@\n a 1\n-a 2\n+A 2\n a 3\n"); f != nil {
		t.Fatal(f)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "src/a.txt")); string(b) != "a 1\nA 2\na 3\n" {
		t.Errorf("a.txt is %q", b)
	}
}
