package bar

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestQuestion(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"tmux-status":                 ".",
		"-C some/dir tmux-status":     "some/dir",
		"tmux-status -C some/dir":     "some/dir",
		"":                            "",
		"status":                      "",
		"tmux-status --json":          "",
		"--json tmux-status":          "",
		"tmux-status extra":           "",
		"-C tmux-status":              "",
		"tmux-status --help":          "",
		"-C dir -C other tmux-status": "",
	} {
		if got, asked := question(strings.Fields(args)); got != want || asked != (want != "") {
			t.Errorf("%q: %q, %v", args, got, asked)
		}
	}
}

// TestRead: only a small regular file of the workspace is read.
func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, ok := Read(dir); ok {
		t.Error("a line outside a repository")
	}
	for _, d := range []string{".git", "sub", ".git/relay", ".relay"} {
		must(t, os.Mkdir(filepath.Join(dir, d), 0o755))
	}
	must(t, os.WriteFile(filepath.Join(dir, ".git", "HEAD"), nil, 0o644))
	if _, ok := Read(dir); ok {
		t.Error("a line where none was written")
	}
	must(t, os.WriteFile(filepath.Join(dir, ".git", "relay", Name), []byte("2 running"), 0o644))
	must(t, os.WriteFile(filepath.Join(dir, ".relay", Name), []byte("forged"), 0o644))
	for _, from := range []string{dir, filepath.Join(dir, "sub")} {
		if line, ok := Read(from); line != "2 running" || !ok {
			t.Errorf("from %s: %q, %v", from, line, ok)
		}
	}
	must(t, os.Remove(filepath.Join(dir, ".relay", Name)))
	for what, make := range map[string]func(string) error{
		"a link":       func(p string) error { return os.Symlink("/etc/hostname", p) },
		"a named pipe": func(p string) error { return syscall.Mkfifo(p, 0o644) },
		"too long":     func(p string) error { return os.WriteFile(p, []byte(strings.Repeat("x", maxLine+1)), 0o644) },
	} {
		p := filepath.Join(dir, ".relay", Name)
		must(t, make(p))
		if line, ok := ReadIn(filepath.Dir(p)); ok {
			t.Errorf("%s was read: %.20q", what, line)
		}
		must(t, os.Remove(p))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Begin makes the empty line once, and never takes one away.
func TestBegin(t *testing.T) {
	dir := t.TempDir()
	Begin(filepath.Join(dir, "missing"))
	if _, err := os.Stat(filepath.Join(dir, "missing")); err == nil {
		t.Error("a workspace was made")
	}
	Begin(dir)
	if line, ok := ReadIn(dir); !ok || line != "" {
		t.Errorf("%q %v", line, ok)
	}
	if err := os.WriteFile(filepath.Join(dir, Name), []byte("! a:review"), 0o644); err != nil {
		t.Fatal(err)
	}
	Begin(dir)
	if line, ok := ReadIn(dir); !ok || line != "! a:review" {
		t.Errorf("%q %v", line, ok)
	}
}
