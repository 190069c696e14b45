package config

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/paxiom/relay/host/internal/netproxy"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
)

// The functions below say what is wrong with a value of the right type, or "".

func envFile(v any) string {
	if v.(string) == "" {
		return ""
	}
	return inRepo(v)
}

func ownFile(v any) string {
	s := v.(string)
	if rest, below := strings.CutPrefix(s, "~/"); s != "" && !path.IsAbs(s) && (!below || path.Clean(rest) != rest || strings.HasPrefix(rest, "..")) {
		return "must be an absolute path, or one below the home: \"~/…\""
	}
	return oneLine(v)
}

// inHome holds for names of folders below the home.
func inHome(v any) string {
	return each(v, func(s string) string {
		if !filepath.IsLocal(s) || path.Clean(s) != s || s == "." {
			return clipQuote(s) + " is not a folder below the home, such as \".cache/go-build\""
		}
		return oneLine(s)
	})
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// variables holds for names under which a plugin gets a key. Those by which programs
// are found and loaded, and relay's own, are not for keys.
func variables(v any) string {
	for name := range v.(map[string]*node) {
		switch up := strings.ToUpper(name); {
		case !variableName.MatchString(name):
			return clipQuote(name) + " is not a name of a variable"
		case up == "PATH" || up == "HOME" || strings.HasPrefix(up, "LD_") || strings.HasPrefix(up, "DYLD_") || strings.HasPrefix(up, "RELAY_") || strings.HasPrefix(up, "PLUGIN_"):
			return name + " is not a variable for a key"
		}
	}
	return ""
}

func oneLine(v any) string {
	for _, r := range v.(string) {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return "holds a control or invisible character"
		}
	}
	return ""
}

func workspaceDir(v any) string { return workspace.ValidRel(v.(string)) }

func glob(v any) string {
	if err := judge.ValidGlob(v.(string)); err != nil {
		return "as a pattern it " + err.Error()
	}
	return ""
}

func globs(v any) string {
	return each(v, func(s string) string {
		if err := judge.ValidGlob(s); err != nil {
			return "the pattern " + clipQuote(s) + " " + err.Error()
		}
		return ""
	})
}

// someGlobs are globs where none at all would allow nothing.
func someGlobs(v any) string {
	if len(v.([]*node)) == 0 {
		return "must have at least one pattern, such as \"src/**\""
	}
	return globs(v)
}

func each(v any, why func(string) string) string {
	for _, n := range v.([]*node) {
		if w := why(n.v.(string)); w != "" {
			return w
		}
	}
	return ""
}

func baseNames(v any) string {
	return each(v, func(s string) string {
		if s == "" || strings.ContainsAny(s, "/*?") || s == "." || s == ".." {
			return clipQuote(s) + " is not the name of a file: no \"/\" and no wildcards"
		}
		return oneLine(s)
	})
}

// inRepo holds for a path relative to the repository's root.
func inRepo(v any) string {
	s := v.(string)
	switch {
	case s == "" || strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~"):
		return "must be a path relative to the repository's root"
	case strings.Contains(s, `\`):
		return "must be written with \"/\""
	}
	for part := range strings.SplitSeq(s, "/") {
		if part == "" || part == "." || part == ".." {
			return "must be a plain path without \"..\", \".\" and empty parts"
		}
		if strings.EqualFold(part, ".git") {
			return "must not be in a .git folder"
		}
	}
	return oneLine(v)
}

// homeDirs holds for folders of HOME; HOME itself would be no fence at all.
func homeDirs(v any) string {
	return each(v, func(s string) string {
		rest, ok := strings.CutPrefix(s, "~/")
		if !ok || rest == "" || path.Clean(rest) != rest || strings.HasPrefix(rest, "..") || rest == "." {
			return clipQuote(s) + " must be a folder of HOME such as \"~/.claude\""
		}
		return oneLine(s)
	})
}

// homePaths holds for absolute paths and paths below HOME, which may be patterns.
func homePaths(v any) string {
	return each(v, func(s string) string {
		below, inHome := strings.CutPrefix(s, "~/")
		if !inHome && !path.IsAbs(s) || path.Clean(s) != s || below == "" && inHome || s == "/" {
			return clipQuote(s) + " must be an absolute path or one below HOME, such as \"~/.kube\", without \"..\" and a slash at its end"
		}
		if _, err := path.Match(s, ""); err != nil {
			return clipQuote(s) + " is not a pattern"
		}
		return oneLine(s)
	})
}

func hosts(v any) string {
	return each(v, func(s string) string {
		if _, err := netproxy.ParseHost(s); err != nil {
			return err.Error()
		}
		return ""
	})
}

var modelName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@\[\]+-]*$`)

func model(v any) string {
	if s := v.(string); s != "" && !modelName.MatchString(s) {
		return "is not a name of a model: letters, digits and \"._:/@[]+-\", and a letter or digit first"
	}
	return ""
}

var pluginWord = regexp.MustCompile(`^[a-z][a-z0-9]*([_-][a-z0-9]+)*$`)

func pluginName(v any) string {
	if !pluginWord.MatchString(v.(string)) {
		return "is not a name of a plugin: small letters and digits, with \"-\" or \"_\" between them"
	}
	return ""
}

// fallbacks holds for a list of "plugin/model" and "plugin".
func fallbacks(v any) string {
	return each(v, func(s string) string {
		name, of, with := strings.Cut(s, "/")
		if w := pluginName(name); w != "" {
			return clipQuote(s) + " names no plugin before the \"/\": \"codex/gpt-5.5\", or \"codex\""
		}
		if w := model(of); with && (w != "" || of == "") {
			return clipQuote(s) + " names no model after the \"/\""
		}
		if name == "patch" {
			return clipQuote(s) + " only applies what a task brings along; it can't take over another builder's task"
		}
		return ""
	})
}

// longWait holds for a duration of at most a month.
func longWait(v any) string {
	d, err := time.ParseDuration(v.(string))
	if err != nil || d < 0 || d > 31*24*time.Hour {
		return "isn't a valid wait: \"16h\", \"90m\", \"0s\" for none, at most \"744h\""
	}
	return ""
}

func pluginNames(v any) string {
	for name := range v.(map[string]*node) {
		if w := pluginName(name); w != "" {
			return clipQuote(name) + " " + w
		}
	}
	return ""
}

// program holds for the first word of an argv.
func program(v any) string {
	s := v.(string)
	switch {
	case s == "":
		return "is empty"
	case strings.HasPrefix(s, "-"):
		return "begins with \"-\""
	case strings.Contains(s, "{{"):
		return "holds a placeholder; only arguments can"
	case commandLine(s):
		return "is a whole command line; give the program here and each argument in args, since no shell reads it"
	case strings.ContainsAny(s, "|&;<>$`\n\"'*"):
		return "holds signs that only a shell understands, and no shell reads it"
	}
	return oneLine(v)
}

// commandLine tells a program with arguments from a path with spaces in it.
func commandLine(s string) bool {
	words := strings.Fields(s)
	if len(words) < 2 {
		return false
	}
	for _, w := range words[1:] {
		if strings.HasPrefix(w, "-") {
			return true
		}
	}
	return !strings.Contains(words[0], "/")
}

func notAFlag(v any) string {
	if strings.HasPrefix(v.(string), "-") {
		return "begins with \"-\""
	}
	return oneLine(v)
}

func regex(v any) string {
	if _, err := regexp.Compile(v.(string)); err != nil {
		return strings.TrimPrefix(err.Error(), "error parsing regexp: ") + " (Go's regular expressions)"
	}
	return ""
}

var idWord = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:-]*$`)

// checkEnv checks the variables of a check. What decides which program is started, and
// where files lie, is not its to say.
func checkEnv(v any) string {
	for _, n := range v.([]*node) {
		name, _, value := strings.Cut(n.text(), "=")
		switch {
		case !variableName.MatchString(name):
			return clipQuote(n.text()) + " is neither NAME nor NAME=value"
		case name == "PATH" || name == "HOME" || name == "TMPDIR" || strings.HasPrefix(name, "RELAY_"):
			return name + " is relay's to set"
		case !value && keyName.MatchString(name):
			return name + " sounds like a key, and no check has those"
		case oneLine(n.v) != "":
			return clipQuote(name) + " " + oneLine(n.v)
		}
	}
	return ""
}

func templateID(v any) string {
	if !idWord.MatchString(v.(string)) {
		return "is not an id: letters, digits and \"_.:-\", and a letter or digit first"
	}
	return ""
}

// templateIDs checks a list of them.
func templateIDs(v any) string {
	for _, n := range v.([]*node) {
		if why := templateID(n.v); why != "" {
			return clipQuote(n.text()) + " " + why
		}
	}
	return ""
}

// uniqueIDs checks what concerns several fields of the templates: ids, and that
// arguments and parameters name each other.
func uniqueIDs(v any) string {
	seen := map[string]int{}
	for i, t := range v.([]*node) {
		id := t.lookup("id").text()
		if first, twice := seen[id]; twice {
			return fmt.Sprintf("[%d] and [%d] have the same id %s", first, i, clipQuote(id))
		}
		seen[id] = i
		if why := placeholders(t); why != "" {
			return fmt.Sprintf("[%d] (%s) %s", i, id, why)
		}
		for name, p := range t.lookup("params").fieldsOrNil() {
			if t.lookup("dir") != nil && p.lookup("kind").text() == "path" {
				return fmt.Sprintf("[%d] (%s) has both dir and the path %s, which begins at the repository's root; leave one of them out", i, id, clipQuote(name))
			}
		}
	}
	return ""
}

var placeholder = regexp.MustCompile(`\{\{([^{}]*)\}\}`)

var paramName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// placeholders checks one template's arguments against its parameters.
func placeholders(t *node) string {
	params := map[string]bool{}
	if p := t.lookup("params"); p != nil {
		for name := range p.fields() {
			if !paramName.MatchString(name) {
				return "has the parameter " + clipQuote(name) + "; names are made of letters, digits and \"_\""
			}
			params[name] = false
		}
	}
	args, _ := t.lookup("args").list()
	for _, a := range args {
		s := a.text()
		for _, m := range placeholder.FindAllStringSubmatch(s, -1) {
			if _, known := params[m[1]]; !known {
				return "uses " + clipQuote(m[0]) + ", which params does not declare"
			}
			params[m[1]] = true
		}
		if rest := placeholder.ReplaceAllString(s, ""); strings.Contains(rest, "{{") || strings.Contains(rest, "}}") {
			return "has an argument with half a placeholder: " + clipQuote(s)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if !params[name] {
			return "declares the parameter " + clipQuote(name) + ", which no argument uses"
		}
	}
	if len(params) > 0 && shellString(t, args) {
		return "puts a parameter into a shell's -c; name the program itself, so that a parameter can't become code"
	}
	return ""
}

func shellString(t *node, args []*node) bool {
	cmd := t.lookup("cmd").text()
	switch path.Base(cmd) {
	case "sh", "bash", "dash", "zsh", "ksh", "fish", "pwsh", "powershell", "cmd", "cmd.exe":
	default:
		return false
	}
	for _, a := range args {
		if s := a.text(); strings.HasPrefix(s, "-") && strings.Contains(s, "c") || strings.EqualFold(s, "/c") {
			return true
		}
	}
	return false
}

// text is a node's text, "" where there is none.
func (n *node) text() string {
	if n == nil {
		return ""
	}
	s, _ := n.v.(string)
	return s
}

func (n *node) list() ([]*node, bool) {
	if n == nil {
		return nil, false
	}
	l, ok := n.v.([]*node)
	return l, ok
}
