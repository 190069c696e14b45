package checks

import (
	"context"
	"os"
	"path/filepath"
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
			time.Sleep(20 * time.Millisecond) // the kernel's clock of files ticks that slowly
			r.env.Environ = []string{"PATH=" + filepath.Join(tools, "path") + ":" + os.Getenv("PATH")}
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
			if tt.replace != "" {
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
