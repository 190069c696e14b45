package judge

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// anywhere is the widest policy that a task can have.
func anywhere(named ...string) Policy {
	return Policy{within: [][]string{{"**"}}, opens: true, kind: Execute, allowed: append([]string{"**"}, named...), newFiles: true, maxFiles: 500, maxLines: 20000}
}

// TestTriggerTable holds each entry to its form, and the judge to each entry.
func TestTriggerTable(t *testing.T) {
	t.Parallel()
	when := []string{"open", "clone", "install", "commit", "agent", "shell", "build", "test", "push", "host"}
	rows := Triggers()
	if len(rows) < 400 {
		t.Fatalf("only %d entries", len(rows))
	}
	for line := range strings.Lines(triggerTable) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' && strings.Count(line, " | ") != 4 {
			t.Errorf("not five columns: %s", line)
		}
	}
	seen := map[string]bool{}
	for _, r := range rows {
		if err := ValidGlob(r.Glob); err != nil {
			t.Errorf("%s: %v", r.Glob, err)
		}
		if seen[r.Glob] {
			t.Errorf("%s appears twice", r.Glob)
		}
		seen[r.Glob] = true
		if !slices.Contains(when, r.When) || len(r.Who) < 10 || len(r.Source) < 5 {
			t.Errorf("%s: when %q, who %q, source %q", r.Glob, r.When, r.Who, r.Source)
		}
		path := strings.ReplaceAll(strings.ReplaceAll(r.Glob, "**/", "a/b/"), "/**", "/x.y")
		path = strings.ReplaceAll(path, "*", "yml")
		for _, p := range []string{path, strings.ToUpper(path), strings.TrimPrefix(path, "a/b/")} {
			v := Judge(Touched{Changes: []Change{added(p)}}, anywhere())
			if v.Code != StopForbidden || !strings.Contains(v.Violations[0].Rule, "by itself") {
				t.Errorf("%s lets %s through: %v", r.Glob, p, v)
			}
		}
		if v := Judge(Touched{Changes: []Change{added(path)}}, anywhere(path)); v.Code != Success || len(v.Opened) != 1 || v.Opened[0].Path != path {
			t.Errorf("%s is not opened by its name: %v, opened %v", path, v.Violations, v.Opened)
		}
		if format, rest, _ := strings.Cut(r.Part, " "); format == "lines" {
			regexp.MustCompile(rest)
		} else if r.Part != "" && format != "json" && format != "toml" {
			t.Errorf("%s: part %q", r.Glob, r.Part)
		}
	}
}

func TestTriggerSpelling(t *testing.T) {
	t.Parallel()
	for _, p := range []string{
		"CLAUDE.md", "claude.MD", "docs/Agents.md", ".Claude/settings.json", "x/.VSCODE/tasks.json", ".vſcode/tasks.json", ".mcp.json.", `.claude\settings.json`,
		"AGENTS.md ::$DATA", ".claude", "sub/.husky/pre-commit", ".gitattributes", "makefile", "a/b/eslint.config.mts", ".github/dependabot.yml",
	} {
		if TriggerOf(p) == nil {
			t.Errorf("%q is not found", p)
		}
	}
	for _, p := range []string{
		".editorconfig", ".gitignore", ".dockerignore", "README.md", "src/config.ts", "src/app/app.config.ts", "internal/workspace/workspace.go", "docs/claude-notes.md",
		"claude.py", "src/vscode/tasks.json", "CMakeLists.txt", "pom.xml", "build.gradle", "tests/data/x.json", "lib/husky.js", "LICENSE", "requirements.txt", "CHANGELOG.md",
		"src/setup.py.in", "composer.lock", "index.html", "wrangler.py", "procfile.go", "docs/agents-guide.md",
	} {
		if r := TriggerOf(p); r != nil {
			t.Errorf("%q falls under %q", p, r.Glob)
		}
	}
}

func TestChangedParts(t *testing.T) {
	t.Parallel()
	const pkg = `{"name":"m","scripts":{"test":"jest","lint":"eslint ."},"dependencies":{"a":"1"}}`
	const py = "[build-system]\nrequires = [\n  \"setuptools\", # x ]\n]\n\n[project]\nname = 'm'\ndescription = \"\"\"\n[build-system]\n\"\"\"\ndependencies = [\"a\"]\n\n[tool.pytest.ini_options]\naddopts = \"-q\"\n"
	const crate = "[package]\nname = \"m\"\n\n[dependencies]\na = \"1\"\n"
	const mod = "module m\n\ngo 1.22\n\nrequire (\n\ta.b/c v1.2.3\n\td.e/f v0.1.0 // indirect\n)\n"
	const gems = "source \"https://rubygems.org\"\n\ngem \"rake\", \"~> 13.0\"\ngroup :test do\n  gem 'rspec', require: false\nend\n"
	for _, c := range []struct {
		path, old, from, to string
		want                bool
	}{
		{"package.json", pkg, `"a":"1"`, `"a":"2","left-pad":"1.3.0"`, false},
		{"package.json", pkg, `"lint":`, `"dev":"vite","lint":`, false},
		{"package.json", pkg, `"lint":`, `"postinstall":"x","lint":`, true},
		{"package.json", pkg, `"lint":`, `"post\u0069nstall":"x","lint":`, true},
		{"package.json", pkg, `"jest"`, `"true"`, true},
		{"package.json", pkg, `"eslint ."`, `"true"`, true}, // by its name, or called by another
		{"package.json", pkg, `,"lint":"eslint ."`, ``, true},
		{"package.json", pkg, `"lint":`, `"prelint":"x","lint":`, true},
		{"package.json", `{"scripts":{"ci.unit":"x"}}`, `"x"`, `"true"`, true},
		{"deno.json", `{"tasks":{"check":"x"}}`, `"x"`, `"true"`, true},
		{"deno.json", `{"tasks":{"check":"x"}}`, `"check"`, `"dev":"y","check"`, false},
		{"package.json", pkg, `"name":"m"`, `"name":"m","jest":{}`, true},
		{"package.json", pkg, `"name":"m"`, `"name":"m","imports":{"#check":"./lib/check.js"}`, true}, // where tests' own modules are found
		{"package.json", pkg, `"name":"m"`, `"name":"m","packageManager":"yarn@https://x/y.js"`, true},
		{"package.json", pkg, `"name":"m"`, `"name":"m","name":"n"`, true}, // two keys of one name
		{"package.json", pkg, `{"name"`, "\ufeff{\"name\"", true},
		{"package.json", pkg, `"dependencies"`, `// x` + "\n" + `"dependencies"`, true},
		{"package.json", pkg, `{"test":"jest","lint":"eslint ."}`, `"x"`, true},
		{"x/Package.JSON", pkg, `"lint":`, `"prepare":"husky","lint":`, true},
		{"composer.json", `{"require":{}}`, `{}`, `{"a/b":"1"}`, false},
		{"composer.json", `{"require":{}}`, `"require"`, `"scripts":{"post-install-cmd":"x"},"require"`, true},
		{"pyproject.toml", py, `["a"]`, `["a", "b"]`, false},
		{"pyproject.toml", py, `name = 'm'`, "name = 'm'\nversion = \"1.0\"", false},
		{"pyproject.toml", py, `"setuptools"`, `"evil"`, true},
		{"pyproject.toml", py, "\"-q\"\n", "\"-q -k one\"\n", true},
		{"pyproject.toml", py, "[project]", "build-backend = \"x\"\n[project]", true},
		{"pyproject.toml", py, "[project]", "[project]\n[ tool . \"pytest\".x]\ny=1\n[project.z]", true},
		{"pyproject.toml", py, "[build-system]\nrequires", "tool.pytest.ini_options.addopts = 'x'\n[build-system]\nrequires", true},
		{"pyproject.toml", py, "[build-system]\nrequires", "tool = {pytest = {ini_options = {addopts = 'x'}}}\n[build-system]\nrequires", true},
		{"pyproject.toml", py, "name = 'm'", "name = \"\"\"", true}, // reads otherwise, to no good end
		{"pyproject.toml", py, "[project]", "[\"bu\\u0069ld-system\"]\n[project]", true},
		{"Cargo.toml", crate, `a = "1"`, "a = \"1\"\nb = { version = \"2\", features = [\"x\"] }", false},
		{"Cargo.toml", crate, `name = "m"`, "name = \"m\"\nbuild = \"x.rs\"", true},
		{"Cargo.toml", crate, "[dep", "[[test]]\nname = \"x\"\nharness = false\n[dep", true},
		{"Cargo.toml", crate, "[dep", "[profile.test]\ndebug-assertions = false\n[dep", true},
		{"go.mod", mod, "go 1.22", "go 1.23", false},
		{"go.mod", mod, "v1.2.3", "v1.3.0", false},
		{"go.mod", mod, "require (", "replace a.b/c => ./x\nrequire (", true},
		{"go.mod", mod, "go 1.22", "go 1.22\ntoolchain go1.99", true},
		{"go.mod", mod, "module m", "module n", true},
		{"Gemfile", gems, `gem "rake", "~> 13.0"`, "gem \"rake\", \"~> 14.0\"\ngem 'pg'", false},
		{"Gemfile", gems, `gem "rake"`, "system 'x'\ngem \"rake\"", true},
		{"Gemfile", gems, `"~> 13.0"`, `"#{` + "`x`" + `}"`, true},
	} {
		now := strings.Replace(c.old, c.from, c.to, 1)
		if now == c.old {
			t.Fatalf("%s: %q is not in it", c.path, c.from)
		}
		if got := ChangedParts(c.path, []byte(c.old), []byte(now)); got == nil || len(got) > 0 != c.want {
			t.Errorf("%s with %q: %q", c.path, c.to, got)
		}
		oneWay := c.to == "" || strings.Contains(c.to, `"dev"`) // a new script is open, one that others may call is not
		if got := ChangedParts(c.path, []byte(now), []byte(c.old)); !oneWay && (got == nil || len(got) > 0 != c.want) {
			t.Errorf("%s without %q: %q", c.path, c.to, got)
		}
	}
	if got := ChangedParts("x.txt", nil, []byte("x")); got != nil {
		t.Errorf("a file of no kind has parts: %q", got)
	}
	for _, path := range []string{"sub/go.mod", "package.json"} { // nobody looked, or it is new
		if v := Judge(Touched{Changes: []Change{added(path)}}, anywhere()); v.Code != StopForbidden {
			t.Errorf("%s, of which nobody read the parts: %v", path, v.Code)
		}
	}
	if got := ChangedParts("sub/go.mod", nil, []byte("module x\n")); len(got) == 0 {
		t.Error("a new go.mod changes nothing")
	}
	c := edited("package.json")
	c.Parts = []string{}
	if v := Judge(Touched{Changes: []Change{c}}, anywhere()); v.Code != Success || len(v.Opened) != 0 {
		t.Errorf("ordinary parts: %v", v)
	}
}

func FuzzChangedParts(f *testing.F) {
	f.Add("pyproject.toml", []byte("[a]\nb = '''x'''\n"), []byte("[build-system]"))
	f.Add("package.json", []byte("{}"), []byte(`{"a":[1,{"b":null}]}`))
	f.Fuzz(func(t *testing.T, path string, old, now []byte) {
		if got := ChangedParts(path, now, now); len(got) > 0 {
			t.Errorf("%q differs from itself: %q", path, got)
		}
		ChangedParts(path, old, now)
	})
}

func BenchmarkTriggerOf(b *testing.B) {
	for b.Loop() {
		TriggerOf("src/some/folder/with/a/file_of_some_name.go")
	}
}
