package task

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/paxiom/relay/host/internal/strictjson"
	"github.com/paxiom/relay/judge"
)

// MaxBytes is the largest task that is read.
const MaxBytes = 2 << 20

// Options adapt the schema to what is installed.
type Options struct {
	// Builders are the names and aliases that builder.mode may have; empty means
	// any name.
	Builders []string
}

// Problem is one thing that is wrong with a task.
type Problem = strictjson.Problem

// Error is why a text is no task. It is fit to be shown to the model as the reason
// for its one retry.
type Error = strictjson.Problems

// Parse reads a task. The text must be one JSON object and nothing else; every
// error is an *Error.
func Parse(b []byte, o Options) (*Task, error) {
	tree, err := strictjson.Decode(b, MaxBytes)
	if err != nil {
		return nil, invalid(err)
	}
	object, ok := tree.(map[string]any)
	if !ok {
		return nil, strictjson.Bad("", "the task must be one JSON object")
	}
	if p := onePart(object); p != nil {
		return nil, &Error{Problems: []Problem{*p}}
	}
	schema, err := compile(o.Builders)
	if err != nil {
		return nil, invalid(err)
	}
	if err := schema.Validate(tree); err != nil {
		return nil, &Error{Problems: explain(err, tree)}
	}
	var t Task
	if err := strictjson.Unmarshal(b, &t); err != nil {
		return nil, invalid(err)
	}
	if ps := t.check(); len(ps) > 0 {
		return nil, &Error{Problems: ps}
	}
	return &t, nil
}

// invalid makes an *Error of one from strictjson.
func invalid(err error) error {
	if s, ok := errors.AsType[*strictjson.Error](err); ok && s.Path != "" {
		return strictjson.Bad(s.Path, s.Reason)
	}
	return strictjson.Bad("", "the task "+article(err.Error()))
}

// article puts "at" before a place, so that the sentence reads.
func article(reason string) string {
	if strings.HasPrefix(reason, "line ") {
		return "at " + reason
	}
	return reason
}

// onePart looks at the rule that is hardest to read from a schema's complaint.
func onePart(object map[string]any) *Problem {
	_, builder := object["builder"]
	_, control := object["control"]
	switch {
	case builder && control:
		return &Problem{Path: "", Reason: "builder and control are both there; exactly one of them is needed"}
	case !builder && !control:
		return &Problem{Path: "", Reason: "neither builder nor control is there; exactly one of them is needed"}
	}
	return nil
}

// check looks at what a schema can't say.
func (t *Task) check() []Problem {
	var ps []Problem
	add := func(path, format string, args ...any) {
		ps = append(ps, Problem{Path: path, Reason: fmt.Sprintf(format, args...)})
	}
	for _, id := range []struct{ path, text string }{{"task_id", t.TaskID}, {"milestone_id", t.MilestoneID}} {
		if strings.ContainsFunc(id.text, func(r rune) bool { return !unicode.IsPrint(r) }) {
			add(id.path, "must be one line of printable characters")
		}
	}
	for _, list := range []struct {
		path  string
		globs []string
	}{{"scope.allowed_globs", t.Scope.AllowedGlobs}, {"scope.forbidden_globs", t.Scope.ForbiddenGlobs}} {
		for i, g := range list.globs {
			if err := judge.ValidGlob(g); err != nil {
				add(strictjson.Index(list.path, i), "the pattern %q %v", g, err)
			}
		}
	}
	return ps
}
