package pluginenv

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/host/internal/config"
)

// A compiler writes where it works and nowhere else, has no network, and is heard when
// it fails.
func TestBuild(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"state", "home", "work", "tmp", "else"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	env := Env{Config: config.Default(), StateDir: filepath.Join(dir, "state"), Home: filepath.Join(dir, "home")}
	run := func(script string) error {
		return env.Build(t.Context(), []string{"/bin/sh", "-c", script}, []string{"PATH=/usr/bin:/bin"}, []string{filepath.Join(dir, "work"), filepath.Join(dir, "tmp")})
	}
	err := run("echo made > out; echo x > " + dir + "/else/x; echo x > " + dir + "/home/x; tail -n +3 /proc/net/dev | cut -d: -f1 > nets; true")
	if err != nil && strings.Contains(err.Error(), "namespaces") {
		t.Skipf("no box here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	made, _ := os.ReadFile(filepath.Join(dir, "work", "out"))
	nets, _ := os.ReadFile(filepath.Join(dir, "work", "nets"))
	if string(made) != "made\n" || strings.TrimSpace(string(nets)) != "lo" {
		t.Errorf("%q, networks %q", made, nets)
	}
	for _, name := range []string{"else/x", "home/x"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	if err := run("echo no such package; exit 3"); err == nil || !strings.Contains(err.Error(), "no such package") {
		t.Errorf("%v", err)
	}
}
