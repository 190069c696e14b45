package detect

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/paxiom/relay/judge"
)

func TestTree(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for name, c := range map[string]struct {
		files     fstest.MapFS
		languages string
		checks    string // id=argv, …
		sources   string
	}{
		"go": {
			fstest.MapFS{"go.mod": file("module x"), "internal/a.go": file(""), "Makefile": file("test:\n\tgo test\nlint: x\n")},
			"go", "vet=go vet ./..., test=go test ./..., lint=make lint", "**/*.go internal/**",
		},
		"node with pnpm": {
			fstest.MapFS{"package.json": file(`{"scripts":{"lint":"eslint","test":"vitest","dev":"x"}}`), "pnpm-lock.yaml": file(""), "src/a.ts": file("")},
			"javascript", "lint=pnpm run lint, test=pnpm run test", "src/**",
		},
		"node, npm's own placeholder": {
			fstest.MapFS{"package.json": file(`{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}`)},
			"javascript", "", "",
		},
		"node says its manager": {
			fstest.MapFS{"package.json": file(`{"packageManager":"yarn@4.1.0","scripts":{"test":"jest"}}`)},
			"javascript", "test=yarn run test", "",
		},
		"node, broken manifest": {fstest.MapFS{"package.json": file(`{"scripts":`)}, "javascript", "", ""},
		"python": {
			fstest.MapFS{"pyproject.toml": file("[tool.ruff]\n[tool.pytest.ini_options]\n"), "README.md": file("")},
			"python", "lint=ruff check ., test=python3 -m pytest -q", "**/*.py README.md",
		},
		"python, unittest": {fstest.MapFS{"setup.py": file(""), "tests/test_a.py": file("")}, "python", "test=python3 -m unittest discover", "**/*.py tests/**"},
		"two languages": {
			fstest.MapFS{"go.mod": file("module x"), "package.json": file(`{"scripts":{"test":"jest"}}`)},
			"go javascript", "vet=go vet ./..., test=go test ./..., test_javascript=npm run test", "**/*.go",
		},
		"rust":            {fstest.MapFS{"Cargo.toml": file(""), "src/lib.rs": file("")}, "rust", "check=cargo check --all-targets, test=cargo test", "src/**"},
		"maven wrapper":   {fstest.MapFS{"pom.xml": file(""), "mvnw": file("")}, "java", "test=./mvnw -q test", ""},
		"make only":       {fstest.MapFS{"Makefile": file("check:\n\t./check\n.PHONY: test\ntest := 1\n"), "a.c": file("")}, "", "check=make check", ""},
		"shell":           {fstest.MapFS{"add.sh": file("")}, "shell", "", "*.sh"},
		"nothing at all":  {fstest.MapFS{}, "", "", ""},
		"a folder go.mod": {fstest.MapFS{"package.json/x": file("")}, "javascript", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := Tree(c.files)
			var checks []string
			for _, k := range p.Checks {
				checks = append(checks, k.ID+"="+strings.Join(append([]string{k.Cmd}, k.Args...), " "))
				if k.From == "" {
					t.Errorf("%s does not say where it comes from", k.ID)
				}
			}
			got := [3]string{strings.Join(p.Languages, " "), strings.Join(checks, ", "), strings.Join(p.Sources, " ")}
			if want := [3]string{c.languages, c.checks, c.sources}; got != want {
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
	if got := Programs([]string{"claude"}, ".:"); got != nil {
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
			g, err := judge.OpenGit(t.Context(), dir)
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
