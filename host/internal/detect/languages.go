package detect

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// language is what relay knows about one ecosystem.
type language struct {
	name    string
	markers []string // any of these at the root
	checks  func(tree) []Check
}

// registries are where the tools of a language get packages from, and what those need.
var registries = map[string][]string{
	"go":         {"proxy.golang.org", "sum.golang.org"},
	"javascript": {"registry.npmjs.org", "registry.yarnpkg.com"},
	"deno":       {"deno.land", "jsr.io", "npm.jsr.io", "registry.npmjs.org"},
	"python":     {"pypi.org", "files.pythonhosted.org"},
	"rust":       {"index.crates.io", "static.crates.io", "crates.io"},
	"java":       {"repo.maven.apache.org", "repo1.maven.org", "plugins.gradle.org", "plugins-artifacts.gradle.org", "services.gradle.org"},
	"ruby":       {"rubygems.org", "index.rubygems.org"},
	"php":        {"repo.packagist.org", "packagist.org", "codeload.github.com"},
	"elixir":     {"repo.hex.pm", "hex.pm", "builds.hex.pm"},
	"dotnet":     {"api.nuget.org"},
}

// Registries are the hosts of the registries of what a repository is written in.
func Registries(root fs.FS) (hosts []string) {
	t := tree{root: root}
	for _, l := range languages {
		if t.any(l.markers...) {
			hosts = append(hosts, registries[l.name]...)
		}
	}
	return unique(hosts)
}

var languages = []language{
	{"go", []string{"go.mod", "go.work"}, goChecks},
	{"javascript", []string{"package.json"}, nodeChecks},
	{"deno", []string{"deno.json", "deno.jsonc"}, fixed("deno.json",
		Check{ID: "lint", Cmd: "deno", Args: []string{"lint"}, Fast: true},
		Check{ID: "test", Cmd: "deno", Args: []string{"test", "--junit-path=.deno-tests.xml"}, Fast: true})},
	{"python", []string{"pyproject.toml", "setup.cfg", "setup.py", "requirements.txt", "tox.ini", "Pipfile"}, pythonChecks},
	{"rust", []string{"Cargo.toml"}, fixed("Cargo.toml",
		Check{ID: "check", Cmd: "cargo", Args: []string{"check", "--all-targets"}, Fast: true},
		Check{ID: "test", Cmd: "cargo", Args: []string{"test"}})},
	{"java", []string{"pom.xml", "build.gradle", "build.gradle.kts", "build.sbt"}, javaChecks},
	{"ruby", []string{"Gemfile", "Rakefile"}, rubyChecks},
	{"perl", []string{"t/*.t"}, fixed("t/*.t",
		Check{ID: "test", Cmd: "prove", Args: []string{"-lr", "t"}, Fast: true})},
	{"php", []string{"composer.json"}, phpChecks},
	{"elixir", []string{"mix.exs"}, fixed("mix.exs",
		Check{ID: "test", Cmd: "mix", Args: []string{"test"}, Fast: true})},
	{"dotnet", []string{"*.sln", "*.slnx", "*.csproj", "*.fsproj"}, fixed("the solution",
		Check{ID: "test", Cmd: "dotnet", Args: []string{"test"}})},
	{"swift", []string{"Package.swift"}, fixed("Package.swift",
		Check{ID: "test", Cmd: "swift", Args: []string{"test", "--parallel", "--xunit-output", ".build/tests.xml"}})},
	{"dart", []string{"pubspec.yaml"}, fixed("pubspec.yaml",
		Check{ID: "test", Cmd: "dart", Args: []string{"test"}, Fast: true})},
	{"zig", []string{"build.zig"}, fixed("build.zig",
		Check{ID: "test", Cmd: "zig", Args: []string{"build", "test"}})},
	{"haskell", []string{"*.cabal"}, fixed("the package",
		Check{ID: "test", Cmd: "cabal", Args: []string{"test"}})},
	{"c", []string{"CMakeLists.txt", "meson.build"}, nativeChecks},
	{"c++", []string{"CMakeLists.txt", "meson.build"}, nativeChecks},
	{"shell", []string{"test/*.bats", "tests/*.bats", "*.bats"}, batsChecks},
}

func fixed(from string, checks ...Check) func(tree) []Check {
	for i := range checks {
		checks[i].From = from
	}
	return func(tree) []Check { return slices.Clone(checks) }
}

// anyChecks are for a repository of Bazel's or of autotools, whatever it is written in.
func anyChecks(t tree) []Check {
	switch {
	case t.any("MODULE.bazel", "WORKSPACE", "WORKSPACE.bazel"):
		return []Check{{ID: "test", Cmd: "bazel", Args: []string{"test", "//..."}, From: "Bazel's files"}}
	case t.autotools():
		line := "[ -x configure ] || autoreconf -i; [ -f Makefile ] || ./configure; make check"
		return []Check{{ID: "test", Cmd: "sh", Args: []string{"-ec", line}, From: "Makefile.am"}}
	}
	return nil
}

// autotools reports whether configure writes the Makefile: such a file lists no targets to
// trust, and a fresh clone lacks it.
func (t tree) autotools() bool {
	return t.any("Makefile.am") && t.any("configure.ac", "configure.in")
}

// nodeChecks takes the scripts that package.json has, run by the package manager
// whose lock file is there.
func nodeChecks(t tree) []Check {
	var manifest struct {
		Scripts        map[string]string `json:"scripts"`
		PackageManager string            `json:"packageManager"`
		Workspaces     any               `json:"workspaces"`
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
	for _, names := range [][]string{{"lint"}, {"typecheck", "type-check", "check-types", "check:types"}, {"test", "test:unit", "unit"}} {
		for _, name := range names {
			if script, ok := manifest.Scripts[name]; ok && !strings.Contains(script, "no test specified") {
				c := Check{ID: names[0], Cmd: manager, Args: []string{"run", name}, Fast: true, From: "package.json"}
				if names[0] == "test" && manifest.Scripts["build"] != "" && t.ignored(script) {
					c = t.after(manager+" run build", c)
				}
				checks = append(checks, c)
				break
			}
		}
	}
	if len(checks) == 0 {
		return t.workspaces(manager, manifest.Workspaces)
	}
	return checks
}

// python is a command of Python's tools as the project's own environment has it; nil where
// it has none.
func (t tree) python(argv []string) []string {
	tool := slices.Contains([]string{"pytest", "ruff", "mypy", "tox", "nox", "flake8", "black", "pyright"}, argv[0])
	if argv[0] == "python" || argv[0] == "python3" {
		argv = append([]string{"python"}, argv[1:]...)
	} else if !tool {
		return nil
	}
	switch {
	case t.any("uv.lock"):
		return append([]string{"uv", "run"}, argv...)
	case t.any("poetry.lock"):
		return append([]string{"poetry", "run"}, argv...)
	case t.any("pdm.lock"):
		return append([]string{"pdm", "run"}, argv...)
	case t.any("Pipfile.lock"):
		return append([]string{"pipenv", "run"}, argv...)
	}
	for _, dir := range []string{".venv", "venv"} {
		switch {
		case !t.any(dir + "/pyvenv.cfg"):
		case tool:
			return append([]string{dir + "/bin/python", "-m"}, argv...)
		default:
			return append([]string{dir + "/bin/python"}, argv[1:]...)
		}
	}
	if argv[0] == "python" {
		return append([]string{"python3"}, argv[1:]...)
	}
	return nil
}

// pythonSettings are files that name the runner of the tests; pythonTests hold them, and make a project of Python's by themselves.
var (
	pythonSettings = []string{"pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "noxfile.py", "Pipfile", "requirements*.txt", "requirements/*.txt"}
	pythonTests    = []string{"test_*.py", "tests/test_*.py", "test/test_*.py"}
)

func pythonChecks(t tree) []Check {
	pyproject := t.read("pyproject.toml")
	var checks []Check
	add := func(id, from string, argv ...string) {
		if own := t.python(argv); own != nil {
			argv = own
		}
		checks = append(checks, Check{ID: id, Cmd: argv[0], Args: argv[1:], Fast: true, From: from})
	}
	if t.any("ruff.toml", ".ruff.toml") || bytes.Contains(pyproject, []byte("[tool.ruff")) {
		add("lint", "the ruff settings", "ruff", "check", ".")
	}
	if t.any("mypy.ini") || bytes.Contains(pyproject, []byte("[tool.mypy")) {
		add("typecheck", "the mypy settings", "mypy", ".")
	}
	pytest := t.any("pytest.ini", "conftest.py", "tests/conftest.py") ||
		t.says(pythonSettings, "pytest") || t.says(pythonTests, `\bimport pytest\b|(?m)^(async )?def test`)
	switch {
	case pytest:
		add("test", "the pytest settings", "python", "-m", "pytest", "-q")
	case t.any("manage.py"):
		add("test", "manage.py", "python", "manage.py", "test")
	case t.any(pythonTests...):
		argv := []string{"python", "-m", "unittest", "discover"}
		for _, dir := range []string{"tests", "test"} { // it looks into packages only, and says nothing of the rest
			if !t.any("test_*.py", dir+"/__init__.py") && t.any(dir+"/test_*.py") {
				argv = append(argv, "-s", dir)
				break
			}
		}
		add("test", "the test files", argv...)
	}
	return checks
}

// importSource has Python's tests import what lies in src: a package that is installed would
// be tested in the place of the judged files.
func (p *Project) importSource(t tree) {
	if t.any("src/__init__.py") || !t.any("src/*/__init__.py", "src/*.py") {
		return
	}
	for i := range p.Checks {
		c := &p.Checks[i]
		python := slices.ContainsFunc(c.words(), func(word string) bool {
			return slices.Contains([]string{"python", "python3", "pytest"}, path.Base(word))
		})
		if python && c.Dir == "" && !slices.ContainsFunc(c.Env, func(v string) bool { return strings.HasPrefix(v, "PYTHONPATH=") }) {
			c.Env = append(c.Env, "PYTHONPATH=src")
		}
	}
}

// says reports whether one of the files that the patterns name has text that the expression matches.
func (t tree) says(patterns []string, expr string) bool {
	matches := regexp.MustCompile(expr).Match
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		found, _ := fs.Glob(t.root, pattern)
		return slices.ContainsFunc(found, func(name string) bool { return matches(t.read(name)) })
	})
}

// nativeChecks build and test in one command: each check begins with a fresh tree.
func nativeChecks(t tree) []Check {
	if slices.ContainsFunc(makeChecks(t), func(c Check) bool { return c.ID == "test" || c.ID == "check" }) {
		return nil // which knows better what has to be built
	}
	line, from := "cmake -S . -B build && cmake --build build && ctest --test-dir build --output-on-failure --output-junit junit.xml", "CMakeLists.txt"
	if !t.any(from) {
		line, from = "meson setup build && meson test -C build", "meson.build"
	}
	return []Check{{ID: "test", Cmd: "sh", Args: []string{"-ec", line}, From: from}}
}

func batsChecks(t tree) []Check {
	for _, dir := range []string{"test", "tests", "."} {
		if t.any(dir + "/*.bats") {
			return []Check{{ID: "test", Cmd: "bats", Args: []string{dir}, Fast: true, From: dir + "/*.bats"}}
		}
	}
	return nil
}

func javaChecks(t tree) []Check {
	maven := t.any("pom.xml")
	cmd, args, from := "gradle", []string{"test"}, "build.gradle"
	switch {
	case maven && t.any("mvnw"):
		cmd, args, from = "./mvnw", []string{"-q", "test"}, "mvnw"
	case maven:
		cmd, args, from = "mvn", []string{"-q", "test"}, "pom.xml"
	case t.any("build.sbt"):
		cmd, from = "sbt", "build.sbt"
	case t.any("gradlew"):
		cmd, from = "./gradlew", "gradlew"
	}
	return []Check{{ID: "test", Cmd: cmd, Args: args, From: from}}
}

func rubyChecks(t tree) []Check {
	var checks []Check
	bundled := func(id, from string, argv ...string) Check {
		if t.any("Gemfile") {
			argv = append([]string{"bundle", "exec"}, argv...)
		}
		return Check{ID: id, Cmd: argv[0], Args: argv[1:], Fast: true, From: from}
	}
	if t.any(".rubocop.yml") {
		checks = append(checks, bundled("lint", ".rubocop.yml", "rubocop"))
	}
	switch {
	case t.any("bin/rails"):
		checks = append(checks, Check{ID: "test", Cmd: "bin/rails", Args: []string{"test"}, Fast: true, From: "bin/rails"})
	case t.any("spec"):
		checks = append(checks, bundled("test", "spec/", "rspec"))
	case t.any("Rakefile"):
		checks = append(checks, bundled("test", "Rakefile", "rake", "test"))
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
	if manifest.Scripts["test"] == nil && t.any("phpunit.xml", "phpunit.xml.dist") {
		checks = append(checks, Check{ID: "test", Cmd: "vendor/bin/phpunit", Args: []string{"--log-junit", ".phpunit.junit.xml"}, Fast: true, From: "phpunit.xml"})
	}
	return checks
}

var makeTarget = regexp.MustCompile(`^(test|check|lint|typecheck)\s*:(?:[^=]|$)`)

// makeChecks takes the Makefile's own targets, for repositories in which no
// language says more.
func makeChecks(t tree) []Check {
	if t.autotools() {
		return nil
	}
	var checks []Check
	var text []byte
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} { // as make looks
		if text = t.read(name); text != nil {
			break
		}
	}
	for line := range lines(text) {
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
