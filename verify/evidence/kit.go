package evidence

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

//go:embed kit
var files embed.FS

// shims are the programs that bin/shim stands before.
var shims = []string{"node", "python", "python3", "pytest", "py.test", "bats", "go"}

// Kit is the reporters, written to a folder that checks can read.
type Kit struct {
	// Dir is that folder; it changes with its contents.
	Dir string
}

// Install writes the reporters below dir, once for each version of them.
func Install(dir string) (Kit, error) {
	sum := sha256.New()
	contents := map[string][]byte{}
	err := fs.WalkDir(files, "kit", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := files.ReadFile(path)
		contents[strings.TrimPrefix(path, "kit/")] = b
		sum.Write([]byte(path + "\x00"))
		sum.Write(b)
		return err
	})
	if err != nil {
		return Kit{}, err
	}
	k := Kit{Dir: filepath.Join(dir, "kit-"+hex.EncodeToString(sum.Sum(nil)[:8]))}
	if _, err := os.Stat(k.Dir); err == nil {
		return k, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Kit{}, err
	}
	temp, err := os.MkdirTemp(dir, "new-")
	if err != nil {
		return Kit{}, err
	}
	defer os.RemoveAll(temp)
	for name, b := range contents {
		to, mode := filepath.Join(temp, filepath.FromSlash(name)), fs.FileMode(0o644)
		if strings.HasPrefix(name, "bin/") {
			mode = 0o755
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, b, mode)); err != nil {
			return Kit{}, err
		}
	}
	for _, name := range shims {
		if err := os.Symlink("shim", filepath.Join(temp, "bin", name)); err != nil {
			return Kit{}, err
		}
	}
	if err := os.Chmod(temp, 0o755); err != nil {
		return Kit{}, err
	}
	if err := os.Rename(temp, k.Dir); err != nil {
		if _, there := os.Stat(k.Dir); there != nil {
			return Kit{}, err
		}
	}
	return k, nil
}

// triples are the hosts that cargo names in its variables.
var triples = []string{"X86_64_UNKNOWN_LINUX_GNU", "X86_64_UNKNOWN_LINUX_MUSL", "AARCH64_UNKNOWN_LINUX_GNU", "AARCH64_UNKNOWN_LINUX_MUSL",
	"X86_64_APPLE_DARWIN", "AARCH64_APPLE_DARWIN"}

// Environ adds to a check's environment what makes runners report to pipe. root is the
// top of the repository as the check sees it.
func (k Kit) Environ(env []string, pipe, root string) []string {
	if strings.ContainsAny(k.Dir+pipe, " \t\n:'\"") {
		return env // some of the variables are lists that can't hold such a path
	}
	add := map[string]func(old string) string{
		"PATH":       func(old string) string { return k.Dir + "/bin:" + old },
		"PYTHONPATH": func(old string) string { return strings.TrimSuffix(k.Dir+"/python:"+old, ":") },
		"NODE_OPTIONS": func(old string) string {
			return strings.TrimSpace("--require=" + k.Dir + "/node/preload.cjs " + old)
		},
		// An empty folder in the list is the one that PHP was built with.
		"PHP_INI_SCAN_DIR": func(old string) string { return old + ":" + k.Dir + "/php" },
		"PERL5OPT": func(old string) string {
			return strings.TrimSpace("-I" + k.Dir + "/perl -MRelayEvidence " + old)
		},
		"RUBYOPT": func(old string) string { return strings.TrimSpace("-r" + k.Dir + "/ruby/relay.rb " + old) },
		// A result from the cache names no test.
		"GOFLAGS": func(old string) string {
			return strings.TrimSpace(old + " -count=1 -exec=" + k.Dir + "/bin/relay-go-exec")
		},
	}
	var out []string
	for _, kv := range env {
		name, old, _ := strings.Cut(kv, "=")
		if f, ok := add[name]; ok {
			kv = name + "=" + f(old)
			delete(add, name)
		}
		out = append(out, kv)
	}
	for name, f := range add {
		out = append(out, name+"="+f(""))
	}
	for _, t := range triples {
		out = append(out, "CARGO_TARGET_"+t+"_RUNNER="+k.Dir+"/bin/relay-cargo-exec")
	}
	return append(out, "RELAY_EVIDENCE="+pipe, "RELAY_EVIDENCE_KIT="+k.Dir, "RELAY_EVIDENCE_ROOT="+root)
}
