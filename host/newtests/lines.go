package newtests

import (
	"context"
	"io"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/paxiom/relay/host/checks"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
)

// lines are a file's text and the numbers of those of its lines that the base does not
// have: a line that was only moved is no change.
func (l *Look) lines(ctx context.Context, c judge.Change) (text string, changed map[int]bool, err error) {
	f, err := l.Change.Box().Open(c.Path)
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err != nil || len(b) > maxText {
		return "", nil, err
	}
	old := map[string]int{}
	if c.Kind != judge.Added {
		was, err := l.Change.Git().Run(ctx, nil, "cat-file", "blob", l.Base+":"+c.Path)
		if err != nil {
			return "", nil, err
		}
		for line := range strings.Lines(string(was)) {
			old[strings.TrimSpace(line)]++
		}
	}
	changed = map[int]bool{}
	n := 0
	for line := range strings.Lines(string(b)) {
		n++
		line = strings.TrimSpace(line)
		if old[line]--; old[line] < 0 && line != "" {
			changed[n] = true
		}
	}
	return string(b), changed, nil
}

// changedTests tells which tests have a line that is new: one of those from where the test
// begins to where the next function or test does.
func (l *Look) changedTests(ctx context.Context) (func(name, file string) bool, error) {
	type test struct{ file, name string }
	all := map[test]bool{}
	for _, c := range l.Change.Kept() {
		if c.Kind == judge.Deleted || !c.NewMode.IsRegular() || !judge.Match(l.Tests, c.Path) {
			continue
		}
		text, changed, err := l.lines(ctx, c)
		if err != nil {
			return nil, err
		}
		now, n := "", 0
		for line := range strings.Lines(text) {
			n++
			if m := begins.FindStringSubmatch(line); m != nil {
				now = strings.Join(m[1:], "") // one of them is not empty
			}
			if changed[n] && now != "" {
				all[test{c.Path, now}] = true
			}
		}
	}
	return func(name, file string) bool {
		if strings.HasSuffix(name, "]") { // pytest's parameters
			name, _, _ = strings.Cut(name, "[")
		}
		for t := range all {
			of := file == "" || file == t.file || file == path.Dir(t.file)+"/" || t.file == path.Base(t.file) && file == "./"
			if rest, ok := strings.CutSuffix(name, t.name); of && ok && (rest == "" || strings.ContainsAny(rest[len(rest)-1:], ".:/ ")) {
				return true
			}
		}
		return false
	}, nil
}

// begins finds the name of a function or of a test.
var begins = regexp.MustCompile("^\\s*(?:(?:public |static |async |pub |export )*(?:def|func|fn|fun|void|function) +(\\w+)|(?:it|test|describe|@test)\\b[^'\"`]*(?:'([^']*)'|\"([^\"]*)\"|`([^`]*)`))")

// Write runs a script in a box, whose arguments follow its text on standard input.
func Write(b *box.Box, k checks.Checks, script, text string, args ...string) error {
	in, out, err := os.Pipe()
	if err != nil {
		return err
	}
	defer in.Close()
	go func() { io.WriteString(out, text); out.Close() }()
	p, err := k.Plan.Start(b, box.Proc{Argv: append([]string{"/bin/sh", "-c", script, "sh"}, args...), Env: k.Env, Stdin: in})
	if err != nil {
		return err
	}
	state, err := p.Wait()
	if err == nil && !state.OK() {
		return ScriptError(state.Code)
	}
	return err
}

// ScriptError is the exit code of a script that failed.
type ScriptError int

// Error says it.
func (e ScriptError) Error() string { return "the script ended with exit code " + strconv.Itoa(int(e)) }
