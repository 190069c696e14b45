package keys

import (
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/paxiom/relay/host/diag"
)

// Ref says where a key is. One of the three is set.
type Ref struct {
	Env     string   // a variable of relay's environment
	File    string   // absolute, or below the user's home ("~/…")
	Command []string // a program and its arguments; it prints the key
}

// Forms says in words what a reference can be.
const Forms = `"env:NAME", "file:PATH" or {"command": ["PROGRAM", "ARGUMENT"]}`

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Parse reads a reference as a configuration writes it: a text, or an object with the
// list "command". The error never repeats the value: it may be a key.
func Parse(v any) (Ref, error) {
	switch v := v.(type) {
	case string:
		return parseText(v)
	case map[string]any:
		list, ok := v["command"].([]any)
		if !ok || len(v) != 1 || len(list) == 0 {
			return Ref{}, errors.New(`an object must be {"command": ["PROGRAM", "ARGUMENT"]}`)
		}
		var argv []string
		for _, x := range list {
			s, ok := x.(string)
			if !ok || strings.ContainsRune(s, 0) {
				return Ref{}, errors.New("a command is a list of texts")
			}
			argv = append(argv, s)
		}
		if why := badProgram(argv[0]); why != "" {
			return Ref{}, errors.New("the command's program " + why)
		}
		return Ref{Command: argv}, nil
	}
	return Ref{}, errors.New("it must be " + Forms)
}

func parseText(s string) (Ref, error) {
	kind, rest, _ := strings.Cut(s, ":")
	switch kind {
	case "env":
		if !variable.MatchString(rest) {
			return Ref{}, errors.New(`what follows "env:" is not a name of a variable`)
		}
		return Ref{Env: rest}, nil
	case "file":
		home, below := strings.CutPrefix(rest, "~/")
		if !filepath.IsAbs(rest) && (!below || !filepath.IsLocal(home)) || strings.ContainsRune(rest, 0) {
			return Ref{}, errors.New(`what follows "file:" must be an absolute path, or one below the home: "file:~/…"`)
		}
		return Ref{File: rest}, nil
	}
	return Ref{}, errors.New("a key itself is never written here, only where it is: " + Forms)
}

// badProgram: a program is found along PATH or by its absolute path, never in the
// folder that relay happens to be called in.
func badProgram(s string) string {
	switch {
	case s == "" || strings.HasPrefix(s, "-"):
		return "is missing"
	case strings.Contains(s, "/") && !filepath.IsAbs(s):
		return "is a relative path; give an absolute one, or a name that is in PATH"
	}
	return ""
}

// String names the place for a person.
func (r Ref) String() string {
	switch {
	case r.Env != "":
		return "the variable " + r.Env
	case r.File != "":
		return "the file " + r.File
	}
	return "the command " + r.argv()
}

func (r Ref) argv() string {
	words := make([]string, len(r.Command))
	for i, w := range r.Command {
		words[i] = diag.Word(w)
	}
	return strings.Join(words, " ")
}

// kinds are the looks of keys of which vendors say how they begin, of tokens that have
// a form, and of addresses with a password in them.
// They are compiled when they are first asked for: few processes of relay read keys.
var kinds = sync.OnceValue(func() []kind {
	return []kind{
		{"an Anthropic key", regexp.MustCompile(`\bsk-ant-[A-Za-z0-9_-]{12,}`)},
		{"an API key", regexp.MustCompile(`\b(sk|pk|rk)[-_](proj-|live_|test_|or-v1-|svcacct-)?[A-Za-z0-9_-]{20,}`)},
		{"a Google key", regexp.MustCompile(`\bAIza[0-9A-Za-z_-]{35}`)},
		{"a Google token", regexp.MustCompile(`\bya29\.[0-9A-Za-z_-]{20,}`)},
		{"a GitHub token", regexp.MustCompile(`\b(gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})`)},
		{"a GitLab token", regexp.MustCompile(`\bglpat-[A-Za-z0-9_-]{20,}`)},
		{"a Slack token", regexp.MustCompile(`\bxox[abprs]-[A-Za-z0-9-]{10,}`)},
		{"an AWS key", regexp.MustCompile(`\b(AKIA|ASIA)[0-9A-Z]{16}\b`)},
		{"an API key", regexp.MustCompile(`\b(gsk_|xai-|hf_|nvapi-|pplx-|r8_|fw_)[A-Za-z0-9_-]{24,}`)},
		{"a private key", regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----`)},
		{"a token", regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.`)},
		{"an address with a password", regexp.MustCompile(`\b[a-z][a-z0-9+.-]*://[^/\s:@?#]*:[^/\s:@?#]+@`)},
	}
})

type kind struct {
	what string
	re   *regexp.Regexp
}

// LooksLike says what kind of key a text seems to hold; "" for an ordinary text.
func LooksLike(s string) string {
	for _, k := range kinds() {
		for _, found := range k.re.FindAllString(s, -1) {
			if strings.ContainsAny(found, "0123456789") || strings.ContainsAny(found, ":@") || strings.HasPrefix(found, "-----") {
				return k.what // words alone are a name
			}
		}
	}
	return ""
}
