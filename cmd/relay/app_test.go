package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/diag"
)

// testApp is an app with its streams in memory.
func testApp(env map[string]string) (a *app, stdout, stderr *bytes.Buffer) {
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	a = &app{in: strings.NewReader(""), out: stdout, err: stderr, size: func() (int, int) { return 60, 24 },
		getenv: func(name string) string { return env[name] }}
	return a, stdout, stderr
}

func TestWrongCalls(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want []string // in this order on stderr
	}{
		"unknown command": {[]string{"frobnicate"}, []string{`error: relay has no command "frobnicate"`, "fix: `relay --help`"}},
		"near miss":       {[]string{"statsu"}, []string{`no command "statsu"`, "why: perhaps you mean: status", "fix: `relay status`"}},
		"not a spender":   {[]string{"rnu"}, []string{`no command "rnu"`, "fix: `relay run --help`"}},
		"spender":         {[]string{"pipelin"}, []string{"fix: `relay pipeline`"}},
		"remover":         {[]string{"salvgae"}, []string{"perhaps you mean: salvage", "fix: `relay salvage --help`"}},
		"another's word":  {[]string{"questions"}, []string{"fix: `relay queue`"}},
		"swapped below":   {[]string{"task", "lsit"}, []string{"perhaps you mean: list", "fix: `relay task list`"}},
		"nearest first":   {[]string{"plugin", "remvoe", "foo"}, []string{"perhaps you mean: remove, revoke", "fix: `relay plugin remove --help`"}},
		"with its flags":  {[]string{"pipeline", "rnu", "--parallel", "4"}, []string{`relay pipeline has no command "rnu"`, "fix: `relay pipeline run --help`"}},
		"unknown below":   {[]string{"history", "purge"}, []string{`relay history has no command "purge"`}},
		"unknown flag":    {[]string{"run", "--frob"}, []string{"unknown flag: --frob", "fix: `relay run --help`"}},
		"flag, no value":  {[]string{"run", "--goal"}, []string{"flag needs an argument", "fix: `relay run --help`"}},
		"extra argument":  {[]string{"run", "do it"}, []string{`relay run takes no argument, but got "do it"`, "fix: `relay run --goal 'do it'`"}},
		"no number":       {[]string{"loop", "--max-ticks", "abc"}, []string{`--max-ticks can't be "abc"`, "it needs a number", "fix: `relay loop --help`"}},
		"not a writer":    {[]string{"config", "get", "budgets"}, []string{`relay config has no command "get"`, "fix: `relay config show`"}},
		"log in":          {[]string{"login"}, []string{"fix: `relay doctor`"}},
		"one dash":        {[]string{"run", "-goal", "x"}, []string{"unknown flag: -goal", "perhaps you mean --goal"}},
		"short flag":      {[]string{"run", "-n"}, []string{"unknown flag: -n\n  fix"}},
		"far from a flag": {[]string{"doctor", "--fix"}, []string{"unknown flag: --fix\n  fix"}},
		"two answers":     {[]string{"answer", "round", "up"}, []string{"relay answer takes one answer", "in quotes"}},
		"bad age":         {[]string{"history", "prune", "--older-than", "soon"}, []string{`--older-than "soon" is not a time`, "30d"}},
		"bad size":        {[]string{"history", "prune", "--max-size", "-5MB"}, []string{"is not a size", "200MB"}},
		"bad shell":       {[]string{"completion", "tcsh"}, []string{"needs the name of a shell", "bash, zsh, fish or powershell"}},
		"both flags":      {[]string{"salvage", "--branch", "b", "--patch", "p"}, []string{"--branch and --patch exclude each other"}},
		"hostile text":    {[]string{"\x1b[2Jx"}, []string{"error:"}},
	} {
		t.Run(name, func(t *testing.T) {
			a, stdout, stderr := testApp(nil)
			if code := run(a, c.args); code != host.ExitBlocked {
				t.Errorf("exit code %d, want %d", code, host.ExitBlocked)
			}
			if stdout.Len() > 0 {
				t.Errorf("stdout is not empty: %q", stdout)
			}
			rest := stderr.String()
			for _, w := range c.want {
				i := strings.Index(rest, w)
				if i < 0 {
					t.Fatalf("missing %q in:\n%s", w, stderr)
				}
				rest = rest[i+len(w):]
			}
			if strings.ContainsRune(stderr.String(), '\x1b') {
				t.Errorf("an escape character reached the terminal: %q", stderr)
			}
		})
	}
}

// With --json an error is one document on stdout, wherever the flag stands, and
// stderr is silent.
func TestErrorDocument(t *testing.T) {
	for _, args := range [][]string{{"--json", "frob"}, {"frob", "--json"}, {"run", "--frob", "--json"}} {
		a, stdout, stderr := testApp(nil)
		if code := run(a, args); code != host.ExitBlocked {
			t.Errorf("%v: exit code %d", args, code)
		}
		var doc errorDoc
		if err := json.Unmarshal(stdout.Bytes(), &doc); err != nil {
			t.Fatalf("%v: %v in %s", args, err, stdout)
		}
		if doc.Kind != "relay.error" || doc.Version != 1 || doc.ExitCode != 3 || doc.What == "" || doc.Fix == "" {
			t.Errorf("%v: %+v", args, doc)
		}
		if stderr.Len() > 0 {
			t.Errorf("%v: stderr says %q", args, stderr)
		}
	}
}

func TestExitCodes(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want int
	}{
		"none":        {nil, 0},
		"shown":       {exit{1}, 1},
		"wrong call":  {usageError{what: "x"}, 3},
		"blocked":     {diag.New("BLOCKED_LOCK_HELD", "", "", ""), 3},
		"stopped":     {diag.New("STOP_HEAD_MOVED", "", "", ""), 2},
		"a bug":       {errors.New("x"), 2},
		"interrupted": {host.Interrupted{Signal: 2}, 130},
		"terminated":  {host.Interrupted{Signal: 15}, 143},
	} {
		if got := exitCode(c.err); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func TestPanicIsAnError(t *testing.T) {
	a, _, stderr := testApp(nil)
	root := &cobra.Command{Use: "relay", RunE: func(*cobra.Command, []string) error { panic("boom") }}
	root.SetArgs(nil)
	err := a.execute(t.Context(), root)
	f, ok := diag.As(err)
	if !ok || f.Why != "panic: boom" || strings.Contains(stderr.String(), "goroutine") {
		t.Errorf("%v, stderr %q", err, stderr)
	}
}

func TestColor(t *testing.T) {
	for name, c := range map[string]struct {
		env  map[string]string
		flag bool
		tty  bool
		want bool
	}{
		"terminal":             {map[string]string{"TERM": "xterm"}, false, true, true},
		"piped":                {map[string]string{"TERM": "xterm"}, false, false, false},
		"dumb":                 {map[string]string{"TERM": "dumb"}, false, true, false},
		"no TERM":              {nil, false, true, false},
		"NO_COLOR":             {map[string]string{"TERM": "xterm", "NO_COLOR": "1"}, false, true, false},
		"forced":               {map[string]string{"CLICOLOR_FORCE": "1"}, false, false, true},
		"force says no":        {map[string]string{"CLICOLOR_FORCE": "0"}, false, false, false},
		"NO_COLOR beats force": {map[string]string{"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, false, true, false},
		"the flag beats all":   {map[string]string{"TERM": "xterm", "CLICOLOR_FORCE": "1"}, true, true, false},
	} {
		a, _, _ := testApp(c.env)
		a.noColor = c.flag
		if got := a.colorOn(c.tty); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Every command has a group or a parent with one, an example, and a help text that
// fits a screen of 24 lines (the root's: 60) and 100 columns.
func TestHelp(t *testing.T) {
	a, _, _ := testApp(nil)
	root := newRootCmd(a)
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		if c.Hidden || c.Name() == "help" {
			return
		}
		var b bytes.Buffer
		help(newPrinter(&b, false), c)
		lines := strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
		limit := 24
		if c == root {
			limit = 24
		}
		if len(lines) > limit {
			t.Errorf("help of %q has %d lines, more than %d", c.CommandPath(), len(lines), limit)
		}
		for _, l := range lines {
			if columns(l) > 100 {
				t.Errorf("help of %q: %d columns in %q", c.CommandPath(), columns(l), l)
			}
		}
		if c.Example == "" || c.Short == "" {
			t.Errorf("%q has no example or no short text", c.CommandPath())
		}
		if c.Parent() == root && c.GroupID == "" {
			t.Errorf("%q is in no group", c.CommandPath())
		}
		for _, child := range c.Commands() {
			visit(child)
		}
	}
	visit(root)
	for _, topic := range []string{"exit-codes", "environment", "files"} {
		a, stdout, _ := testApp(nil)
		if code := run(a, []string{"help", topic}); code != 0 || stdout.Len() < 100 {
			t.Errorf("help %s: exit code %d, %q", topic, code, stdout)
		}
	}
}

func TestHelpOfACommand(t *testing.T) {
	for _, args := range [][]string{{"help", "run"}, {"run", "--help"}, {"run", "-h"}} {
		a, stdout, _ := testApp(nil)
		if code := run(a, args); code != 0 || !strings.Contains(stdout.String(), "relay run --task task.json") {
			t.Errorf("%v: exit code %d, %q", args, code, stdout)
		}
	}
	a, _, stderr := testApp(nil)
	if code := run(a, []string{"help", "nothing"}); code != 3 || !strings.Contains(stderr.String(), `no command "nothing"`) {
		t.Errorf("exit code %d, %q", code, stderr)
	}
}

func TestCompletionScripts(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		a, stdout, _ := testApp(nil)
		if code := run(a, []string{"completion", shell}); code != 0 || !strings.Contains(stdout.String(), "relay") {
			t.Errorf("%s: exit code %d, %d bytes", shell, code, stdout.Len())
		}
	}
}

func TestParseAgeAndSize(t *testing.T) {
	for text, want := range map[string]time.Duration{"30d": 720 * time.Hour, "12h": 12 * time.Hour, "0.5d": 12 * time.Hour, "-1d": 0, "d": 0, "": 0, "0s": 0} {
		got, err := parseAge(text)
		if got != want || (want == 0) != (err != nil) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]int64{"200MB": 200e6, "1.5gb": 15e8, "10": 10, "10 kB": 10e3, "7B": 7, "0": 0, "x": 0, "1e30GB": 0} {
		got, err := parseSize(text)
		if got != want || (want == 0) != (err != nil) {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
}
