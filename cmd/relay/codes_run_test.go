package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/internal/sampling"
)

// suggested are the commands that the explanations of codes tell people to type, with the
// folder in which somebody is who reads that, and how they end there. A command that is
// new in the table of codes has to get its line here.
var suggested = map[string]struct {
	in   string
	exit int
}{
	"relay show":                             {"stopped", 0},
	"relay show --diff":                      {"stopped", 0},
	"relay salvage":                          {"stopped", 0},
	"relay status":                           {"stopped", 0},
	"relay run":                              {"stopped", 0}, // the limit is over, or the builder does better
	"relay history prune":                    {"stopped", 0},
	"relay plugin list":                      {"stopped", 0},
	"relay recover":                          {"stopped", 0},
	"relay doctor":                           {"stopped", 0},
	"relay config show verification":         {"stopped", 0},
	"git status":                             {"stopped", 0},
	"git stash -u":                           {"stopped", 0},
	"relay run --task FILE":                  {"stopped", 0},
	"relay run --task FILE --beyond-ceiling": {"stopped", 0},
	"relay config show scope":                {"stopped", 0},
	"relay policy test":                      {"stopped", 0},
	"relay init":                             {"bare", 0},
	"git init":                               {"empty", 0},
	"relay trust":                            {"clone", 0},
	"relay plugin info NAME":                 {"pinned", 0},
	"relay plugin grant NAME":                {"pinned", 0},
	"relay plugin install NAME":              {"pinned", 0},
}

// Every command that the explanation of a code suggests works where it is suggested.
func TestSuggestedCommandsRun(t *testing.T) {
	sampling.Slow(t)
	var all []string
	for _, code := range host.Codes() {
		found := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(host.Explain(code).Command, -1)
		if len(found) == 0 {
			t.Errorf("%s suggests no command: %s", code, host.Explain(code).Command)
		}
		for _, m := range found {
			if !slices.Contains(all, m[1]) {
				all = append(all, m[1])
			}
		}
	}
	var script strings.Builder
	script.WriteString(`tick stops.json lands.json
cd repo
exits 2 relay run --quiet
cd ..
mkdir empty
exec git init -q bare
exec git -C bare commit -q --allow-empty -m base
exec cp -r repo clone
exec cp -r repo pinned
stranger new/relay-plugin-foo foo.json
cd pinned
exits 0 relay plugin install ../new/relay-plugin-foo --grant none
cd ..
exec sh -c 'cd clone && sed -i s,src/a.txt,src/b.txt, relay.config.json && git commit -qam theirs'
`)
	for _, line := range all {
		s, ok := suggested[line]
		if !ok {
			t.Errorf("nobody has said where `%s` is tried: add it to the table of this test", line)
			continue
		}
		typed := strings.NewReplacer("FILE", "../task.json", "NAME", "foo").Replace(line)
		switch line { // nobody is there to be asked
		case "relay trust":
			typed += " --yes"
		case "relay plugin grant NAME":
			typed += " --grant none"
		}
		fmt.Fprintf(&script, "cd $WORK/%s\nexits %d %s\n", s.in, s.exit, typed)
	}
	text := strings.ReplaceAll(script.String(), "$WORK/stopped", "$WORK/repo") + `
-- build.sh --
grep -q '"task_id": *"stops"' "$RELAY_TASK_PATH" && echo x > package.json
date +%N > src/a.txt
-- stops.json --
{"task_id": "stops"}
-- lands.json --
{"task_id": "lands"}
-- foo.json --
{"name": "foo", "version": "1.0.0"}
-- task.json --
{"task_id": "mine", "milestone_id": "M1", "task_kind": "execute", "intent": "Change a line", "scope": {"allowed_globs": ["src/**"], "forbidden_globs": [], "allow_new_files": false, "allow_lockfile_changes": false}, "diff_limits": {"max_files_touched": 5, "max_lines_changed": 100}, "verification": {"fast": ["pass"], "slow": []}, "builder": {"mode": "external", "max_turns": 4, "instructions": "x"}}
`
	file := filepath.Join(t.TempDir(), "suggested.txtar")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	p := scriptParams()
	p.Dir, p.Files, p.UpdateScripts = "", []string{file}, false
	testscript.Run(t, p)
}
