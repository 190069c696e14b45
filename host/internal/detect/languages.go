package detect

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

// language is what relay knows about one ecosystem.
type language struct {
	name    string
	markers []string // any of these at the root
	sources []string // globs beyond the usual folders
	checks  func(tree) []Check
}

var languages = []language{
	{"go", []string{"go.mod", "go.work"}, []string{"**/*.go"}, func(tree) []Check {
		return []Check{
			{ID: "vet", Cmd: "go", Args: []string{"vet", "./..."}, Fast: true, From: "go.mod"},
			{ID: "test", Cmd: "go", Args: []string{"test", "./..."}, Fast: true, From: "go.mod"},
		}
	}},
	{"javascript", []string{"package.json"}, nil, nodeChecks},
	{"deno", []string{"deno.json", "deno.jsonc"}, []string{"**/*.ts"}, fixed("deno.json",
		Check{ID: "lint", Cmd: "deno", Args: []string{"lint"}, Fast: true},
		Check{ID: "test", Cmd: "deno", Args: []string{"test"}, Fast: true})},
	{"python", []string{"pyproject.toml", "setup.cfg", "setup.py", "requirements.txt", "tox.ini"}, []string{"**/*.py"}, pythonChecks},
	{"rust", []string{"Cargo.toml"}, nil, fixed("Cargo.toml",
		Check{ID: "check", Cmd: "cargo", Args: []string{"check", "--all-targets"}, Fast: true},
		Check{ID: "test", Cmd: "cargo", Args: []string{"test"}})},
	{"java", []string{"pom.xml", "build.gradle", "build.gradle.kts"}, nil, javaChecks},
	{"ruby", []string{"Gemfile"}, nil, rubyChecks},
	{"php", []string{"composer.json"}, nil, phpChecks},
	{"elixir", []string{"mix.exs"}, nil, fixed("mix.exs",
		Check{ID: "test", Cmd: "mix", Args: []string{"test"}, Fast: true})},
	{"dotnet", []string{"*.sln", "*.slnx", "*.csproj", "*.fsproj"}, nil, fixed("the solution",
		Check{ID: "test", Cmd: "dotnet", Args: []string{"test"}})},
	{"swift", []string{"Package.swift"}, nil, fixed("Package.swift",
		Check{ID: "test", Cmd: "swift", Args: []string{"test"}})},
}

func fixed(from string, checks ...Check) func(tree) []Check {
	for i := range checks {
		checks[i].From = from
	}
	return func(tree) []Check { return checks }
}

// nodeChecks takes the scripts that package.json has, run by the package manager
// whose lock file is there.
func nodeChecks(t tree) []Check {
	var manifest struct {
		Scripts        map[string]string `json:"scripts"`
		PackageManager string            `json:"packageManager"`
	}
	if json.Unmarshal(t.read("package.json"), &manifest) != nil {
		return nil
	}
	manager, _, _ := strings.Cut(manifest.PackageManager, "@")
	if !slices.Contains([]string{"npm", "pnpm", "yarn", "bun"}, manager) {
		switch {
		case t.any("pnpm-lock.yaml"):
			manager = "pnpm"
		case t.any("yarn.lock"):
			manager = "yarn"
		case t.any("bun.lockb", "bun.lock"):
			manager = "bun"
		default:
			manager = "npm"
		}
	}
	var checks []Check
	for _, id := range []string{"lint", "typecheck", "test"} {
		script, ok := manifest.Scripts[id]
		if !ok || strings.Contains(script, "no test specified") {
			continue
		}
		checks = append(checks, Check{ID: id, Cmd: manager, Args: []string{"run", id}, Fast: true, From: "package.json"})
	}
	return checks
}

func pythonChecks(t tree) []Check {
	pyproject := t.read("pyproject.toml")
	var checks []Check
	if t.any("ruff.toml", ".ruff.toml") || bytes.Contains(pyproject, []byte("[tool.ruff")) {
		checks = append(checks, Check{ID: "lint", Cmd: "ruff", Args: []string{"check", "."}, Fast: true, From: "the ruff settings"})
	}
	if t.any("mypy.ini") || bytes.Contains(pyproject, []byte("[tool.mypy")) {
		checks = append(checks, Check{ID: "typecheck", Cmd: "mypy", Args: []string{"."}, Fast: true, From: "the mypy settings"})
	}
	pytest := t.any("pytest.ini", "conftest.py", "tests/conftest.py") ||
		bytes.Contains(pyproject, []byte("pytest")) || bytes.Contains(t.read("requirements.txt"), []byte("pytest")) ||
		bytes.Contains(t.read("setup.cfg"), []byte("[tool:pytest"))
	if pytest {
		return append(checks, Check{ID: "test", Cmd: "python3", Args: []string{"-m", "pytest", "-q"}, Fast: true, From: "the pytest settings"})
	}
	if t.any("test_*.py", "tests/test_*.py") {
		checks = append(checks, Check{ID: "test", Cmd: "python3", Args: []string{"-m", "unittest", "discover"}, Fast: true, From: "the test files"})
	}
	return checks
}

func javaChecks(t tree) []Check {
	maven := t.any("pom.xml")
	cmd, args, from := "gradle", []string{"test"}, "build.gradle"
	switch {
	case maven && t.any("mvnw"):
		cmd, args, from = "./mvnw", []string{"-q", "test"}, "mvnw"
	case maven:
		cmd, args, from = "mvn", []string{"-q", "test"}, "pom.xml"
	case t.any("gradlew"):
		cmd, from = "./gradlew", "gradlew"
	}
	return []Check{{ID: "test", Cmd: cmd, Args: args, From: from}}
}

func rubyChecks(t tree) []Check {
	var checks []Check
	if t.any(".rubocop.yml") {
		checks = append(checks, Check{ID: "lint", Cmd: "bundle", Args: []string{"exec", "rubocop"}, Fast: true, From: ".rubocop.yml"})
	}
	switch {
	case t.any("spec"):
		checks = append(checks, Check{ID: "test", Cmd: "bundle", Args: []string{"exec", "rspec"}, Fast: true, From: "spec/"})
	case t.any("Rakefile"):
		checks = append(checks, Check{ID: "test", Cmd: "bundle", Args: []string{"exec", "rake", "test"}, Fast: true, From: "Rakefile"})
	}
	return checks
}

func phpChecks(t tree) []Check {
	var manifest struct {
		Scripts map[string]any `json:"scripts"`
	}
	if json.Unmarshal(t.read("composer.json"), &manifest) != nil {
		return nil
	}
	var checks []Check
	for _, id := range []string{"lint", "test"} {
		if _, ok := manifest.Scripts[id]; ok {
			checks = append(checks, Check{ID: id, Cmd: "composer", Args: []string{"run-script", id}, Fast: true, From: "composer.json"})
		}
	}
	return checks
}

var makeTarget = regexp.MustCompile(`^(test|check|lint|typecheck)\s*:(?:[^=]|$)`)

// makeChecks takes the Makefile's own targets, for repositories in which no
// language says more.
func makeChecks(t tree) []Check {
	var checks []Check
	for line := range lines(t.read("Makefile")) {
		if m := makeTarget.FindStringSubmatch(line); m != nil {
			checks = append(checks, Check{ID: m[1], Cmd: "make", Args: []string{m[1]}, Fast: m[1] != "check", From: "Makefile"})
		}
	}
	return checks
}

func lines(b []byte) func(func(string) bool) {
	return func(yield func(string) bool) {
		s := bufio.NewScanner(bytes.NewReader(b))
		for s.Scan() && yield(s.Text()) {
		}
	}
}

// usualFolders hold code, tests and documentation in most repositories.
var usualFolders = []string{"src", "app", "lib", "packages", "cmd", "internal", "pkg", "crates", "test", "tests", "spec", "docs", "examples"}

// tree answers questions about the files at the root.
type tree struct{ root fs.FS }

// any says whether one of the patterns names something.
func (t tree) any(patterns ...string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		found, err := fs.Glob(t.root, p)
		return err == nil && len(found) > 0
	})
}

// read gives a regular file's bytes, nil when there is none or it is too long.
func (t tree) read(name string) []byte {
	info, err := fs.Stat(t.root, name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxRead {
		return nil
	}
	b, err := fs.ReadFile(t.root, name)
	if err != nil {
		return nil
	}
	return b
}

func (t tree) folders() []string {
	var globs []string
	for _, name := range usualFolders {
		if info, err := fs.Stat(t.root, name); err == nil && info.IsDir() {
			globs = append(globs, name+"/**")
		}
	}
	return globs
}
