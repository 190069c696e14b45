package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdSnapshot remembers all of a repository: snapshot [DIR].
func cmdSnapshot(ts *testscript.TestScript, neg bool, args []string) {
	dir := snapshotDir(ts, args)
	ts.Check(os.WriteFile(snapshotFile(ts, dir), []byte(state(ts, dir)), 0o644))
}

// cmdUnchanged asserts that a repository is byte for byte as it was remembered:
// unchanged [DIR].
func cmdUnchanged(ts *testscript.TestScript, neg bool, args []string) {
	dir := snapshotDir(ts, args)
	old, err := os.ReadFile(snapshotFile(ts, dir))
	ts.Check(err)
	diff := difference(string(old), state(ts, dir))
	if (diff == "") == neg {
		ts.Fatalf("the repository differs from its snapshot (%v):\n%s", !neg, diff)
	}
}

func snapshotDir(ts *testscript.TestScript, args []string) string {
	if len(args) > 0 {
		return ts.MkAbs(args[0])
	}
	return ts.MkAbs(filepath.Join(ts.Getenv("WORK"), "repo"))
}

func snapshotFile(ts *testscript.TestScript, dir string) string {
	return filepath.Join(ts.Getenv("WORK"), fmt.Sprintf(".snapshot-%x", sha256.Sum256([]byte(dir)))[:30])
}

// state is one line for each thing in a repository: every file of the tree, ignored
// ones included, with type, permissions and content; every ref, HEAD, the index as
// git reads it; configuration, hooks and the rest of .git. Left out is what may
// differ without anybody noticing: relay's workspace and its own refs, objects,
// reference logs, and the index file's bytes (its entries are listed).
func state(ts *testscript.TestScript, dir string) string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		switch rel {
		case ".relay", "relais", ".git/objects", ".git/logs", ".git/refs/relay", ".git/relay":
			return filepath.SkipDir
		case ".git/index", ".git/packed-refs", ".git/info/refs":
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		what := ""
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			what, err = os.Readlink(path)
		case info.Mode().IsRegular():
			var b []byte
			b, err = os.ReadFile(path)
			what = fmt.Sprintf("%x", sha256.Sum256(b))
		}
		add("%q %v %s", rel, info.Mode(), what)
		return err
	})
	ts.Check(err)
	git := func(args ...string) {
		cmd := exec.Command("git", append([]string{"-C", dir, "--no-optional-locks"}, args...)...)
		cmd.Env = environ(ts)
		out, err := cmd.Output()
		if err != nil && len(out) == 0 && args[0] != "stash" && args[0] != "symbolic-ref" {
			return // not a repository: the files are all there is
		}
		for line := range strings.Lines(string(out)) {
			if !strings.Contains(line, "refs/relay/") && !strings.Contains(line, " .relay/") && !strings.Contains(line, " relais/") {
				add("git %s: %s", args[0], strings.TrimRight(line, "\n"))
			}
		}
	}
	git("for-each-ref", "--format=%(refname) %(objectname) %(symref)")
	git("symbolic-ref", "-q", "HEAD")
	git("rev-parse", "HEAD")
	git("ls-files", "-s", "-v")
	git("stash", "list")
	git("status", "--porcelain", "--ignored")
	sort.Strings(lines)
	return strings.Join(lines, "\n") + "\n"
}

// difference lists the lines that only one of two states has.
func difference(old, now string) string {
	count := map[string]int{}
	for line := range strings.Lines(old) {
		count[line]--
	}
	for line := range strings.Lines(now) {
		count[line]++
	}
	var out []string
	for line, n := range count {
		switch {
		case n < 0:
			out = append(out, "- "+line)
		case n > 0:
			out = append(out, "+ "+line)
		}
	}
	sort.Strings(out)
	return strings.Join(out, "")
}
