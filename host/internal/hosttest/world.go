package hosttest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/paxiom/relay/host/internal/catalog"
)

// World is one repository with all that a workflow needs.
type World struct {
	T          testing.TB
	Dir        string // of all that belongs to the world
	Root, Home string // the repository, and the user's home
	bin, man   string // the plugins and their manifest
}

// New makes a repository of these files, with one commit. In them @DIR@ stands for the
// world's folder and @SCRIPT@ for what the provider replay plays.
func New(t testing.TB, files map[string]string) *World {
	t.Helper()
	dir := t.TempDir()
	w := &World{T: t, Dir: dir, Root: filepath.Join(dir, "repo"), Home: filepath.Join(dir, "home")}
	w.bin, w.man = Plugins(t)
	Must(t, os.MkdirAll(w.Home, 0o755))
	known := strings.NewReplacer("@DIR@", dir, "@SCRIPT@", w.ScriptFile())
	for name, text := range files {
		w.Write(name, known.Replace(text))
	}
	w.Git("init", "-q", "-b", "main")
	w.Write(".git/config", w.Read(".git/config")+"[user]\n\tname = Ada\n\temail = ada@example.org\n")
	w.Git("add", "-A")
	w.Git("commit", "-qm", "base")
	return w
}

// Must ends the test at an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Path is a file of the repository.
func (w *World) Path(name string) string { return filepath.Join(w.Root, name) }

// Write writes a file of the repository.
func (w *World) Write(name, text string) {
	w.T.Helper()
	Must(w.T, os.MkdirAll(filepath.Dir(w.Path(name)), 0o755))
	Must(w.T, os.WriteFile(w.Path(name), []byte(text), 0o644))
}

// Read reads a file of the repository.
func (w *World) Read(name string) string {
	w.T.Helper()
	b, err := os.ReadFile(w.Path(name))
	Must(w.T, err)
	return string(b)
}

// Git runs git in the repository.
func (w *World) Git(args ...string) string {
	w.T.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = w.Root
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.T.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// ScriptFile is what the provider replay plays, once Script has written it.
func (w *World) ScriptFile() string { return filepath.Join(w.Dir, "script.json") }

// Script writes what the provider replay answers.
func (w *World) Script(calls ...map[string]any) {
	w.T.Helper()
	b, err := json.Marshal(map[string]any{"version": 1, "calls": calls})
	Must(w.T, err)
	Must(w.T, os.WriteFile(w.ScriptFile(), b, 0o644))
}

// Catalog is that of the real plugins.
func (w *World) Catalog() *catalog.Catalog {
	w.T.Helper()
	c, err := catalog.Load(catalog.Options{Executable: filepath.Join(w.bin, "relay"), CacheDir: filepath.Join(w.Home, "cache"),
		InstallDir: filepath.Join(w.Home, "install"), Manifest: w.man})
	Must(w.T, err)
	return c
}

// built are the plugins, compiled once for all tests of a process.
var built struct {
	once          sync.Once
	dir, manifest string
	err           error
}

// Plugins gives the folder of the plugins that need no account, and their manifest.
func Plugins(t testing.TB) (dir, manifest string) {
	t.Helper()
	built.once.Do(func() { built.manifest, built.err = build() })
	Must(t, built.err)
	return built.dir, built.manifest
}

func build() (manifest string, err error) {
	if built.dir, err = os.MkdirTemp("", "relay-host-"); err != nil {
		return "", err
	}
	if err := os.Chmod(built.dir, 0o755); err != nil { // a test may run a plugin as another user
		return "", err
	}
	names := []string{"replay", "patch", "external"}
	args := []string{"build", "-o", built.dir + "/"}
	const module = "github.com/paxiom/relay/"
	for _, n := range names {
		args = append(args, module+"plugins/"+n)
	}
	maker := module + "host/internal/catalog/mkmanifest"
	if out, err := exec.Command("go", append(args, maker)...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	for _, n := range names {
		if err := os.Rename(filepath.Join(built.dir, n), filepath.Join(built.dir, "relay-plugin-"+n)); err != nil {
			return "", err
		}
	}
	out, err := exec.Command(filepath.Join(built.dir, "mkmanifest"), built.dir).Output()
	return strings.TrimSpace(string(out)), err
}
