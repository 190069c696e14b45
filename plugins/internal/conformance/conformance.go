package conformance

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/plugintest"
)

// Plugin is the plugin in the package folder of the test.
type Plugin struct {
	Info sdk.Info
	Part func() sdk.Part // a fresh one
	// Config is the configuration that every call gets; nil: none.
	Config json.RawMessage
	Cases  []plugintest.Case
	Env    []string
}

// Run tries all rules both ways. Only the in-process way is tried with -short.
func Run(t *testing.T, p Plugin) {
	cfg := plugintest.Config{PluginConfig: p.Config, Cases: p.Cases, Env: p.Env, Timeout: 5 * time.Minute} // the race detector takes its time for the largest message
	t.Run("in process", func(t *testing.T) {
		cfg := cfg
		cfg.Serve = plugintest.Fresh(p.Info, p.Part)
		plugintest.Run(t, cfg)
	})
	t.Run("binary", func(t *testing.T) {
		if testing.Short() {
			t.Skip("-short: the built program is tried without it")
		}
		cfg := cfg
		cfg.Binary = plugintest.Build(t, ".")
		plugintest.Run(t, cfg)
	})
}

// Program makes a shell script that takes the place of a program which a plugin
// drives, and gives its path. It may be read and run by anyone.
func Program(t testing.TB, body string) string {
	t.Helper()
	dir := t.TempDir()
	for d := dir; d != os.TempDir() && len(d) > 1; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			break // parentModes the test's own folders
		}
	}
	path := filepath.Join(dir, "program")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// Config formats a configuration.
func Config(format string, args ...any) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(format, args...))
}
