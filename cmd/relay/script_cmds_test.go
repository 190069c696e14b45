package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/paxiom/relay/schemas"
)

// cmdTick makes $WORK/repo ready for a tick: the fixture's files, the script's own
// over them (they lie under repo/ already), the orchestrator's answers, one commit
// and the person's trust.
//
//	tick [ANSWER...]
//
// Each ANSWER is a file: *.json is deep-merged over the default task, anything else
// is sent as text. Without one, task.json is the only answer when it exists, and
// otherwise the default task.
func cmdTick(ts *testscript.TestScript, neg bool, args []string) {
	repo := ts.MkAbs("repo")
	ts.Check(copyMissing(ts.Getenv("FIXTURE"), repo))
	if _, err := os.Stat(ts.MkAbs("build.sh")); err == nil {
		ts.Check(os.WriteFile(filepath.Join(repo, "build.sh"), []byte(ts.ReadFile("build.sh")), 0o755))
	}
	if _, err := os.Stat(ts.MkAbs("config.json")); err == nil {
		config := filepath.Join(repo, "relay.config.json")
		ts.Check(os.WriteFile(config, merged(ts, config, ts.MkAbs("config.json")), 0o644))
	}
	ts.Check(replaceInFile(filepath.Join(repo, "relay.config.json"), "@REPO@", repo))
	if len(args) == 0 {
		if _, err := os.Stat(ts.MkAbs("task.json")); err == nil {
			args = []string{"task.json"}
		} else {
			args = []string{filepath.Join(repo, "default-task.json")}
		}
	}
	ts.Check(os.WriteFile(filepath.Join(repo, "plan.json"), plan(ts, repo, args), 0o644))
	ts.Check(os.Remove(filepath.Join(repo, "default-task.json")))
	for _, line := range []string{"git init -q .", "git add -A", "git commit -q -m base", "relay trust --yes --quiet"} {
		if line == "git init -q ." {
			if _, err := os.Stat(filepath.Join(repo, ".git")); err == nil {
				continue
			}
		}
		runIn(ts, repo, strings.Fields(line)...)
	}
}

// plan writes a script for the provider replay.
func plan(ts *testscript.TestScript, repo string, answers []string) []byte {
	script := map[string]any{"version": 1}
	var calls []map[string]any
	for _, name := range answers {
		c := map[string]any{"usage": map[string]int{"input_tokens": 1000, "output_tokens": 100, "cost_microusd": 2500}}
		answer := map[string]any{}
		switch {
		case strings.HasSuffix(name, ".call"): // a call of the script itself; an answer it need not have
			ts.Check(json.Unmarshal([]byte(ts.ReadFile(name)), &c))
			answer["output"] = json.RawMessage(ts.ReadFile(filepath.Join(repo, "default-task.json")))
		case strings.HasSuffix(name, ".json"):
			answer["output"] = json.RawMessage(merged(ts, filepath.Join(repo, "default-task.json"), ts.MkAbs(name)))
		default:
			answer["text"] = ts.ReadFile(name)
		}
		if c["failure"] == nil {
			c["answer"] = answer
		} else {
			delete(c, "usage")
		}
		calls = append(calls, c)
	}
	script["calls"] = calls
	b, err := json.MarshalIndent(script, "", "  ")
	ts.Check(err)
	return b
}

// merged is the JSON file over laid over the JSON file base, object by object; null
// takes a key away.
func merged(ts *testscript.TestScript, base, over string) []byte {
	read := func(path string) (v any) {
		b, err := os.ReadFile(path)
		ts.Check(err)
		if err := json.Unmarshal(b, &v); err != nil {
			ts.Fatalf("%s: %v", path, err)
		}
		return v
	}
	b, err := json.MarshalIndent(overlay(read(base), read(over)), "", "  ")
	ts.Check(err)
	return b
}

func overlay(base, over any) any {
	b, ok1 := base.(map[string]any)
	o, ok2 := over.(map[string]any)
	if !ok1 || !ok2 {
		return over
	}
	for k, v := range o {
		if v == nil {
			delete(b, k)
			continue
		}
		b[k] = overlay(b[k], v)
	}
	return b
}

// copyMissing copies the files of a folder that are not there yet.
func copyMissing(from, to string) error {
	return filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if _, err := os.Lstat(target); err == nil {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return errors.Join(os.MkdirAll(filepath.Dir(target), 0o755), os.WriteFile(target, b, 0o755))
	})
}

func replaceInFile(path, old, now string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(strings.ReplaceAll(string(b), old, now)), 0o644)
}

// runIn runs a command that must succeed, in a folder.
func runIn(ts *testscript.TestScript, dir string, argv ...string) {
	path := argv[0]
	if path == "relay" {
		path = filepath.Join(binDir, "relay")
	}
	cmd := exec.Command(path, argv[1:]...)
	cmd.Dir, cmd.Env = dir, environ(ts)
	if out, err := cmd.CombinedOutput(); err != nil {
		ts.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
	}
}

// environ is the script's environment.
func environ(ts *testscript.TestScript) []string {
	var env []string
	for _, name := range []string{"HOME", "PATH", "TMPDIR", "GIT_CONFIG_NOSYSTEM", "TERM", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"} {
		if v := ts.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// cmdExits runs a program and asserts its exit code: exits CODE PROGRAM [ARG...].
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%s: %v", args[1], err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
	if args[1] == "relay" && slices.Contains(args, "--json") {
		asPublished(ts, ts.ReadFile("stdout"))
	}
}

// cmdJSON looks into a JSON file (or stdout): json FILE PATH [= != ~ len] VALUE.
// PATH is dotted; a number picks from a list; a list or object is compared as
// compact JSON. ! json FILE PATH asserts that there is no such path.
func cmdJSON(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 && len(args) != 4 {
		ts.Fatalf("usage: json FILE PATH [OP VALUE]")
	}
	var doc any
	if err := json.Unmarshal([]byte(ts.ReadFile(args[0])), &doc); err != nil {
		ts.Fatalf("%s: %v", args[0], err)
	}
	value, found := lookup(doc, args[1])
	if len(args) == 2 {
		if found == neg {
			ts.Fatalf("%s: %s is %s", args[0], args[1], text(value))
		}
		return
	}
	if !found && args[2] != "!=" {
		if neg {
			return
		}
		ts.Fatalf("%s: there is no %s", args[0], args[1])
	}
	got, want := text(value), args[3]
	ok := false
	switch args[2] {
	case "=":
		ok = got == want
	case "!=":
		ok = got != want
	case "~":
		ok = strings.Contains(got, want)
	case "len":
		list, _ := value.([]any)
		object, _ := value.(map[string]any)
		ok = strconv.Itoa(len(list)+len(object)) == want
	default:
		ts.Fatalf("unknown operator %q", args[2])
	}
	if ok == neg {
		ts.Fatalf("%s: %s is %s, want %s %s", args[0], args[1], got, args[2], want)
	}
}

func lookup(v any, path string) (any, bool) {
	for _, key := range strings.Split(path, ".") {
		switch c := v.(type) {
		case map[string]any:
			next, ok := c[key]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(c) {
				return nil, false
			}
			v = c[i]
		default:
			return nil, false
		}
	}
	return v, true
}

func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// cmdCounters asserts the milestone's counters in STATE.json and, for the calls,
// that usage.jsonl has one line for each: counters ticks=1 builder_calls=1 …
func cmdCounters(ts *testscript.TestScript, neg bool, args []string) {
	var state struct {
		Budgets map[string]float64 `json:"budgets"`
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(workspaceFile(ts, "STATE.json"))), &state))
	for _, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		want, err := strconv.ParseFloat(value, 64)
		ts.Check(err)
		if got, ok := state.Budgets[name]; !ok || got != want {
			ts.Fatalf("%s is %v in STATE.json, want %v", name, got, want)
		}
		if role, ok := map[string]string{"orchestrator_calls": "orchestrator", "builder_calls": "builder"}[name]; ok {
			if got := usageLines(ts, role); got != int(want) {
				ts.Fatalf("usage.jsonl has %d calls of the %s, want %v", got, role, want)
			}
		}
	}
}

// workspaceFile is a file of the workspace of $WORK/repo, wherever the script is.
func workspaceFile(ts *testscript.TestScript, name string) string {
	return filepath.Join(ts.Getenv("WORK"), "repo", ".relay", name)
}

func usageLines(ts *testscript.TestScript, role string) int {
	b, err := os.ReadFile(workspaceFile(ts, "usage.jsonl"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		ts.Check(err)
	}
	n := 0
	for line := range strings.Lines(string(b)) {
		var l struct{ Role string }
		ts.Check(json.Unmarshal([]byte(line), &l))
		if l.Role == role {
			n++
		}
	}
	return n
}

// cmdSchema validates a file: schema NAME FILE.
func cmdSchema(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: schema NAME FILE")
	}
	err := schemas.Validate(args[0], []byte(ts.ReadFile(args[1])))
	if (err == nil) == neg {
		ts.Fatalf("%s by schema %s: %v", args[1], args[0], err)
	}
}

// cmdWaitFor waits until a file exists, or one that holds a text (at most 30 s):
// waitfor FILE [TEXT].
func cmdWaitFor(ts *testscript.TestScript, neg bool, args []string) {
	deadline := time.Now().Add(30 * time.Second)
	for {
		matches, err := filepath.Glob(ts.MkAbs(args[0]))
		ts.Check(err)
		if len(args) > 1 {
			matches = slices.DeleteFunc(matches, func(path string) bool {
				text, err := os.ReadFile(path)
				return err != nil || !strings.Contains(string(text), args[1])
			})
		}
		if (len(matches) > 0) != neg {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("waited 30 s for %s", strings.Join(args, " with "))
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// cmdSignal sends a signal to the process whose id is in a file's "pid" or is all
// that it holds: signal INT|TERM|HUP|KILL FILE.
func cmdSignal(ts *testscript.TestScript, neg bool, args []string) {
	signals := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "KILL": syscall.SIGKILL}
	text := strings.TrimSpace(ts.ReadFile(args[1]))
	pid, err := strconv.Atoi(text)
	if err != nil {
		var info struct{ PID int }
		ts.Check(json.Unmarshal([]byte(text), &info))
		pid = info.PID
	}
	if pid <= 1 {
		ts.Fatalf("%s names no process", args[1])
	}
	ts.Check(syscall.Kill(pid, signals[args[0]]))
}

// cmdNoProcess asserts that within 5 s no process has TEXT in its command line.
func cmdNoProcess(ts *testscript.TestScript, neg bool, args []string) {
	deadline := time.Now().Add(5 * time.Second)
	for {
		left := processesWith(args[0])
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("still there: %s", strings.Join(left, "; "))
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func processesWith(text string) []string {
	var found []string
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		b, err := os.ReadFile(f)
		if line := strings.ReplaceAll(string(b), "\x00", " "); err == nil && strings.Contains(line, text) {
			found = append(found, line)
		}
	}
	sort.Strings(found)
	return slices.Compact(found)
}

// cmdMakeFile makes a file of SIZE bytes: make-file FILE SIZE.
func cmdMakeFile(ts *testscript.TestScript, neg bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Repeat("x", n)), 0o644))
}
