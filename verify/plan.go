package verify

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/paxiom/relay/judge"
)

// makes are the programs that do nothing for a target of which there is a file.
var makes = regexp.MustCompile(`(^|/)([bgp]?make|remake|dmake)$`)

// allowed is what a parameter may be made of. A list of what is forbidden would
// have to know every program: an option, a response file, a tilde and most of Unicode
// are all free of shell characters.
var allowed = regexp.MustCompile(`^[A-Za-z0-9_@+.,/][A-Za-z0-9_@+.,/:=-]*$`)

// variable is an assignment by which make and env would start another program, wherever
// a check may come to one of them.
var variable = regexp.MustCompile(`^[A-Z_.][A-Z0-9_]*[:+]*=`)

// assigning are the programs that take name=value among their arguments for a variable,
// in any spelling of the name.
var assigning = regexp.MustCompile(`(^|/)(make|[bgp]make|remake|env|rake|just|task|go-task|scons|dmake|[gmn]?awk)$`)

// targets are what the rules of a Makefile make.
var targets = regexp.MustCompile(`(?m)^([^\s#:=][^:=#\n]*):([^=]|$)`)

const maxMakefile = 1 << 20

const defaultMaxParamLen = 128

// Plan builds the commands of all requests, fast ones first, and checks every
// parameter. When anything is wrong nothing may run: the error is a *Taint.
func Plan(templates []Template, rules Rules, want Requests) ([]Command, error) {
	p, err := newPlanner(templates, rules)
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(want.Params)) {
		if !slices.Contains(want.Fast, id) && !slices.Contains(want.Slow, id) {
			return nil, &Taint{Template: id, Why: "has parameters but is not among the checks to run"}
		}
	}
	var commands []Command
	for i, id := range slices.Concat(want.Fast, want.Slow) {
		argv, err := p.argv(id, want.Params[id])
		if err != nil {
			return nil, err
		}
		commands = append(commands, Command{ID: id, Slow: i >= len(want.Fast), Argv: argv, Results: p.templates[id][0].Results})
	}
	return commands, nil
}

// planner holds what is worked out once for all commands.
type planner struct {
	rules     Rules
	templates map[string][]Template
	reject    *regexp.Regexp  // nil for none
	links     map[string]bool // paths that the change makes symbolic links
}

func newPlanner(templates []Template, rules Rules) (*planner, error) {
	p := &planner{rules: rules, templates: map[string][]Template{}, links: map[string]bool{}}
	if rules.RejectPattern != "" {
		re, err := regexp.Compile(rules.RejectPattern)
		if err != nil {
			return nil, &Taint{Why: "the configuration's pattern of rejected characters is not a regular expression: " + err.Error()}
		}
		p.reject = re
	}
	if p.rules.MaxParamLen <= 0 {
		p.rules.MaxParamLen = defaultMaxParamLen
	}
	for _, t := range templates {
		p.templates[t.ID] = append(p.templates[t.ID], t)
	}
	for i := range rules.Changes {
		c := &rules.Changes[i]
		if c.Kind != judge.Deleted && c.NewMode&fs.ModeSymlink != 0 {
			p.links[c.Path] = true
		}
	}
	return p, nil
}

// argv makes the argument vector of one check.
func (p *planner) argv(id string, values map[string]any) ([]string, error) {
	taint := func(param, format string, args ...any) error {
		return &Taint{Template: id, Param: param, Why: fmt.Sprintf(format, args...)}
	}
	found := p.templates[id]
	switch {
	case len(found) == 0:
		return nil, taint("", "is not a configured check")
	case len(found) > 1:
		return nil, taint("", "is configured %d times", len(found))
	case found[0].Cmd == "" || strings.Contains(found[0].Cmd, "{{"):
		return nil, taint("", "its command must be there and may have no placeholder")
	}
	t := found[0]
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if _, ok := t.Params[name]; !ok {
			return nil, taint(name, "is not a parameter of this check")
		}
		why := p.refuse(t.Params[name], values[name])
		if v, _ := values[name].(string); why == "" && strings.Contains(v, "=") && slices.ContainsFunc(append([]string{t.Cmd}, t.Args...), assigning.MatchString) {
			why = setsVariable
		}
		if why != "" {
			return nil, taint(name, "%s", why)
		}
	}
	used := map[string]bool{}
	argv := []string{t.Cmd}
	for _, arg := range t.Args {
		full, err := expand(arg, func(name string) (string, error) {
			if _, ok := t.Params[name]; !ok {
				return "", taint(name, "stands in the check's arguments but is not declared there")
			}
			value, ok := values[name].(string)
			if !ok {
				return "", taint(name, "has no value")
			}
			used[name] = true
			return value, nil
		})
		if errors.Is(err, errOpen) {
			return nil, taint("", "its argument %q has a placeholder without an end", arg)
		}
		if err != nil {
			return nil, err
		}
		argv = append(argv, full)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !used[name] {
			return nil, taint(name, "is not used by any argument of this check")
		}
	}
	if slices.ContainsFunc(argv, makes.MatchString) {
		if name := p.made(argv[1:]); name != "" {
			return nil, taint("", "the change adds the file %q, for which make takes its target of that name to be done", name)
		}
	}
	return argv, nil
}

// made is a file that the change adds under the name of one of make's targets, which an argument or a rule
// names, at the root or in a folder that an argument names; "" is none.
func (p *planner) made(args []string) string {
	dirs := []string{"."}
	for _, arg := range args {
		dirs = append(dirs, path.Clean(arg))
	}
	var rules []string // of files that one run of make makes, and the next takes as they are
	for _, dir := range dirs {
		for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} {
			text, err := judge.ReadFile(filepath.Join(p.rules.Root, dir, name), maxMakefile)
			if p.rules.Root == "" || err != nil {
				continue
			}
			for _, m := range targets.FindAllSubmatch(text, -1) {
				for target := range strings.FieldsSeq(string(m[1])) {
					rules = append(rules, path.Join(dir, target))
				}
			}
		}
	}
	for i := range p.rules.Changes {
		c := &p.rules.Changes[i]
		if c.Kind == judge.Added && (slices.Contains(rules, c.Path) || slices.Contains(args, path.Base(c.Path)) && slices.Contains(dirs, path.Dir(c.Path))) {
			return c.Path
		}
	}
	return ""
}

var errOpen = errors.New("placeholder without an end")

// expand puts values in place of "{{name}}", once: a value is never read again.
func expand(arg string, value func(name string) (string, error)) (string, error) {
	var out strings.Builder
	for {
		before, rest, ok := strings.Cut(arg, "{{")
		out.WriteString(before)
		if !ok {
			return out.String(), nil
		}
		name, after, ok := strings.Cut(rest, "}}")
		if !ok {
			return "", errOpen
		}
		v, err := value(name)
		if err != nil {
			return "", err
		}
		out.WriteString(v)
		arg = after
	}
}

const setsVariable = "sets a variable, which make, env and others obey"

// refuse says why a value may be in no argument vector, or "".
func (p *planner) refuse(kind string, value any) string {
	s, ok := value.(string)
	switch {
	case !ok:
		return "must be a string"
	case s == "":
		return "is empty"
	case len(s) > p.rules.MaxParamLen:
		return fmt.Sprintf("has %d bytes, at most %d are allowed", len(s), p.rules.MaxParamLen)
	case !allowed.MatchString(s):
		return `may hold only ASCII letters, digits and _ @ + . , / : = -, and may not begin with ":", "=" or "-"`
	case variable.MatchString(s):
		return setsVariable
	case strings.Contains(s, ".."):
		return `has ".."`
	case p.reject != nil && p.reject.MatchString(s):
		return fmt.Sprintf("is rejected by the configuration's pattern %q", p.reject)
	}
	switch kind {
	case KindToken:
		return ""
	case KindPath:
		return p.refusePath(s)
	default:
		return fmt.Sprintf("is of the unknown kind %q", kind)
	}
}

// refusePath says why a value is no path that a check may be given.
func (p *planner) refusePath(s string) string {
	switch {
	case s[0] == '@':
		return `begins with "@", which many programs read as a file of arguments`
	case path.IsAbs(s):
		return "is an absolute path"
	case p.rules.Root == "":
		return "is a path, and there is no repository to look it up in"
	}
	s = path.Clean(s)
	if why := judge.HostileName(s); why != "" {
		return "is a path that " + why
	}
	if judge.Forbids(p.rules.Forbidden, s) {
		return "is a forbidden path"
	}
	prefix := ""
	for part := range strings.SplitSeq(s, "/") {
		prefix = path.Join(prefix, part)
		if p.links[prefix] {
			return fmt.Sprintf("leads through %q, which the change makes a symbolic link", prefix)
		}
		st, err := os.Lstat(filepath.Join(p.rules.Root, filepath.FromSlash(prefix)))
		switch {
		case errors.Is(err, fs.ErrNotExist): // a new file, or nothing
		case err != nil:
			return fmt.Sprintf("can't be read: %v", errors.Unwrap(err))
		case st.Mode()&fs.ModeSymlink != 0:
			return fmt.Sprintf("leads through %q, which is a symbolic link", prefix)
		}
	}
	return ""
}
