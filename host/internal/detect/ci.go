package detect

import (
	"cmp"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/config"
)

// ciFiles are where the usual services have what they run.
var ciFiles = []string{".github/workflows/*.yml", ".github/workflows/*.yaml", ".gitlab-ci.yml", ".circleci/config.yml", ".travis.yml",
	"azure-pipelines.yml", ".azure-pipelines/*.yml", ".cirrus.yml", ".woodpecker.yml", ".woodpecker/*.yml", ".drone.yml", "bitbucket-pipelines.yml", ".builds/*.yml"}

// maxCI is how many checks are taken from them.
const maxCI = 6

// ciChecks are the commands of the repository's CI files that are checks and need no shell.
func ciChecks(t tree) (checks []Check) {
	var files []string
	for _, pattern := range ciFiles {
		found, _ := fs.Glob(t.root, pattern)
		files = append(files, found...)
	}
	for _, file := range files {
		var doc yaml.Node
		if yaml.Unmarshal(t.read(file), &doc) != nil || len(doc.Content) == 0 || !onChanges(doc.Content[0]) {
			continue
		}
		var job *yaml.Node
		steps(doc.Content[0], nil, func(in *yaml.Node, text, dir string) {
			if in != job || t.built == nil {
				job, t.built = in, map[string]string{}
			}
			for _, c := range t.commands(text, dir) {
				known := slices.ContainsFunc(checks, func(o Check) bool { return o.ID == c.ID && o.Dir == c.Dir })
				if !known && len(checks) < maxCI {
					c.From = file
					checks = append(checks, c)
				}
			}
		})
	}
	return checks
}

// onChanges reports whether a workflow of GitHub's runs for changes, and not for releases
// or by the clock alone. Other services have no such key.
func onChanges(doc *yaml.Node) bool {
	on := value(doc, "on")
	if on == nil {
		return true
	}
	var words []string
	for _, n := range append([]*yaml.Node{on}, on.Content...) {
		words = append(words, n.Value)
	}
	return slices.ContainsFunc(words, func(w string) bool { return w == "push" || w == "pull_request" || w == "merge_group" })
}

func value(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// steps calls each with every script of a document, the list of steps that it belongs to, and the folder that is
// named beside it.
func steps(n, job *yaml.Node, each func(job *yaml.Node, text, dir string)) {
	if n.Kind != yaml.MappingNode {
		for _, child := range n.Content {
			steps(child, n, each)
		}
		return
	}
	dir := ""
	for _, key := range []string{"working-directory", "working_directory", "workingDirectory"} {
		if v := value(n, key); v != nil {
			dir = v.Value
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, v := n.Content[i].Value, n.Content[i+1]
		switch {
		case !slices.Contains([]string{"run", "script", "command", "bash", "commands"}, key):
			steps(v, job, each)
		case v.Kind == yaml.ScalarNode:
			each(job, v.Value, dir)
		case v.Kind == yaml.SequenceNode:
			var lines []string
			for _, line := range v.Content {
				if line.Kind == yaml.ScalarNode {
					lines = append(lines, line.Value)
				}
			}
			each(job, strings.Join(lines, "\n"), dir)
			steps(v, job, each)
		default:
			steps(v, job, each)
		}
	}
}

var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=\S*$`)

// commands are the checks among the lines of a script. A line that needs a shell is no
// command to propose.
func (t tree) commands(script, dir string) (checks []Check) {
	if dir = path.Clean(dir); dir == "." || strings.Contains(dir, "$") || strings.HasPrefix(dir, "..") || path.IsAbs(dir) {
		if dir != "." {
			return nil // no folder that is known here
		}
		dir = ""
	}
	script = strings.ReplaceAll(script, "\\\n", " ")
	at := dir // as the shell's, for the lines that follow too
	for line := range strings.Lines(script) {
		for part := range strings.SplitSeq(line, "&&") {
			argv := strings.Fields(part)
			var env []string
			for len(argv) > 0 && assignment.MatchString(argv[0]) {
				env, argv = append(env, argv[0]), argv[1:]
			}
			moves := len(argv) > 0 && slices.Contains([]string{"cd", "pushd", "popd"}, argv[0])
			argv, err := config.SplitCommand(strings.Join(argv, " "))
			if moves {
				if err != nil || argv[0] != "cd" || len(argv) != 2 || path.IsAbs(argv[1]) || strings.HasPrefix(path.Join(at, argv[1]), "..") {
					return checks // from here on, where the shell is isn't known
				}
				at = path.Join(at, argv[1])
				continue
			}
			if err != nil {
				break
			}
			if line := strings.Join(argv, " "); builds.MatchString(line) {
				t.built[at+"\x00"+Check{Cmd: argv[0]}.about()] = line
			}
			c, ok := t.known(argv)
			if !ok || strings.ContainsAny(strings.Join(env, ""), "$`\"'") {
				continue
			}
			c.Dir, c.Env = strings.TrimPrefix(at, "."), env
			if c.Dir != "" && !t.any(c.Dir) {
				continue
			}
			if line := t.built[at+"\x00"+c.about()]; line != "" && (c.ID == "test" || c.ID == "check") {
				c = t.after(line, c)
			}
			checks = append(checks, c)
		}
	}
	return checks
}

// builds are the steps that make what later steps of the same job test.
var builds = regexp.MustCompile(`^(make( -j\d*)?( all| build)?|(npm|pnpm|yarn|bun)( -\S+)*( run)? (build|compile)(:\w+)?( -\S+)*|npx tsc( -b| --build)?|dotnet build( \S+)*|python3? setup\.py build_ext( \S+)*)$`)

// after has a check build first, as CI does: it begins with a fresh box, where what an ignored folder has
// was built of the old files.
func (t tree) after(build string, c Check) Check {
	if s := t.scripts(c.Dir); c.about() == "javascript" && (s["pretest"] != "" || buildsItself.MatchString(s["test"])) {
		return c
	}
	words := []string{}
	for _, w := range append([]string{c.Cmd}, c.Args...) {
		words = append(words, diag.Word(w))
	}
	c.Cmd, c.Args = "sh", []string{"-ec", build + " && " + strings.Join(words, " ")}
	return c
}

var buildsItself = regexp.MustCompile(`\b(build|compile|tsc)\b`)

// runners are the commands that check, by their first words; the id that each gets comes
// first. "@" is a word that names a check by itself.
var runners = parseRunners(`
	test go test
	vet go vet
	lint golangci-lint run
	lint staticcheck
	test cargo test
	test cargo nextest run
	lint cargo clippy
	format cargo fmt
	@ npm run
	@ npm
	@ pnpm run
	@ pnpm
	@ yarn run
	@ yarn
	@ bun run
	@ bun
	@ deno
	test npx vitest
	test npx jest
	lint npx eslint
	typecheck npx tsc
	test pytest
	test python -m pytest
	test python -m unittest
	test python -m tox
	test tox
	test nox
	lint ruff check
	format ruff format
	typecheck mypy
	typecheck pyright
	lint flake8
	format black
	lint python -m ruff check
	typecheck python -m mypy
	@ hatch run
	test hatch test
	@ make
	@ just
	@ task
	@ rake
	@ bazel
	@ bundle exec rake
	test bundle exec rspec
	test rspec
	lint bundle exec rubocop
	@ bin/rails
	@ mvn
	@ ./mvnw
	@ gradle
	@ ./gradlew
	@ sbt
	@ composer
	@ composer run
	@ composer run-script
	test vendor/bin/phpunit
	lint vendor/bin/phpstan
	test dotnet test
	test mix test
	lint mix credo
	test swift test
	test zig build test
	test dart test
	test flutter test
	test cabal test
	test stack test
	test bats
	lint shellcheck
`)

func parseRunners(table string) (all [][]string) {
	for line := range strings.Lines(table) {
		if words := strings.Fields(line); len(words) > 1 {
			all = append(all, words)
		}
	}
	return all
}

var (
	// checkWord is a target or script whose name says that it checks.
	checkWord = regexp.MustCompile(`^:?(?:([a-z]+):)?(test|tests|check|verify|lint|typecheck|type-check|check-types|types|unit|spec)$|^(test|lint):(unit|ci|types|node|run)$`)
	// ownTest is a program of the repository that tests.
	ownTest = regexp.MustCompile(`(?i)^(run[-_]?)?(unit[-_]?)?tests?(\.(sh|py|pl))?$|^run[-_]?tests?`)
)

// known makes a check of a command, if it is one.
func (t tree) known(argv []string) (Check, bool) {
	words := argv
	for _, prefix := range [][]string{{"uv", "run"}, {"poetry", "run"}, {"pdm", "run"}, {"pipenv", "run"}, {"time"}} {
		if len(words) > len(prefix) && slices.Equal(words[:len(prefix)], prefix) {
			words = words[len(prefix):]
			for len(words) > 1 && strings.HasPrefix(words[0], "-") && words[0] != "-m" {
				words = words[1:]
			}
		}
	}
	words = slices.Clone(words)
	bare := len(words) == len(argv)
	if words[0] == "python3" {
		words[0] = "python"
	}
	best := []string(nil)
	for _, r := range runners {
		if n := len(r) - 1; len(words) >= n && len(r) > len(best) && slices.Equal(words[:n], r[1:]) {
			best = r
		}
	}
	id := ""
	switch {
	case best == nil:
		if strings.Contains(argv[0], "/") && ownTest.MatchString(path.Base(argv[0])) && t.any(path.Clean(argv[0])) {
			id = "test"
		}
	case best[0] != "@":
		id = best[0]
	default:
		if best[1] == "make" && t.autotools() {
			return Check{}, false // what configure has made
		}
		for i, w := range words[len(best)-1:] {
			if before := words[len(best)-2+i]; before == "-C" || before == "-f" {
				if !t.any(path.Clean(w)) {
					return Check{}, false // what another step has made
				}
				continue
			}
			if m := checkWord.FindStringSubmatch(w); m != nil {
				id = cmp.Or(m[2], m[3])
				break
			}
		}
	}
	if id == "format" && !slices.ContainsFunc(words, func(w string) bool { return w == "--check" || w == "--diff" }) {
		id = "" // it would write
	}
	switch id {
	case "":
		return Check{}, false
	case "tests", "unit", "spec", "verify":
		id = "test"
	case "type-check", "check-types", "types":
		id = "typecheck"
	}
	if bare {
		if python := t.python(words); python != nil {
			argv = python
		}
	}
	return Check{ID: id, Cmd: argv[0], Args: slices.Clone(argv[1:]), Fast: true}, true
}
