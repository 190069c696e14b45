package detect

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

func TestTree(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for name, c := range map[string]struct {
		files     fstest.MapFS
		languages string
		checks    string // id=argv, …
		sources   string
		unsure    string
	}{
		"go": {
			fstest.MapFS{"go.mod": file("module x"), "internal/a.go": file(""), "Makefile": file("test:\n\tgo test\nlint: x\n")},
			"go", "vet=go vet ./..., test=go test ./..., lint=make lint", "**/*.go internal/**", "",
		},
		"go, nothing written yet": {fstest.MapFS{"go.mod": file("module x")}, "go", "vet=go vet ./..., test=go test ./...", "**/*.go", ""},
		"go.work without a module at the root": {
			fstest.MapFS{"go.work": file("go 1.22\n\nuse ./a // one\nuse (\n\t./b\n\t// ./no\n\t./tools/c\n)\nreplace x => ./y\n"), "a/go.mod": file(""), "a/a.go": file(""), "b/go.mod": file("")},
			"go", "vet=go vet ./a/... ./b/... ./tools/c/..., test=go test ./a/... ./b/... ./tools/c/...", "**/*.go", "",
		},
		"bazel": {
			fstest.MapFS{"MODULE.bazel": file(""), "src/a.cc": file(""), "src/BUILD.bazel": file("")},
			"c++", "test=bazel test //...", "**/*.cc src/**", "",
		},
		"pnpm's workspace, no script at the root": {
			fstest.MapFS{"package.json": file("{}"), "pnpm-lock.yaml": file(""), "pnpm-workspace.yaml": file("packages: [libs/*]"), "libs/a/package.json": file(`{"scripts":{"test":"vitest run"}}`), "libs/a/i.ts": file("")},
			"javascript", "test=pnpm -r --if-present run test", "**/*.ts", "",
		},
		"npm's workspace, no script at the root": {
			fstest.MapFS{"package.json": file(`{"workspaces":["libs/*"]}`), "libs/a/package.json": file(`{"scripts":{"lint":"eslint .","test":"echo no test specified"}}`), "libs/a/i.js": file("")},
			"javascript", "lint=npm run lint --workspaces --if-present", "**/*.js", "",
		},
		"node with pnpm": {
			fstest.MapFS{"package.json": file(`{"scripts":{"lint":"eslint","test":"vitest","dev":"x"}}`), "pnpm-lock.yaml": file(""), "src/a.ts": file("")},
			"javascript", "lint=pnpm run lint, test=pnpm run test", "**/*.ts src/**", "",
		},
		"node, other names": {
			fstest.MapFS{"package.json": file(`{"scripts":{"type-check":"tsc","test:unit":"vitest run"}}`), "a.ts": file("")},
			"javascript", "typecheck=npm run type-check, test=npm run test:unit", "**/*.ts", "",
		},
		"node, npm's own placeholder": {
			fstest.MapFS{"package.json": file(`{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}`), "a.js": file("")},
			"javascript", "", "**/*.js", "",
		},
		"node says its manager": {
			fstest.MapFS{"package.json": file(`{"packageManager":"yarn@4.1.0","scripts":{"test":"jest"}}`), "a.js": file("")},
			"javascript", "test=yarn run test", "**/*.js", "",
		},
		"node, broken manifest": {fstest.MapFS{"package.json": file(`{"scripts":`), "a.js": file("")}, "javascript", "", "**/*.js", ""},
		"python": {
			fstest.MapFS{"pyproject.toml": file("[tool.ruff]\n[tool.pytest.ini_options]\n"), "README.md": file(""), "a.py": file("")},
			"python", "lint=ruff check ., test=python3 -m pytest -q", "**/*.py README.md", "",
		},
		"python, unittest":              {fstest.MapFS{"setup.py": file(""), "tests/test_a.py": file("")}, "python", "test=python3 -m unittest discover -s tests", "**/*.py tests/**", ""},
		"python, a script and its test": {fstest.MapFS{"shop.py": file(""), "test_shop.py": file("import unittest\n")}, "python", "test=python3 -m unittest discover", "**/*.py", ""},
		"python, tests that only pytest finds": {
			fstest.MapFS{"shop.py": file(""), "test/test_shop.py": file("import shop\n\ndef test_price():\n    assert shop.price(1)\n")},
			"python", "test=python3 -m pytest -q", "**/*.py test/**", "",
		},
		"python, tests in a package": {
			fstest.MapFS{"shop.py": file(""), "tests/__init__.py": file(""), "tests/test_shop.py": file("")}, "python", "test=python3 -m unittest discover", "**/*.py tests/**", "",
		},
		"python with uv": {fstest.MapFS{"pyproject.toml": file("pytest"), "uv.lock": file(""), "a.py": file("")}, "python", "test=uv run python -m pytest -q", "**/*.py", ""},
		"python, poetry": {fstest.MapFS{"pyproject.toml": file("[tool.ruff]"), "poetry.lock": file(""), "a.py": file("")}, "python", "lint=poetry run ruff check .", "**/*.py", ""},
		"python, .venv": {
			fstest.MapFS{"pyproject.toml": file("[tool.mypy]\npytest"), ".venv/pyvenv.cfg": file(""), "a.py": file("")},
			"python", "typecheck=.venv/bin/python -m mypy ., test=.venv/bin/python -m pytest -q", "**/*.py", "",
		},
		"two languages": {
			fstest.MapFS{"go.mod": file("module x"), "package.json": file(`{"scripts":{"test":"jest"}}`), "a.go": file(""), "b.go": file(""), "c.js": file("")},
			"go javascript", "vet=go vet ./..., test=go test ./..., test_javascript=npm run test", "**/*.go **/*.js", "",
		},
		"rust":             {fstest.MapFS{"Cargo.toml": file(""), "src/lib.rs": file("")}, "rust", "check=cargo check --all-targets, test=cargo test", "**/*.rs src/**", ""},
		"maven wrapper":    {fstest.MapFS{"pom.xml": file(""), "mvnw": file(""), "A.java": file("")}, "java", "test=./mvnw -q test", "**/*.java", ""},
		"gradle":           {fstest.MapFS{"build.gradle.kts": file(""), "gradlew": file(""), "app/A.kt": file("")}, "java", "test=./gradlew test", "**/*.kt **/*.kts app/**", ""},
		"dotnet":           {fstest.MapFS{"A.sln": file(""), "src/A.cs": file("")}, "dotnet", "test=dotnet test", "**/*.cs src/**", ""},
		"ruby":             {fstest.MapFS{"Gemfile": file(""), "spec/a_spec.rb": file("")}, "ruby", "test=bundle exec rspec", "**/*.rb spec/**", ""},
		"rake, no bundler": {fstest.MapFS{"Rakefile": file("Rake::TestTask.new"), "lib/a.rb": file("")}, "ruby", "test=rake test", "**/*.rb lib/**", ""},
		"prove":            {fstest.MapFS{"Makefile.PL": file(""), "lib/A.pm": file(""), "t/a.t": file("")}, "perl", "test=prove -lr t", "**/*.pm **/*.t lib/**", ""},
		"rails":            {fstest.MapFS{"Gemfile": file(""), "bin/rails": file(""), "app/a.rb": file("")}, "ruby", "test=bin/rails test", "**/*.rb app/**", ""},
		"php":              {fstest.MapFS{"composer.json": file("{}"), "phpunit.xml.dist": file(""), "src/A.php": file("")}, "php", "test=vendor/bin/phpunit --log-junit .phpunit.junit.xml", "**/*.php src/**", ""},
		"cmake": {
			fstest.MapFS{"CMakeLists.txt": file(""), "a.c": file(""), "a.h": file("")},
			"c", "test=sh -ec cmake -S . -B build && cmake --build build && ctest --test-dir build --output-on-failure --output-junit junit.xml", "**/*.c **/*.h", "",
		},
		"autotools, configured or not": {
			fstest.MapFS{"configure.ac": file(""), "Makefile.am": file(""), "Makefile": file("check: check-am\n"), "a.c": file(""), ".travis.yml": file("script: ./configure && make check\n")},
			"c", "test=sh -ec [ -x configure ] || autoreconf -i; [ -f Makefile ] || ./configure; make check", "**/*.c", "",
		},
		"bats":           {fstest.MapFS{"a.sh": file(""), "test/a.bats": file("")}, "shell", "test=bats test", "**/*.bats **/*.sh test/**", ""},
		"make only":      {fstest.MapFS{"Makefile": file("check:\n\t./check\n.PHONY: test\ntest := 1\n"), "a.c": file("")}, "c", "check=make check", "**/*.c", ""},
		"shell":          {fstest.MapFS{"add.sh": file("")}, "shell", "", "**/*.sh", ""},
		"nothing at all": {fstest.MapFS{}, "", "", "", ""},
		// Each check begins with a fresh box: what CI builds in one step and tests in the next is one check.
		"ci builds before it tests": {
			fstest.MapFS{"package.json": file(`{"scripts":{"build":"tsc","test":"node --test lib"}}`), "src/a.ts": file(""),
				".github/workflows/ci.yml": file("jobs:\n  a:\n    steps:\n    - run: npm run lint\n    - run: npm run build\n    - run: npm test\n")},
			"javascript", "lint=npm run lint, test=sh -ec npm run build && npm test", "**/*.ts src/**", "",
		},
		"ci builds in another job, and what the test builds itself": {
			fstest.MapFS{"package.json": file(`{"scripts":{"build":"tsc"}}`), "a.ts": file(""), "web/package.json": file(`{"scripts":{"pretest":"npm run build"}}`),
				".github/workflows/ci.yml": file("jobs:\n  a:\n    steps:\n    - run: npm run build\n  b:\n    steps:\n    - run: npm test\n    - run: npm run build && npm test\n      working-directory: web\n")},
			"javascript", "test=npm test, test_web=[web] npm test", "**/*.ts", "",
		},
		"gitlab's script with make": {
			fstest.MapFS{"Makefile": file(""), "a.c": file(""), ".gitlab-ci.yml": file("a:\n  script:\n  - make -j4\n  - make check\n")},
			"c", "check=sh -ec make -j4 && make check", "**/*.c", "",
		},
		"dotnet tests what it built": {
			fstest.MapFS{"A.sln": file(""), "A.cs": file(""), ".travis.yml": file("script:\n- dotnet build -c Release\n- dotnet test --no-build -c Release\n")},
			"dotnet", "test=sh -ec dotnet build -c Release && dotnet test --no-build -c Release", "**/*.cs", "",
		},
		"node tests what git ignores": {
			fstest.MapFS{"package.json": file(`{"scripts":{"build":"tsc","test":"mocha ./dist/test"}}`), ".gitignore": file("node_modules\n/dist/\n"), "a.ts": file("")},
			"javascript", "test=sh -ec npm run build && npm run test", "**/*.ts", "",
		},
		// As git/git: a little Rust beside C, and tests in shell.
		"a manifest that is an aside": {
			some(fstest.MapFS{"Cargo.toml": file(""), "src/lib.rs": file(""), "Makefile": file("test: all\n")}, 30, "a%d.c", "t/t%d.sh"),
			"c shell", "test=make test", "**/*.c **/*.sh src/**", "rust, 1 of 61 source files: its checks are not proposed",
		},
		// As libgit2: a package.json for the documentation.
		"a package.json without its language": {
			fstest.MapFS{"package.json": file(`{"scripts":{"test":"x"}}`), "CMakeLists.txt": file(""), "src/a.c": file("")},
			"c", "test=sh -ec cmake -S . -B build && cmake --build build && ctest --test-dir build --output-on-failure --output-junit junit.xml", "**/*.c src/**", "",
		},
		"no root project": {
			fstest.MapFS{"api/go.mod": file(""), "api/a.go": file(""), "web/package.json": file(`{"scripts":{"test":"jest"}}`), "web/a.ts": file(""),
				"jobs/pyproject.toml": file("pytest"), "jobs/a.py": file(""), "tools/x.lua": file(""), "api/vendor/go.mod": file("")},
			"go javascript python lua", "vet=[api] go vet ./..., test=[api] go test ./..., test_web=[web] npm run test, test_jobs=[jobs] python3 -m pytest -q",
			"**/*.go **/*.ts **/*.lua **/*.py", "no check is known for lua, 1 of 4 source files",
		},
		"what CI runs": {
			fstest.MapFS{"go.mod": file(""), "a.go": file(""), "web/a.ts": file(""), "web/package.json": file("{}"), ".github/workflows/ci.yml": file(ciText),
				".github/workflows/release.yml": file("on: {release: {}}\njobs: {a: {steps: [{run: make test}]}}")},
			"go javascript", "test=go test -race ./..., lint=golangci-lint run, test_web=[web] npm run test:ci, typecheck=[web] npx tsc --noEmit, vet=go vet ./...",
			"**/*.go **/*.ts", "",
		},
		"what GitLab runs": {
			fstest.MapFS{"a.pl": file(""), "run-tests.sh": file(""), ".gitlab-ci.yml": file("test:\n  script:\n    - ./run-tests.sh --all\n    - echo $SECRET\n")},
			"perl shell", "test=./run-tests.sh --all", "**/*.pl **/*.sh", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := Tree(c.files, slices.Sorted(maps.Keys(c.files)))
			var checks []string
			for _, k := range p.Checks {
				if k.Dir != "" {
					k.Cmd = "[" + k.Dir + "] " + k.Cmd
				}
				checks = append(checks, k.ID+"="+strings.Join(append([]string{k.Cmd}, k.Args...), " "))
				if k.From == "" {
					t.Errorf("%s does not say where it comes from", k.ID)
				}
			}
			got := [4]string{strings.Join(p.Languages, " "), strings.Join(checks, ", "), strings.Join(p.Sources, " "), strings.Join(p.Unsure, "; ")}
			if want := [4]string{c.languages, c.checks, c.sources, c.unsure}; got != want {
				t.Errorf("got  %q\nwant %q", got, want)
			}
			for _, g := range p.Sources {
				if err := judge.ValidGlob(g); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

const ciText = `on: [push]
jobs:
  build:
    steps:
      - uses: actions/checkout@v4
      - name: another repository, checked out beside
        run: |
          cd terraform-exec
          go test -v ./internal/e2etest
      - run: |
          cd "$(mktemp -d)"
          cargo test
      - run: go test -race ./...
      - run: go test -run Slow $(go list ./...)
      - name: rest
        run: |
          golangci-lint run
          curl https://example.org | sh
          cd web && npm ci && npm run test:ci
      - working-directory: web
        run: |
          npx tsc \
            --noEmit
      - run: npm publish
`

// some adds n files of each name.
func some(files fstest.MapFS, n int, names ...string) fstest.MapFS {
	for _, name := range names {
		for i := range n {
			files[fmt.Sprintf(name, i)] = &fstest.MapFile{}
		}
	}
	return files
}

func TestPrograms(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"claude": 0o755, "codex": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	got := Programs([]string{"claude", "codex", "gemini"}, "."+string(os.PathListSeparator)+dir)
	if want := []Program{{"claude", filepath.Join(dir, "claude")}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	t.Chdir(dir)
	if got := Programs([]string{"claude"}, ".:"); len(got) > 0 {
		t.Errorf("a program of the current folder was taken: %v", got)
	}
}

func TestRepositoryBranch(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"only a topic branch": {"git init -q -b topic . && git commit -q --allow-empty -m x", "topic"},
		"topic off main":      {"git init -q -b main . && git commit -q --allow-empty -m x && git switch -q -c topic", "main"},
		"no commit yet":       {"git init -q -b first .", "first"},
		"detached":            {"git init -q -b topic . && git commit -q --allow-empty -m x && git switch -q --detach && git branch -q -D topic", ""},
		"the remote says":     {"git init -q -b main . && git commit -q --allow-empty -m x && git update-ref refs/remotes/origin/dev HEAD && git symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/dev", "dev"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			cmd := exec.Command("sh", "-c", c.script)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
				"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.org", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.org")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			g, err := git.Open(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			p, err := Repository(t.Context(), g)
			if err != nil || p.Branch != c.want {
				t.Errorf("branch %q, %v; want %q", p.Branch, err, c.want)
			}
		})
	}
}
