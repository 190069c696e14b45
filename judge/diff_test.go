package judge

import (
	"bytes"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// git runs the real git in dir, without anybody's configuration.
func git(t *testing.T, dir string, stdin []byte, args ...string) []byte {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	cmd.Stdin = bytes.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s\npatch:\n%s", args, err, out, stdin)
	}
	return out
}

// file is one side of a change; nil content and mode 0 stand for absent.
type file struct {
	content string
	mode    fs.FileMode
}

func (f file) put(t *testing.T, path string) {
	t.Helper()
	if f.mode == 0 {
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if f.mode&fs.ModeSymlink != 0 {
		if err := os.Symlink(f.content, path); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err := os.WriteFile(path, []byte(f.content), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, f.mode.Perm()); err != nil {
		t.Fatal(err)
	}
}

func (f file) check(t *testing.T, path string) {
	t.Helper()
	st, err := os.Lstat(path)
	if f.mode == 0 {
		if err == nil {
			t.Errorf("%q is still there", path)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if f.mode&fs.ModeSymlink != 0 {
		if got, _ := os.Readlink(path); got != f.content {
			t.Errorf("%q links to %q, want %q", path, got, f.content)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != f.content || (st.Mode()&0o100 != 0) != (f.mode&0o100 != 0) || !st.Mode().IsRegular() {
		t.Errorf("%q is %q %v, want %q %v", path, got, st.Mode(), f.content, f.mode)
	}
}

// applies reports whether git takes the patch and makes exactly the new side of it.
func applies(t *testing.T, path string, old, new file) {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, nil, "init", "-q")
	target := filepath.Join(dir, path)
	old.put(t, target)
	patch := UnifiedDiff(path, []byte(old.content), []byte(new.content), old.mode, new.mode)
	git(t, dir, patch, "apply", "--check", "--whitespace=nowarn")
	git(t, dir, patch, "apply", "--whitespace=nowarn")
	new.check(t, target)
}

func TestUnifiedDiffApplies(t *testing.T) {
	t.Parallel()
	const plain, exe, link = 0o644, 0o755, fs.ModeSymlink | 0o777
	body := string(numbered("a", 60))
	far := strings.NewReplacer("a line 3\n", "x\ny\n", "a line 9\n", "", "a line 40\n", "z\n").Replace(body)
	tests := []struct {
		name, path string
		old, new   file
	}{
		{"edit", "a.txt", file{body, plain}, file{far, plain}},
		{"new", "d/e/a.txt", file{}, file{body, plain}},
		{"new empty", "a", file{}, file{"", plain}},
		{"new executable", "a", file{}, file{"#!/bin/sh\n", exe}},
		{"gone", "a", file{body, plain}, file{}},
		{"empty gone", "a", file{"", plain}, file{}},
		{"emptied", "a", file{body, plain}, file{"", plain}},
		{"filled", "a", file{"", plain}, file{body, plain}},
		{"mode", "a", file{body, plain}, file{body, exe}},
		{"mode and edit", "a", file{body, exe}, file{far, 0o600}},
		{"newline lost", "a", file{body, plain}, file{strings.TrimSuffix(body, "\n"), plain}},
		{"newline won", "a", file{"x", plain}, file{"x\n", plain}},
		{"no newline, other line", "a", file{"x\ny", plain}, file{"z\ny", plain}},
		{"no newline on both, last line", "a", file{"x\ny", plain}, file{"x\nz", plain}},
		{"carriage returns", "a", file{"x\ny\n", plain}, file{"x\r\ny\r\n", plain}},
		{"prepend", "a", file{body, plain}, file{"x\n" + body, plain}},
		{"append", "a", file{body, plain}, file{body + "x\n", plain}},
		{"lines like headers", "a", file{"-- a/x\n++ b/x\n", plain}, file{"-- a/y\n++ b/y\n@@ -1 +1 @@\n", plain}},
		{"not UTF-8", "a", file{"\xff\xfe\n", plain}, file{"\xff\n", plain}},
		{"link", "l", file{"a.txt", link}, file{"b.txt", link}},
		{"new link", "l", file{}, file{"a.txt", link}},
		{"link gone", "l", file{"a.txt", link}, file{}},
		{"file to link", "l", file{body, plain}, file{"a.txt", link}},
		{"link to file", "l", file{"a.txt", link}, file{body, plain}},
		{"space", "a b/c d.txt", file{body, plain}, file{far, plain}},
		{"new with a space", "a b", file{}, file{body, plain}},
		{"unicode", "café/日本.txt", file{body, plain}, file{far, plain}},
		{"tab, quote and backslash", "t\tq\"b\\.md", file{body, plain}, file{far, plain}},
		{"newline in the name", "a\nb", file{}, file{body, plain}},
		{"bytes", "\xff\x01", file{body, plain}, file{far, plain}},
		{"dash", "-rf", file{body, plain}, file{}},
		{"arrow", "a -> b", file{body, exe}, file{body, plain}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			applies(t, tt.path, tt.old, tt.new)
		})
	}
}

// Random texts of few different lines make every shape of hunk.
func TestUnifiedDiffAppliesRandom(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	rounds := 60
	if testing.Short() {
		rounds = 15
	}
	for range rounds {
		var a, b bytes.Buffer
		for range 1 + r.IntN(80) {
			line := []string{"a\n", "b\n", "c\n", "\n", "d e\n"}[r.IntN(5)]
			if r.IntN(8) > 0 {
				a.WriteString(line)
			}
			if r.IntN(8) > 0 {
				b.WriteString(line)
			}
		}
		if a.String() == b.String() {
			continue
		}
		applies(t, "f", file{a.String() + "x", 0o644}, file{b.String() + "x", 0o644})
	}
}

func TestUnifiedDiffShape(t *testing.T) {
	t.Parallel()
	got := string(UnifiedDiff("a.txt", []byte("1\n2\n3\n4\n5\n6\n7\n8\n"), []byte("1\n2\n3\n4\nfive\n6\n7\n8\n"), 0o644, 0o644))
	want := "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
	if got != want {
		t.Errorf("got\n%s", got)
	}
	if d := UnifiedDiff("a", []byte("x"), []byte("x"), 0o644, 0o600); d != nil {
		t.Errorf("what git can't express: %q", d)
	}
	if d := UnifiedDiff("a", nil, nil, 0, fs.ModeNamedPipe); d != nil {
		t.Errorf("FIFO: %q", d)
	}
	if d := string(UnifiedDiff("a", []byte("\x00"), nil, 0o644, 0)); d != "diff --git a/a b/a\ndeleted file mode 100644\nBinary files a/a and /dev/null differ\n" {
		t.Errorf("binary: %q", d)
	}
	if d := UnifiedDiff("a", nil, bytes.Repeat([]byte("a\n"), MaxFileSize), 0, 0o644); len(d) > 200 {
		t.Errorf("over the size that is read: %d bytes", len(d))
	}
}

// Contents without a short way between them still give a right patch.
func TestUnifiedDiffWithoutShortWay(t *testing.T) {
	t.Parallel()
	applies(t, "f", file{"same\n" + string(numbered("a", 3000)) + "same\n", 0o644}, file{"same\n" + string(numbered("b", 3000)) + "same\n", 0o644})
}

func FuzzUnifiedDiff(f *testing.F) {
	f.Add("a.txt", []byte("a\nb\n"), []byte("a\nc"), uint32(0o644), uint32(0o755))
	f.Add("a\tb", []byte(""), []byte("x"), uint32(0), uint32(0o644))
	f.Add("", []byte("\x00"), []byte("\n\n"), uint32(fs.ModeSymlink), uint32(0o644))
	f.Fuzz(func(t *testing.T, path string, old, new []byte, oldMode, newMode uint32) {
		d := UnifiedDiff(path, old, new, fs.FileMode(oldMode), fs.FileMode(newMode))
		if most := MaxDiff(path, Side{Content: old}, Side{Content: new}); int64(len(d)) > most {
			t.Fatalf("%d bytes, and at most %d were promised", len(d), most)
		}
		if err := CheckPatch(string(d)); err != nil && oldMode&uint32(fs.ModeSymlink) == 0 && newMode&uint32(fs.ModeSymlink) == 0 {
			t.Fatalf("%v\n%s", err, d)
		}
	})
}

func TestCheckPatch(t *testing.T) {
	t.Parallel()
	good := []string{
		"",
		"hello",
		"diff --git a/x b/x\nold mode 100644\nnew mode 100755\n",
		"diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+new file mode 120000\n",
		"From: me\nnew mode of thinking\nindex of things\n",
		"index 0000000..2e65efe 100644\n",
		"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-- a/old mode 120000\n++ b\n",
	}
	for _, p := range good {
		if err := CheckPatch(p); err != nil {
			t.Errorf("%q: %v", p, err)
		}
	}
	bad := []string{
		"new file mode 120000\n",
		"new file mode 160000",
		"diff --git a/x b/x\nold mode 100644\nnew mode 120000\n",
		"deleted file mode 120000\n",
		"index 0000000..1234567 160000\n",
		"new file mode 0120000\n",
		"new file mode  120000 \r\n",
		"new mode 104755\n",
		"new mode 40000\n",
		"new mode 777777777777777777777777777777\n",
	}
	for _, p := range bad {
		if CheckPatch(p) == nil {
			t.Errorf("%q passes", p)
		}
	}
}

func FuzzCheckPatch(f *testing.F) {
	f.Add("diff --git a/x b/x\nnew file mode 120000\n")
	f.Add("index 1..2 100644\nold mode +0100755\n")
	f.Fuzz(func(t *testing.T, patch string) {
		err := CheckPatch(patch)
		if err == nil && strings.HasPrefix(patch, "new file mode 120000\n") {
			t.Fatal("a link passes")
		}
		if err != nil && (len(err.Error()) > 300 || !strings.Contains(patch, "mode ") && !strings.Contains(patch, "index ")) {
			t.Fatal(err)
		}
	})
}
