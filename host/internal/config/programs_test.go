package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What a check runs is found however its command names it, and what a tool only reads is not.
func TestProtectedPrograms(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, mode := range map[string]os.FileMode{"check.sh": 0o755, "real.sh": 0o644, "ci/lib.sh": 0o644, "ci/test.sh": 0o644, "ci/__main__.py": 0o644, "check.py": 0o644, "check.js": 0o644, "check.awk": 0o644, "in.txt": 0o644,
		"src/a.sh": 0o755, "src/a.py": 0o644, "src/t.c": 0o644, "src/index.ts": 0o644, "test/a.test.js": 0o644, "test/run_test.sh": 0o755, "test/a.bats": 0o755, "android/gradlew": 0o755, "bin/tool": 0o755, "bin/node": 0o644} {
		_ = os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755)
		if err := os.WriteFile(filepath.Join(root, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"mk/Makefile": "SH = sh\ninclude inc.mk\n.PHONY: test\ntest: dep \\\n more\n\t@$(SH) run.sh\nclean:\n\trm -f x\n", "mk/inc.mk": "dep:\n\tsh dep.sh\nmore: ; awk -f ../check.awk\n", "mk/run.sh": "", "mk/dep.sh": "",
		"mk/package.json": `{"scripts":{"precheck":"sh ../real.sh","check":"npm run pre","pre":"python3 ../check.py","dev":"sh run.sh"}}`, "ci/Chk.pm": ""} {
		_ = os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755)
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"lnk.sh": "real.sh", "again.sh": "lnk.sh", "tools": "ci", "out.sh": "/bin/true", "whole.sh": root + "/real.sh"} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	for command, want := range map[string]string{
		"./check.sh": "check.sh", "tools/later": "tools ci/later", "sh check.sh": "check.sh", "sh -eu ci/test.sh src/a.sh": "ci/test.sh", "sh src/../check.sh": "check.sh", "bash later.sh": "later.sh",
		"timeout 60 sh check.sh": "check.sh", "timeout 60 ./check.sh": "check.sh", "env A=1 nice sh ./real.sh": "real.sh", "env -S|sh real.sh": "real.sh", "env|-Ssh real.sh": "real.sh", "stdbuf -oL setsid -w sh real.sh": "real.sh",
		"/usr/bin/time sh real.sh": "real.sh", "flock /tmp/l sh real.sh": "real.sh", "xargs -a /dev/null sh real.sh": "real.sh", "unbuffer ./check.sh": "check.sh", "sudo -n -- dash real.sh": "real.sh",
		"sh -o errexit real.sh": "errexit real.sh", "bash -O extglob real.sh": "extglob real.sh", "bash --rcfile in.txt real.sh": "in.txt real.sh", "bash --rcfile=in.txt real.sh": "in.txt real.sh",
		"bash -c|. ./real.sh": "real.sh", "bash -ec|cd ci && exec ./test.sh": "", "sh -c|cd ci; sh test.sh": "ci/test.sh", "sh -c|make && \"$PWD\"/check.sh": "check.sh", "sh -c|bash <real.sh": "real.sh", "bash -c|sh -c 'sh real.sh'": "real.sh",
		"./lnk.sh": "lnk.sh real.sh", "sh tools/test.sh": "tools ci/test.sh", "timeout 9 sh again.sh": "again.sh lnk.sh real.sh", "./out.sh": "out.sh", "sh whole.sh": "whole.sh real.sh", "sh " + root + "/real.sh": "real.sh",
		"python3 check.py": "check.py", "python3.12 -I -X dev check.py src/a.py": "check.py", "python3 -m check": "check.js check.py", "python3 ci": "ci/__main__.py", "node --no-warnings check.js": "check.js", "node check": "check.js check.py", "sh bin/node src/a.sh": "bin/node", "node -r ./check.js src/x": "check.js",
		"awk -f check.awk in.txt": "check.awk", "awk -fcheck.awk in.txt": "check.awk", "sed -nE -f check.awk in.txt": "check.awk", "perl -Ilib/core check.py": "check.py", "go run check.py": "check.py", "env -C ci sh test.sh": "ci/test.sh",
		"sh test/run_test.sh": "test/run_test.sh", "./test/run_test.sh": "test/run_test.sh", "sh ci/test.sh bin/tool": "ci/test.sh", "sh {{script}}": "",
		// What can't be read leaves the files that are named, and what a build tool runs is read.
		"sh -c|for f in ci/*.sh; do sh $f || exit 1; done": "ci/lib.sh ci/test.sh", "sh -c|eval \"$(cat in.txt)\"": "in.txt", "sh -c|cat in.txt | sh": "in.txt", "sh -c|echo in.txt | xargs sh": "in.txt",
		"find ci -name lib.sh -exec sh {} ;": "ci/lib.sh", "find . -name *lib.sh -exec sh {} ;": "ci/lib.sh", "sh -c|D=ci; sh $D/lib.sh": "ci/lib.sh", "sh -c|sh $D/lib.sh": "lib.sh ci/lib.sh", "bash -c|bash <(cat in.txt)": "in.txt",
		"git -c|alias.x=!sh in.txt|x": "in.txt", "perl -Ici -MChk -e 1": "ci/__main__.py ci/Chk.pm", "make -f in.txt": "in.txt", "make --file=in.txt": "in.txt", "make --makefile in.txt": "in.txt",
		"make -C mk": "mk/inc.mk mk/run.sh mk/dep.sh check.awk", "make -C mk clean": "mk/inc.mk", "sh -c|cd mk && npm run check": "real.sh check.py", "npm --prefix mk run pre": "check.py",
		// These read, or are given what the rule for tests holds.
		"shellcheck src/a.sh": "", "timeout 60 shellcheck ./src/a.sh": "", "ruff check src/a.py": "", "python3 -m mypy src/a.py": "", "python3 -m ruff check bin/tool": "", "gcc -o t src/t.c": "", "tsc src/index.ts": "", "eslint src": "", "npx eslint bin/tool": "",
		"pytest test/a.test.js": "", "node --test test/a.test.js": "", "node test/a.test.js": "", "bats test/a.bats": "", "sh -n src/a.sh": "", "node --check check.js": "", "perl -lane|print|src/a.py": "", "perl -wc check.py": "", "php -l check.py": "",
		"awk|{print}|in.txt": "", "sed -n p in.txt": "", "python3 -c|import a|src/a.py": "", "sh -c|cd src && go test ./...": "", "bash -c|ruff check src/a.py && pytest -q test": "", "sh -c|cat in.txt | grep x": "", "python3 -m pytest test": "", "gcc -I . src/t.c": "", "sh -c|gcc -o t src/t.c && ./t": "", "sh -c|go vet . && cat in.txt": "", "sh -c|$CC -o t src/t.c": "", "make check": "", "go test ./...": "", "grep -q x bin/tool": "", "../outside/x": "",
	} {
		var argv []string
		if first, rest, ok := strings.Cut(command, "|"); ok {
			argv = append(strings.Fields(first), strings.Split(rest, "|")...)
		} else {
			argv = strings.Fields(command)
		}
		v := Verification{TestGlobs: []string{"**/*.test.js", "**/*_test.sh", "**/*.bats"}, Templates: []Template{{Cmd: argv[0], Args: argv[1:]}}}
		v.findPrograms(root)
		if !slices.Equal(v.Programs, strings.Fields(want)) {
			t.Errorf("%q: %q, want %q", argv, v.Programs, want)
		}
	}
	v := Verification{Templates: []Template{{Cmd: "./gradlew", Dir: "android"}, {Cmd: "sh", Args: []string{"../check.sh"}, Dir: "src"}}}
	if v.findPrograms(root); !slices.Equal(v.Programs, []string{"android/gradlew", "check.sh"}) {
		t.Errorf("below a folder: %q", v.Programs)
	}
}

// A clone's Makefile is read before anybody trusts it: a variable that doubles itself stays small.
func TestRecipesAreBounded(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	text := "A = " + strings.Repeat("$(A)", 20) + "\ninclude Makefile\ntest:\n" + strings.Repeat("\tsh $(A)\n", 50)
	if err := os.WriteFile(filepath.Join(root, "Makefile"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	read, all := recipes(root), 0
	for range 500 {
		for _, text := range read("", []string{"make", "test"}) {
			all += len(text)
		}
	}
	if all == 0 || all > maxRecipes {
		t.Errorf("%d bytes were read", all)
	}
}
