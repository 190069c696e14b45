package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/internal/sampling"
)

// go install makes relay without its plugins. It says so wherever they are missed, with
// the command that makes both, and starts no other program of their names.
func TestGoInstall(t *testing.T) {
	sampling.Slow(t)
	t.Parallel()
	dir := t.TempDir()
	install := exec.Command("go", "install", "-trimpath", "-ldflags=-s -w", ".") // as the tests' own programs are built: little is compiled twice
	install.Env = append(os.Environ(), "GOBIN="+dir, "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	repo := filepath.Join(dir, "repo")
	run := func(program string, args ...string) (string, error) {
		cmd := exec.Command(program, args...)
		cmd.Dir = repo
		cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "XDG_CACHE_HOME=", "XDG_DATA_HOME=", "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	// Beside it lies a file that is named like a plugin and was made with another relay.
	if err := os.Link(filepath.Join(binDir, "relay-plugin-replay"), filepath.Join(dir, "relay-plugin-replay")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(repo, 0o755); err != nil {
		t.Fatal(err)
	}
	config := `{"orchestrator": {"provider": "replay"}, "builder": {"default_mode": "patch"}}`
	if err := os.WriteFile(filepath.Join(repo, "relay.config.json"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	relay := filepath.Join(dir, "relay")
	for _, args := range [][]string{{"git", "init", "-q"}, {"git", "add", "-A"}, {"git", "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", "base"}, {relay, "trust", "--yes"}} {
		if out, err := run(args[0], args[1:]...); err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
	}
	for _, args := range [][]string{{"doctor"}, {"plugin", "list"}, {"run"}} {
		out, _ := run(relay, args...)
		for _, want := range []string{"`go install`", "`make install`", "docs/guides/install.md"} {
			if !strings.Contains(out, want) {
				t.Errorf("relay %v says nothing of %s: %s", args, want, out)
			}
		}
	}
	if out, err := run(relay, "version"); err != nil || !strings.HasPrefix(out, "relay ") {
		t.Errorf("%v: %s", err, out)
	}
}
