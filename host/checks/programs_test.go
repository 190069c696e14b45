package checks

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/verify"
)

// The programs of checks are what they were before the first builder of a piece of work:
// in the change that it began with, in one that is resumed, and in those that follow.
func TestProgramsOfChecks(t *testing.T) {
	const resumed, next = "resumed", "next"
	for _, tt := range []struct {
		name, way string
		argv      func(tools string) []string
		replace   string // below the folder of the tools
		forget    bool
		want      judge.Code
	}{
		{"as it was, resumed", resumed, func(string) []string { return []string{"tool"} }, "", false, judge.Success},
		{"as it was, a change that follows", next, func(string) []string { return []string{"tool"} }, "", false, judge.Success},
		{"replaced, resumed", resumed, func(string) []string { return []string{"tool"} }, "path/tool", false, judge.StopVerifyTainted},
		{"replaced, a change that follows", next, func(string) []string { return []string{"tool"} }, "path/tool", false, judge.StopVerifyTainted},
		{"new before it in PATH, resumed", resumed, func(string) []string { return []string{"true"} }, "path/true", false, judge.StopVerifyTainted},
		{"the record is lost", resumed, func(string) []string { return []string{"tool"} }, "", true, judge.StopVerifyTainted},
		{"behind a wrapper, as it was", next, func(string) []string { return []string{"nice", "env", "A=1", "tool"} }, "", false, judge.Success},
		{"behind a wrapper", next, func(string) []string { return []string{"nice", "env", "A=1", "tool"} }, "path/tool", false, judge.StopVerifyTainted},
		{"in a line of the shell's", next, func(string) []string { return []string{"sh", "-c", "true && tool"} }, "path/tool", false, judge.StopVerifyTainted},
		{"outside of PATH, as it was", "", func(d string) []string { return []string{filepath.Join(d, "tool")} }, "", false, judge.Success},
		{"outside of PATH", "", func(d string) []string { return []string{filepath.Join(d, "tool")} }, "tool", false, judge.StopVerifyTainted},
		{"outside of PATH, resumed", resumed, func(d string) []string { return []string{filepath.Join(d, "tool")} }, "tool", false, judge.StopVerifyTainted},
		{"a script outside of PATH, as it was", "", func(d string) []string { return []string{"sh", "-e", filepath.Join(d, "tool")} }, "", false, judge.Success},
		{"a script outside of PATH behind a wrapper", "", func(d string) []string { return []string{"nice", "sh", "-o", "errexit", filepath.Join(d, "tool")} }, "tool", false, judge.StopVerifyTainted},
		{"a script outside of PATH", "", func(d string) []string { return []string{"sh", "-e", filepath.Join(d, "tool")} }, "tool", false, judge.StopVerifyTainted},
		{"in a folder that a link leads to, as it was", resumed, func(string) []string { return []string{"other"} }, "", false, judge.Success},
		{"in a folder that a link leads to", resumed, func(string) []string { return []string{"other"} }, "two/other", false, judge.StopVerifyTainted},
		{"the folder's link leads elsewhere", resumed, func(string) []string { return []string{"other"} }, "latest -> three", false, judge.StopVerifyTainted},
		{"a link of PATH, as it was", next, func(string) []string { return []string{"linked"} }, "", false, judge.Success},
		{"a link of PATH", next, func(string) []string { return []string{"linked"} }, "path/linked -> /bin/true", false, judge.StopVerifyTainted},
		{"what a link of PATH leads to is a link", next, func(string) []string { return []string{"linked"} }, "current -> /bin/true", false, judge.StopVerifyTainted},
		{"a link in its place", "", func(string) []string { return []string{"tool"} }, "path/tool -> /bin/true", false, judge.StopVerifyTainted},
		{"a link before it in PATH", "", func(string) []string { return []string{"ls"} }, "path/ls -> /bin/true", false, judge.StopVerifyTainted},
		{"a link outside of PATH, as it was", "", func(d string) []string { return []string{"sh", "-c", filepath.Join(d, "current")} }, "", false, judge.Success},
		{"a link outside of PATH", "", func(d string) []string { return []string{"sh", "-c", filepath.Join(d, "current")} }, "current -> /bin/true", false, judge.StopVerifyTainted},
		{"a link to its folder", "", func(d string) []string { return []string{filepath.Join(d, "latest", "other")} }, "latest -> three", false, judge.StopVerifyTainted},
		{"an interpreter that is a link, as it was", "", func(string) []string { return []string{"begins"} }, "", false, judge.Success},
		{"an interpreter that is a link", "", func(string) []string { return []string{"begins"} }, "current -> /bin/true", false, judge.StopVerifyTainted},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, r := context.Background(), newRepo(t)
			tools := filepath.Join(filepath.Dir(r.root), "tools")
			must(t, os.MkdirAll(filepath.Join(tools, "path"), 0o755))
			script := func(name string) {
				must(t, os.WriteFile(filepath.Join(tools, name), []byte("#!/bin/sh\nexit 0\n"), 0o755))
			}
			script("tool")
			script("path/tool")
			link := func(name, to string) {
				os.Remove(filepath.Join(tools, name))
				must(t, os.Symlink(to, filepath.Join(tools, name)))
			}
			for _, dir := range []string{"two", "three"} {
				must(t, os.MkdirAll(filepath.Join(tools, dir), 0o755))
				script(dir + "/other")
			}
			link("latest", "two")
			link("current", "tool")
			link("path/linked", "../current")
			must(t, os.WriteFile(filepath.Join(tools, "path", "begins"), []byte("#!"+filepath.Join(tools, "current")+"\n"), 0o755))
			time.Sleep(20 * time.Millisecond) // the kernel's clock of files ticks that slowly
			r.env.Environ = []string{"PATH=" + filepath.Join(tools, "path") + ":" + filepath.Join(tools, "latest") + ":" + os.Getenv("PATH")}
			o, its := change.Options{RunID: "run-1", Base: r.git("rev-parse", "HEAD"), Branch: "main"}, Options{}
			if tt.way != "" {
				its.Programs = filepath.Join(r.env.StateDir, "work", "programs.json")
			}
			begun, err := change.Begin(ctx, r.env, o)
			must(t, err)
			c := r.check(begun, its)
			time.Sleep(20 * time.Millisecond)
			r.build(c, "echo two >> README.md")
			switch tt.way {
			case resumed:
				must(t, c.Sync())
				must(t, c.Leave())
			case next:
				must(t, c.Discard())
			}
			if name, to, ok := strings.Cut(tt.replace, " -> "); ok {
				link(name, to)
			} else if tt.replace != "" {
				script(tt.replace)
			}
			if tt.forget {
				must(t, os.Remove(its.Programs))
			}
			switch tt.way {
			case resumed:
				begun, _, err = change.Resume(ctx, r.env, o)
				its.Resumed = true
			case next:
				o.RunID = "run-2"
				begun, err = change.Begin(ctx, r.env, o)
			}
			must(t, err)
			if tt.way != "" {
				c = r.check(begun, its)
			}
			defer c.Discard()
			if _, err := c.Judge(ctx, wide); err != nil {
				t.Fatal(err)
			}
			results, code := c.Verify(ctx, Checks{Commands: []verify.Command{{ID: "x", Argv: tt.argv(tools)}}, Env: r.env.Environ})
			if code != tt.want {
				t.Errorf("%s, want %s: %+v", code, tt.want, results)
			}
		})
	}
}
