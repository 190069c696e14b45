package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// The recipe of the guide, as it stands there, in a real tmux: each pane shows what it
// should, and the status line has the cycle.
func TestTmuxRecipe(t *testing.T) {
	for _, need := range []string{"tmux", "watch"} {
		if _, err := exec.LookPath(need); err != nil {
			t.Skipf("%s is not installed, so the recipe can't be tried", need)
		}
	}
	w := newGateWorld(t)
	guide, err := os.ReadFile("../../docs/guides/audit-cycle.md")
	if err != nil {
		t.Fatal(err)
	}
	recipe := regexp.MustCompile("(?ms)^## In tmux$.*?^```sh\n(.*?)^```").FindSubmatch(guide)
	if recipe == nil {
		t.Fatal("the guide has no recipe")
	}
	server := filepath.Join(w.dir, "tmux")
	tmux := func(line string) string {
		t.Helper()
		cmd := exec.Command("sh", "-c", "tmux -S "+server+" -f /dev/null "+line)
		cmd.Env = append(w.env[:len(w.env):len(w.env)], "TERM=xterm", "SHELL=/bin/sh", "PS1=$ ")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %s: %v\n%s", line, err, out)
		}
		return string(out)
	}
	defer func() { _ = exec.Command("tmux", "-S", server, "kill-server").Run() }()
	lines := 0
	for line := range strings.Lines(string(recipe[1])) {
		line, ok := strings.CutPrefix(strings.TrimSpace(line), "tmux ")
		if !ok || strings.HasPrefix(line, "attach ") { // nobody looks
			continue
		}
		if strings.HasPrefix(line, "new-session") {
			line += " -x 160 -y 50"
		}
		tmux(strings.ReplaceAll(line, "~/project", w.repo))
		lines++
	}
	if lines < 5 {
		t.Fatalf("only %d lines of the recipe were tried", lines)
	}
	shows := func(what string, look func() string, want ...string) {
		t.Helper()
		var got string
		for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			got = look()
			missing := false
			for _, s := range want {
				missing = missing || !strings.Contains(got, s)
			}
			if !missing {
				return
			}
		}
		t.Errorf("%s shows %q, want %q", what, got, want)
	}
	panes := strings.Fields(tmux("list-panes -t cycles -F '#{pane_id}'"))
	if len(panes) != 3 {
		t.Fatalf("panes %v", panes)
	}
	all := func() string {
		var b strings.Builder
		for _, p := range panes {
			b.WriteString(tmux("capture-pane -p -J -t '" + p + "'"))
		}
		return b.String()
	}
	shows("the panes", all, "AWAITING_REVIEW", "state - -> INITIALIZED by relay")
	right := tmux("show-options -g -v status-right")
	inner := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(right), "#("), ")")
	if out, err := exec.Command("sh", "-c", "cd /; PATH="+binDir+":$PATH HOME="+filepath.Join(w.dir, "home")+" "+inner).Output(); err != nil || !strings.Contains(string(out), "! S:review") {
		t.Errorf("status-right is %q: %q %v", right, out, err)
	}
	w.must(1, "relay", "audit", "continue", w.id)
	shows("the log pane", all, "AWAITING_REVIEW -> PLAN_APPROVED by operator")
}
