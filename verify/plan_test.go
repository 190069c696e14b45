package verify

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/paxiom/relay/judge"
)

var templates = []Template{
	{ID: "lint", Cmd: "pnpm", Args: []string{"-w", "lint"}},
	{ID: "filter", Cmd: "pnpm", Args: []string{"test", "--filter={{pkg}}", "{{pkg}}"}, Params: map[string]string{"pkg": KindToken}},
	{ID: "cat", Cmd: "cat", Args: []string{"{{file}}"}, Params: map[string]string{"file": KindPath}},
	{ID: "two", Cmd: "x", Args: []string{"{{a}}{{b}}"}, Params: map[string]string{"a": KindToken, "b": KindToken}},
	{ID: "unused", Cmd: "x", Params: map[string]string{"a": KindToken}},
	{ID: "undeclared", Cmd: "x", Args: []string{"{{a}}"}},
	{ID: "open", Cmd: "x", Args: []string{"a{{b"}},
	{ID: "cmd", Cmd: "{{a}}", Params: map[string]string{"a": KindToken}},
	{ID: "empty"},
	{ID: "twice", Cmd: "x"},
	{ID: "twice", Cmd: "y"},
	{ID: "made", Cmd: "nice", Args: []string{"/usr/bin/make", "{{target}}"}, Params: map[string]string{"target": KindToken}},
	{ID: "kind", Cmd: "x", Args: []string{"{{a}}"}, Params: map[string]string{"a": "number"}},
}

// repository has a file, a folder, and links that lead out, in and nowhere.
func repository(t testing.TB) string {
	t.Helper()
	root := t.TempDir()
	for _, err := range []error{
		os.MkdirAll(filepath.Join(root, "src/lib"), 0o755),
		os.WriteFile(filepath.Join(root, "src/a.txt"), nil, 0o644),
		os.Symlink("/etc", filepath.Join(root, "src/etc")),
		os.Symlink("lib", filepath.Join(root, "src/in")),
		os.Symlink("nowhere", filepath.Join(root, "src/gone")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func seedRules(root string) Rules {
	return Rules{
		MaxParamLen:   128,
		RejectPattern: "[;&|$\\\\><(){}\\[\\]`\\n\\r\\t\\0]",
		Forbidden:     []string{".git/**", "**/.env*", "**/*token*"},
		Root:          root,
	}
}

func TestPlan(t *testing.T) {
	t.Parallel()
	got, err := Plan(templates, seedRules(repository(t)), Requests{
		Fast:   []string{"lint", "filter"},
		Slow:   []string{"cat", "lint"},
		Params: map[string]map[string]any{"filter": {"pkg": "@scope/core-2.1,x+y"}, "cat": {"file": "src/lib/new.txt"}},
	})
	want := []Command{
		{ID: "lint", Argv: []string{"pnpm", "-w", "lint"}},
		{ID: "filter", Argv: []string{"pnpm", "test", "--filter=@scope/core-2.1,x+y", "@scope/core-2.1,x+y"}},
		{ID: "cat", Slow: true, Argv: []string{"cat", "src/lib/new.txt"}},
		{ID: "lint", Slow: true, Argv: []string{"pnpm", "-w", "lint"}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := Plan(nil, Rules{}, Requests{}); err != nil || len(got) != 0 {
		t.Errorf("nothing asked for: %v, %v", got, err)
	}
	for _, path := range []string{"src/a.txt", "src", "./src/a.txt", "src/lib/", "README.md"} {
		if _, err := plan(t, "cat", map[string]any{"file": path}, seedRules(repository(t))); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func plan(t testing.TB, id string, values map[string]any, rules Rules) ([]Command, error) {
	t.Helper()
	return Plan(templates, rules, Requests{Fast: []string{id}, Params: map[string]map[string]any{id: values}})
}

func TestPlanTaints(t *testing.T) {
	t.Parallel()
	root := repository(t)
	one := func(name string, v any) map[string]any { return map[string]any{name: v} }
	long := strings.Repeat("a", 129)
	tests := []struct {
		id     string
		values map[string]any
		param  string
		why    string
	}{
		{"nope", nil, "", "not a configured check"},
		{"twice", nil, "", "configured 2 times"},
		{"cmd", one("a", "x"), "", "no placeholder"},
		{"empty", nil, "", "must be there"},
		{"open", nil, "", "without an end"},
		{"undeclared", nil, "a", "not declared"},
		{"undeclared", one("a", "x"), "a", "not a parameter"},
		{"unused", one("a", "x"), "a", "not used"},
		{"kind", one("a", "x"), "a", "unknown kind"},
		{"filter", nil, "pkg", "has no value"},
		{"two", one("a", "x"), "b", "has no value"},
		{"lint", one("pkg", "x"), "pkg", "not a parameter"},
		{"filter", one("Pkg", "x"), "Pkg", "not a parameter"},

		{"filter", one("pkg", 1.0), "pkg", "must be a string"},
		{"filter", one("pkg", true), "pkg", "must be a string"},
		{"filter", one("pkg", nil), "pkg", "must be a string"},
		{"filter", one("pkg", map[string]any{}), "pkg", "must be a string"},
		{"filter", one("pkg", ""), "pkg", "empty"},
		{"filter", one("pkg", long), "pkg", "129 bytes"},
		{"filter", one("pkg", "-fevil.mk"), "pkg", "ASCII"},
		{"filter", one("pkg", "--eval=all:"), "pkg", "ASCII"},
		{"filter", one("pkg", "SHELL=src/x.sh"), "pkg", "variable"},
		{"made", one("target", "runner=true"), "target", "variable"},
		{"made", one("target", "a.b=true"), "target", "variable"},
		{"filter", one("pkg", "a;rm"), "pkg", "ASCII"},
		{"filter", one("pkg", "a b"), "pkg", "ASCII"},
		{"filter", one("pkg", "a\n"), "pkg", "ASCII"},
		{"filter", one("pkg", "a\n-x"), "pkg", "ASCII"},
		{"filter", one("pkg", "a\x00b"), "pkg", "ASCII"},
		{"filter", one("pkg", "*"), "pkg", "ASCII"},
		{"filter", one("pkg", "~/x"), "pkg", "ASCII"},
		{"filter", one("pkg", "{{pkg}}"), "pkg", "ASCII"},
		{"filter", one("pkg", "src/\u200ba"), "pkg", "ASCII"},
		{"filter", one("pkg", "a\u00a0b"), "pkg", "ASCII"},
		{"filter", one("pkg", "．．／etc"), "pkg", "ASCII"},
		{"filter", one("pkg", "\u202etxt"), "pkg", "ASCII"},
		{"filter", one("pkg", "\xff"), "pkg", "ASCII"},
		{"filter", one("pkg", "../x"), "pkg", `".."`},
		{"filter", one("pkg", "a/.."), "pkg", `".."`},
		{"filter", one("pkg", "v1..v2"), "pkg", `".."`},

		{"cat", one("file", "/etc/passwd"), "file", "absolute"},
		{"cat", one("file", "@src/a.txt"), "file", `"@"`},
		{"cat", one("file", ".git/config"), "file", ".git"},
		{"cat", one("file", "src/.GIT/x"), "file", ".git"},
		{"cat", one("file", ".env"), "file", "forbidden"},
		{"cat", one("file", "src//.env.local"), "file", "forbidden"},
		{"cat", one("file", "src/etc/passwd"), "file", `"src/etc", which is a symbolic link`},
		{"cat", one("file", "src/etc"), "file", "symbolic link"},
		{"cat", one("file", "src/in/x"), "file", "symbolic link"},
		{"cat", one("file", "src/gone"), "file", "symbolic link"},
		{"cat", one("file", "src/a.txt/x"), "file", "can't be read"},
	}
	for _, tt := range tests {
		commands, err := plan(t, tt.id, tt.values, seedRules(root))
		var taint *Taint
		if !errors.As(err, &taint) || commands != nil {
			t.Errorf("%s %v: %v, %v", tt.id, tt.values, commands, err)
			continue
		}
		if taint.Template != tt.id || taint.Param != tt.param || !strings.Contains(taint.Why, tt.why) {
			t.Errorf("%s %v: %+v, want %q %q", tt.id, tt.values, taint, tt.param, tt.why)
		}
		if strings.Contains(taint.Error(), root) {
			t.Errorf("%s %v: shows the machine's path: %v", tt.id, tt.values, taint)
		}
	}
}

// Make does nothing for a target of which there is a file.
func TestPlanOfMake(t *testing.T) {
	t.Parallel()
	rules := seedRules(repository(t))
	for _, tt := range []struct {
		cmd     string
		args    []string
		added   string
		tainted bool
	}{
		{"make", []string{"check"}, "check", true},
		{"nice", []string{"/usr/bin/gmake", "-C", "sub", "check"}, "sub/check", true},
		{"make", []string{"check"}, "scripts/check", false},
		{"make", []string{"check"}, "src/new.txt", false},
		{"npm", []string{"run", "check"}, "check", false},
	} {
		rules.Changes = []judge.Change{{Path: tt.added, Kind: judge.Added}}
		_, err := Plan([]Template{{ID: "made", Cmd: tt.cmd, Args: tt.args}}, rules, Requests{Fast: []string{"made"}})
		if tainted := errors.As(err, new(*Taint)); tainted != tt.tainted {
			t.Errorf("%s %q with a new %s: %v", tt.cmd, tt.args, tt.added, err)
		}
	}
}

// What a rule of the Makefile makes is done where the change brings it.
func TestPlanOfMakesRules(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "Makefile"), []byte(".PHONY: test\nN := 1\ntest: .tested\n.tested out/log: a.sh\n\tsh a.sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for added, refused := range map[string]bool{".tested": true, "out/log": true, "a.sh": false, "N": false, "sub/.tested": false} {
		rules := Rules{Root: root, Changes: []judge.Change{{Path: added, Kind: judge.Added}}}
		if _, err := Plan([]Template{{ID: "x", Cmd: "make", Args: []string{"test"}}}, rules, Requests{Fast: []string{"x"}}); (err != nil) != refused {
			t.Errorf("%s: %v", added, err)
		}
	}
}

// One bad request is enough that no command comes out, wherever it stands.
func TestPlanIsAllOrNothing(t *testing.T) {
	t.Parallel()
	rules := seedRules(repository(t))
	for name, want := range map[string]Requests{
		"last slow":            {Fast: []string{"lint"}, Slow: []string{"lint", "nope"}},
		"parameter of a later": {Fast: []string{"lint", "filter"}, Params: map[string]map[string]any{"filter": {"pkg": "-x"}}},
		"not among the checks": {Fast: []string{"lint"}, Params: map[string]map[string]any{"filter": {"pkg": "x"}}},
	} {
		if commands, err := Plan(templates, rules, want); err == nil || commands != nil {
			t.Errorf("%s: %v, %v", name, commands, err)
		}
	}
}

func TestPlanConfigurationsOwnRules(t *testing.T) {
	t.Parallel()
	root := repository(t)
	for _, s := range []string{"test:unit", "a=b", "v1.2"} {
		if _, err := plan(t, "filter", map[string]any{"pkg": s}, seedRules(root)); err != nil {
			t.Error(err)
		}
	}
	value := map[string]any{"pkg": "v1.2"}
	if _, err := plan(t, "filter", value, Rules{RejectPattern: "[0-9]"}); err == nil || !strings.Contains(err.Error(), "pattern") {
		t.Errorf("pattern: %v", err)
	}
	if _, err := plan(t, "filter", value, Rules{RejectPattern: "["}); err == nil || !strings.Contains(err.Error(), "not a regular expression") {
		t.Errorf("bad pattern: %v", err)
	}
	if _, err := plan(t, "filter", map[string]any{"pkg": strings.Repeat("a", 129)}, Rules{}); err == nil {
		t.Error("the default length does not hold")
	}
	if _, err := plan(t, "filter", map[string]any{"pkg": "abcdef"}, Rules{MaxParamLen: 5}); err == nil {
		t.Error("the configured length does not hold")
	}
	if _, err := plan(t, "cat", map[string]any{"file": "src/a.txt"}, Rules{}); err == nil {
		t.Error("a path without a repository passes")
	}
}

// The tree that a check sees is the real one with the change laid over it.
func TestPlanLooksAtTheChange(t *testing.T) {
	t.Parallel()
	rules := seedRules(repository(t))
	rules.Changes = []judge.Change{
		{Path: "src/new", Kind: judge.Added, NewMode: fs.ModeSymlink | 0o777, Link: "lib"},
		{Path: "src/old", Kind: judge.Deleted, OldMode: fs.ModeSymlink | 0o777},
	}
	if _, err := plan(t, "cat", map[string]any{"file": "src/new/x"}, rules); err == nil || !strings.Contains(err.Error(), "which the change makes") {
		t.Errorf("link of the change: %v", err)
	}
	if _, err := plan(t, "cat", map[string]any{"file": "src/old"}, rules); err != nil {
		t.Errorf("link that the change takes away: %v", err)
	}
}

func FuzzPlanParam(f *testing.F) {
	for _, s := range []string{"core", "-f", "a;rm", "../x", "@x", "src/etc/passwd", ".env", "{{file}}", "a\n", "\u202e", "/"} {
		f.Add(s)
	}
	rules := seedRules(repository(f))
	f.Fuzz(func(t *testing.T, s string) {
		for _, id := range []string{"filter", "cat"} {
			name := map[string]string{"filter": "pkg", "cat": "file"}[id]
			commands, err := plan(t, id, map[string]any{name: s}, rules)
			if err != nil {
				var taint *Taint
				if !errors.As(err, &taint) || taint.Why == "" {
					t.Fatalf("%q: %v", s, err)
				}
				continue
			}
			arg := commands[0].Argv[len(commands[0].Argv)-1]
			if arg != s || len(s) > 128 || s[0] == '-' || strings.ContainsAny(s, " \t\r\n\x00;&|$`<>(){}[]*?!~#'\"\\%^") || strings.ContainsRune(":=", rune(s[0])) || strings.Contains(s, "..") {
				t.Fatalf("%q passes as %q", s, arg)
			}
			for i := range len(s) {
				if s[i] <= ' ' || s[i] >= 0x7f {
					t.Fatalf("%q passes", s)
				}
			}
			if id == "cat" && (s[0] == '/' || s[0] == '@' || strings.Contains(strings.ToLower(s), ".git/") || strings.Contains(s, "/.env") || strings.HasPrefix(filepath.Clean(s)+"/", "src/etc/")) {
				t.Fatalf("%q passes as a path", s)
			}
		}
	})
}
