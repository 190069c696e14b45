package screen

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/loop"
	"github.com/paxiom/relay/host/pipelines"
)

func init() {
	scenes["watch"] = func() { sceneWatch(full()) }
	scenes["empty"] = func() { sceneWatch(&fake{root: "/work/project", res: &host.WatchResult{Branch: "main"}}) }
	scenes["all"] = func() {
		other := full()
		other.root = "/work/another"
		sceneWatch(full(), other)
	}
}

// fake is a repository that does not change but for what is done to it.
type fake struct {
	root string
	mu   sync.Mutex
	res  *host.WatchResult
}

func (f *fake) Root() string       { return f.root }
func (f *fake) WatchStamp() string { return "same" }

func (f *fake) Watch(context.Context) (*host.WatchResult, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	res := *f.res
	return &res, nil
}

func (f *fake) Diff(_ context.Context, id string) (*host.DiffResult, error) {
	if !strings.HasPrefix(id, "2026") {
		return nil, errors.New("no such run")
	}
	all := host.SplitDiff("diff --git a/add.sh b/add.sh\n--- a/add.sh\n+++ b/add.sh\n@@ -1 +1 @@\n-echo $(($1 - $2))\n+echo $(($1 + $2))\x1b[2J\ndiff --git a/b b/b\nnew file mode 100644\n--- /dev/null\n+++ b/b\n@@ -0,0 +1 @@\n+b\n")
	all[1].Rules = slices.Grow(all[1].Rules, 1)[:1]
	all[1].Rules[0].Rule, all[1].Rules[0].Code = "outside allowed_globs", "STOP_SCOPE_VIOLATION_OUTSIDE_ALLOWED"
	return &host.DiffResult{ID: id, Files: all}, nil
}

func (f *fake) Answer(_ context.Context, run, text string) (*host.AnswerResult, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.res.Needs) == 0 || f.res.Needs[0].ID != run {
		return nil, errors.New("another question waits now")
	}
	f.res.Needs = f.res.Needs[1:]
	return &host.AnswerResult{Answer: text, Next: "`relay run` (" + text + ")"}, nil
}

func (f *fake) TaskAnswer(context.Context, string, string, string) (*pipelines.TaskResult, error) {
	return nil, errors.New("nobody asked")
}

func full() *fake {
	at := func(ago time.Duration) time.Time { return noon.Add(-ago) }
	p := host.PresenceEntry{Log: []host.PulseLine{{At: at(time.Minute), Text: "done: orchestrate  fix-add: make it pass"}, {At: at(time.Second), Text: "claude-code: edits add.sh"}}}
	p.PID, p.Command, p.StartedAt = 4711, "relay loop", at(10*time.Minute)
	p.Now.Doing = []host.Doing{{RunID: "20261121-115900-aaaa", State: "BUILD", Since: at(80 * time.Second), Acts: []host.Act{{Plugin: "claude-code", Text: "edits שלום/世界.go"}}}}
	p.Now.Limits = []host.Bound{{Name: "tick", Until: noon.Add(20 * time.Minute)}}
	p.Now.Usage = host.Usage{InputTokens: num(int64(12000)), OutputTokens: num(int64(400)), CostUSD: num(0.25)}
	run := func(id string, ago time.Duration, code host.Code, intent string) host.RunLine {
		var r host.RunLine
		r.RunID, r.EndedAt, r.Code, r.Intent = id, at(ago), code, intent
		return r
	}
	return &fake{root: "/work/project", res: &host.WatchResult{Branch: "main",
		Needs: []host.Need{
			{Kind: host.NeedQuestion, ID: "20261121-113000-bbbb", Title: "round", Text: "Which way shall halves be rounded? \x1b[31mred", Choices: []string{"up", "to even"}, Since: at(30 * time.Minute), Next: "`relay answer \"…\"`"},
			{Kind: host.NeedPlan, ID: "bf3c91aa", Title: "billing", Text: "7 entries, 2 undecided", Since: at(3 * time.Hour), Next: "`relay audit review bf3c91aa`"},
		},
		Working: []host.PresenceEntry{p}, Loop: &host.LoopSeen{ID: "l", Running: true, Progress: loop.Progress{PID: 4711, Tick: 3}},
		Cycles: []host.CycleLine{{Short: "99aa11bb", Service: "search", State: "AUDIT_RUNNING", Since: at(2 * time.Minute), Detail: "claude, codex"}},
		Tasks:  map[string]int{"completed": 2, "pending": 5},
		Runs: []host.RunLine{run("20261121-113000-bbbb", 30*time.Minute, "SUCCESS", "ask how to round"), run("20261121-100000-cccc", 2*time.Hour, "STOP_SCOPE_VIOLATION_OUTSIDE_ALLOWED", "make the \u202egnp.exe pass"),
			run("20261120-100000-dddd", 26*time.Hour, "BLOCKED_BUDGET_CAP", "")},
		Budgets: []host.BudgetLine{{Name: "ticks", Used: 3, Max: 20}, {Name: "dollars", Used: 4.5, Max: 5}},
		Log:     []string{"2026-11-21T11:58:00.000Z 99aa11bb search state INITIALIZED -> AUDIT_RUNNING by relay"},
	}}
}

func sceneWatch(all ...*fake) {
	time.Local = time.UTC
	relay := filepath.Join(os.Getenv(stepsVar), "relay")
	_ = os.WriteFile(relay, []byte("#!/bin/sh\necho \"this is relay $*\"\n"), 0o755)
	o := WatchOptions{In: os.Stdin, Out: os.Stdout, Color: os.Getenv("NO_COLOR") == "", Relay: relay, Environ: os.Environ(), Now: func() time.Time { return noon }}
	for _, f := range all {
		o.Sources = append(o.Sources, f)
	}
	_ = os.WriteFile(filepath.Join(os.Getenv(stepsVar), "pid"), fmt.Append(nil, os.Getpid()), 0o644)
	ctx, stop := host.Interrupt(context.Background(), os.Exit)
	defer stop()
	if err := Watch(ctx, o); err != nil {
		println(err.Error())
	}
}

// One pass through everything that the keys do.
func TestWatchKeys(t *testing.T) {
	t.Parallel()
	s := perform(t, "watch", 100, 30)
	s.golden("watch-100", "NEEDS YOU", "RUNS")
	s.Keys("?")
	s.golden("watch-keys", "review a plan")
	s.Keys("q", "j", "j")
	s.golden("watch-chosen", "> *")
	s.Keys("l")
	s.Shows("log  (1-", "AUDIT_RUNNING by relay")
	s.Keys("q", "G", "k", "d")
	s.golden("watch-diff", "echo $(($1 + $2))\\x1b[2J")
	s.Keys("q", "Enter")
	s.Shows("this is relay -C /work/project show 20261121-100000-cccc")
	s.Keys("q", "S")
	s.Shows("this is relay -C /work/project salvage 20261121-100000-cccc")
	s.Keys("q", "u")
	s.Shows("only a run that landed can be undone")
	s.Keys("k", "u")
	s.Shows("y undoes 20261121-113000-bbbb with a new commit, any other key cancels")
	s.Keys("n")
	s.Shows("nothing was done")
	s.Keys("u", "y")
	s.Shows("this is relay -C /work/project undo 20261121-113000-bbbb")
	s.Keys("q", "/", "H", "O", "W", "Space", "r", "u", "n", "BSpace")
	s.golden("watch-filter", "filter: HOW ru_")
	s.Keys("Enter")
	s.Shows("esc shows all")
	s.Keys("Escape")
	s.Shows("NEEDS YOU")
	s.Keys("A")
	s.Shows("nothing here waits for A")
	s.Keys("r")
	s.Shows("this is relay -C /work/project audit review bf3c91aa", "Enter goes back")
	s.Keys("Enter")
	s.Shows("relay audit review bf3c91aa is done", "NEEDS YOU")
	s.Keys("s")
	s.Shows("y ends what works here", "any other key cancels")
	s.Keys("n")
	s.Shows("nothing was done")
	s.Keys("a", "2", "1", "BSpace", "ü")
	s.Shows("answer to 20261121-113000-bbbb: 2ü_")
	s.Keys("Enter")
	got := s.Shows("answered; next: `relay run` (2ü)")
	s.Eventually("is without the question", func(got string) bool { return !strings.Contains(got, "Which way") })
	if strings.ContainsRune(got, '\u202e') {
		t.Errorf("%q", got)
	}
	s.Keys("q")
	s.Shows("over")
	if got := strings.TrimSpace(s.Tmux("display-message", "-p", "#{cursor_flag} #{alternate_on}")); got != "1 0" {
		t.Errorf("cursor shown, alternate screen: %s", got)
	}
}

// What a stopped run had built is fetched from the row that says it stopped, too; esc, which leaves
// everything else, does not leave the list.
func TestSalvageAProblem(t *testing.T) {
	w := watcher{items: []item{{kind: host.NeedProblem, id: "20261121-100000-cccc", repo: &watched{Source: full()}}}}
	if cmd := w.act("S"); cmd == nil || w.said != "" {
		t.Errorf("it says %q", w.said)
	}
	if w.key(tea.KeyPressMsg{Code: tea.KeyEscape}) != nil {
		t.Error("esc does something")
	}
}

func TestWatchSizes(t *testing.T) {
	t.Parallel()
	s := perform(t, "watch", 60, 16, "NO_COLOR=1")
	s.golden("watch-60", "NEEDS YOU", "? keys")
	if got := s.Tmux("capture-pane", "-p", "-e"); strings.Contains(got, "\x1b[3") {
		t.Errorf("colour in %q", got)
	}
	s.Tmux("resize-window", "-x", "120", "-y", "40")
	s.golden("watch-120", "RUNS", "BLOCKED_BUDGET_CAP")
	s.Tmux("resize-window", "-x", "19", "-y", "4")
	s.Shows("too small")
}

func TestWatchAllAndEmpty(t *testing.T) {
	t.Parallel()
	perform(t, "all", 100, 40).golden("watch-all", "2 repositories", "another")
	perform(t, "empty", 80, 10).golden("watch-empty", "nothing has run here yet")
}

// Killed by a signal that it can hear, the terminal is as it was.
func TestWatchLeavesTheTerminal(t *testing.T) {
	t.Parallel()
	s := perform(t, "watch", 80, 20)
	s.Shows("NEEDS YOU")
	s.Keys("C-c")
	s.Shows("over")
	if got := strings.TrimSpace(s.Tmux("display-message", "-p", "#{cursor_flag} #{alternate_on} #{keypad_cursor_flag}")); got != "1 0 0" {
		t.Errorf("%s", got)
	}
}

// The list as plain lines: each fits, and nothing in it controls a terminal.
func TestSnapshot(t *testing.T) {
	for _, width := range []int{40, 80, 200} {
		lines, found, err := Snapshot(context.Background(), []Source{full()}, func() time.Time { return noon }, width)
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		for _, line := range lines {
			if Columns(line) > width || strings.ContainsAny(line, "\x1b\u202e\n") {
				t.Errorf("%d columns of %d: %q", Columns(line), width, line)
			}
		}
		if all := strings.Join(lines, "\n"); !strings.Contains(all, "NEEDS YOU") || !strings.Contains(all, "  ? question") || strings.Contains(all, "> ") {
			t.Errorf("%s", all)
		}
	}
}

// An attempt that is at no step yet says so: "at" with nothing after it says nothing.
func TestTaskAt(t *testing.T) {
	for want, task := range map[string]host.TaskAttempt{"at code": {Step: "code"}, "before its first step": {},
		"ended with SUCCESS; the next run writes it down": {Code: "SUCCESS"}} {
		if got := taskAt(&task); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
