package main

import (
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
