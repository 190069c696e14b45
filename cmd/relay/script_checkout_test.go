package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// goEnv is what the go command has on this machine and would not find from another home.
var goEnv = sync.OnceValues(func() (map[string]string, error) {
	names := []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "CGO_ENABLED", "GOFLAGS", "GOTOOLCHAIN", "GOROOT"}
	out, err := exec.Command("go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		return nil, err
	}
	env := map[string]string{}
	for i, value := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		env[names[i]] = value
	}
	return env, nil
})

// cmdCheckout gives a script the go command with this machine's caches, and this checkout
// in the place of the published module, for plugins that the script writes.
func cmdCheckout(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: checkout")
	}
	env, err := goEnv()
	ts.Check(err)
	for name, value := range env {
		ts.Setenv(name, value)
	}
	root, err := filepath.Abs("../..")
	ts.Check(err)
	ts.Setenv("RELAY_SDK", root)
}

// goTestsBefore is a build cache as it is after somebody's first `go test`.
var goTestsBefore = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(binDir, ".go-before")
	for name, text := range map[string]string{"go.mod": "module before\n", "before_test.go": "package before\n\nimport \"testing\"\n\nfunc TestNothing(*testing.T) {}\n"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	cmd := exec.Command("go", "test", ".")
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GOCACHE=" + dir + "/cache"}
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go test: %w: %s", err, out)
	}
	return dir + "/cache", nil
})

// cmdGoTestsBefore gives the script's home what a user of Go has there: otherwise each such
// script compiles the standard library, for half a minute.
func cmdGoTestsBefore(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: go-tests-before")
	}
	cache, err := goTestsBefore()
	ts.Check(err)
	at := filepath.Join(ts.Getenv("HOME"), ".cache")
	ts.Check(os.MkdirAll(at, 0o755))
	ts.Check(exec.Command("cp", "-Rl", cache, filepath.Join(at, "go-build")).Run())
}
