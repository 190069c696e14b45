package pluginenv

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
)

// A grant shows the credentials that it names, and none that lie below what it names or
// that a link leads to.
func TestGranted(t *testing.T) {
	real, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{".ssh/id_rsa", ".netrc", ".config/gh/hosts.yml", ".config/relay/checks/prices/check.py", "more/check.py", "plain/x"} {
		os.MkdirAll(filepath.Dir(filepath.Join(real, file)), 0o755)
		if err := os.WriteFile(filepath.Join(real, file), []byte("password: x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	os.Symlink(".ssh", filepath.Join(real, "notes"))
	home := filepath.Join(t.TempDir(), "home") // itself a link
	if err := os.Symlink(real, home); err != nil {
		t.Fatal(err)
	}
	cfg := config.Default()
	cfg.Verification.CheckDirs = []string{home + "/.config/relay/checks"}
	cfg.Box.Hide = []string{"~/more"}
	e := Env{Config: cfg, Home: home, Root: t.TempDir()}
	for grant, want := range map[string]bool{"~/.netrc": true, "~/.ssh": true, "~/.ssh/id_rsa": true, home + "/.ssh/id_rsa": true, real + "/.netrc": true, "~/more/check.py": true,
		"~/.config": false, "~/notes": false, "~/notes/id_rsa": false, home: false, filepath.Dir(real): false, "/": false, "~/plain": false,
		"~/.config/relay/checks": false, "~/.config/relay/checks/prices/check.py": false} {
		entry := catalog.Entry{Name: "x", Pin: &catalog.Pin{}, Read: []string{grant}}
		if got := len(e.granted(entry)) > 0; got != want {
			t.Errorf("read:%s: shown %v", grant, got)
		}
	}
}
