package patch

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/judge"
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

// numbered is a text of n lines.
func numbered(prefix string, n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "%s line %d\n", prefix, i)
	}
	return b.Bytes()
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
	patch := Unified(path, []byte(old.content), []byte(new.content), old.mode, new.mode)
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
	got := string(Unified("a.txt", []byte("1\n2\n3\n4\n5\n6\n7\n8\n"), []byte("1\n2\n3\n4\nfive\n6\n7\n8\n"), 0o644, 0o644))
	want := "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
	if got != want {
		t.Errorf("got\n%s", got)
	}
	if d := Unified("a", []byte("x"), []byte("x"), 0o644, 0o600); d != nil {
		t.Errorf("what git can't express: %q", d)
	}
	if d := Unified("a", nil, nil, 0, fs.ModeNamedPipe); d != nil {
		t.Errorf("FIFO: %q", d)
	}
	if d := string(Unified("a", []byte("\x00"), nil, 0o644, 0)); d != "diff --git a/a b/a\ndeleted file mode 100644\nBinary files a/a and /dev/null differ\n" {
		t.Errorf("binary: %q", d)
	}
	if d := Unified("a", nil, bytes.Repeat([]byte("a\n"), judge.MaxFileSize), 0, 0o644); len(d) > 200 {
		t.Errorf("over the size that is read: %d bytes", len(d))
	}
}

// The edits make one text of the other, by as few lines as the judge counts.
func TestEdits(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 8))
	text := func() []byte {
		var b bytes.Buffer
		for range r.IntN(30) {
			b.WriteString([]string{"a\n", "b\n", "c\n", "\n"}[r.IntN(4)])
		}
		b.WriteString([]string{"", "a", "b"}[r.IntN(3)])
		return b.Bytes()
	}
	for range 3000 {
		a, b := text(), text()
		if bytes.Equal(a, b) {
			continue
		}
		var made []byte
		at, n := 0, 0
		for _, e := range edits(a, b) {
			made = append(append(made, a[at:e.a0]...), b[e.b0:e.b1]...)
			at, n = e.a1, n+lineNumber(a[e.a0:e.a1])+lineNumber(b[e.b0:e.b1])
		}
		made = append(made, a[at:]...)
		if c := judge.CountLines(a, b, 1000); !bytes.Equal(made, b) || n != int(c.Added+c.Deleted) {
			t.Fatalf("%q to %q: %q by %d lines, and the judge counts %+v", a, b, made, n, c)
		}
	}
	large := bytes.Repeat([]byte("x\n"), maxLines)
	if es := edits(large, append([]byte("y\n"), append(large, 'z')...)); len(es) != 1 {
		t.Errorf("%d edits of texts that are too large", len(es))
	}
}

// Contents without a short way between them still give a right patch.
func TestUnifiedDiffWithoutShortWay(t *testing.T) {
	t.Parallel()
	applies(t, "f", file{"same\n" + string(numbered("a", 3000)) + "same\n", 0o644}, file{"same\n" + string(numbered("b", 3000)) + "same\n", 0o644})
}

func FuzzUnified(f *testing.F) {
	f.Add("a.txt", []byte("a\nb\n"), []byte("a\nc"), uint32(0o644), uint32(0o755))
	f.Add("a\tb", []byte(""), []byte("x"), uint32(0), uint32(0o644))
	f.Add("", []byte("\x00"), []byte("\n\n"), uint32(fs.ModeSymlink), uint32(0o644))
	f.Fuzz(func(t *testing.T, path string, old, new []byte, oldMode, newMode uint32) {
		d := Unified(path, old, new, fs.FileMode(oldMode), fs.FileMode(newMode))
		if most := 2*len(old) + 2*len(new) + 1<<20; len(path) < 1<<12 && len(d) > most {
			t.Fatalf("%d bytes, and at most %d were promised", len(d), most)
		}
	})
}
