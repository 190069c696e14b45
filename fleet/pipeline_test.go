package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// A worker is killed while it works on a pipeline's second task: another one continues that task, and the one that was
// pushed before is not made again.
func TestPipeline(t *testing.T) {
	if *bin == "" {
		t.Skip("it needs the built programs: make fleet-test")
	}
	p := newPlace(t)
	p.tasks()
	p.serve()
	first := p.worker("a")
	id := p.ask("pipeline", "--repo", p.remote, "--key", "p")
	subjects := func() string { return string(p.command(p.dir, "git", "-C", p.remote, "log", "--format=%s", "main")) }
	p.until("the first task is at the remote and the second one is built", func() bool {
		return strings.Contains(subjects(), "One\n") && len(p.processes()) > 0
	})
	first.kill()
	p.until("no process of the builder is left", func() bool { return len(p.processes()) == 0 })
	p.worker("b")
	if s := p.result(id); s.Result == nil || s.Result.ExitCode != 0 {
		t.Fatalf("%+v %+v", s, s.Result)
	}
	if all := subjects(); strings.Count(all, "One\n") != 1 || strings.Count(all, "Two\n") != 1 {
		t.Error(all)
	}
	p.private()
}

// tasks gives the repository a pipeline of two tasks.
func (p *place) tasks() {
	p.t.Helper()
	seed, home := filepath.Join(p.dir, "seed"), filepath.Join(p.dir, "home-operator")
	for name, text := range map[string]string{
		"plan.json": `{"version": 1, "calls": [{"times": -1, "when": {"role": "plan"}, "answer": {"output": {"approach": "write it", "steps": [], "checks": [], "risks": [], "question": ""}}},
{"times": -1, "when": {"role": "review"}, "answer": {"output": {"summary": "looked", "findings": []}}}]}`,
		"seed/driver.sh": `#!/bin/sh
case $(cat "$RELAY_TASK_PATH") in
*'"step":"cleanup"'*) echo '{"summary": "done", "memory": "", "findings": [], "notes": []}' >"$RELAY_OUTPUT_PATH"; exit ;;
*'"task_id":"two"'*) sleep ` + p.mark + `; echo canary >src/two.txt ;;
*) echo canary >src/one.txt ;;
esac
echo '{"summary": "done", "files_intended": [], "commands_ran": [], "notes": []}' >"$RELAY_OUTPUT_PATH"
`,
		"seed/prd.json": `{"tasks": [{"id": "one", "title": "One", "validation": {"command": "test -e src/one.txt"}},
{"id": "two", "title": "Two", "depends_on": ["one"], "validation": {"command": "test -e src/two.txt"}}]}`,
		"seed/relay.config.json": `{"version": "1.0", "orchestrator": {"provider": "replay"}, "builder": {"default_mode": "external",
"external": {"command": "./driver.sh", "args": [], "timeout_seconds": 60, "output_file": "BUILDER_RESULT.json"}},
"pipeline": {"plan": {"provider": "replay"}, "review": {"provider": "replay", "fallback": []}, "code": {"builder": "external", "fallback": []}, "cleanup": {"builder": "external"}},
"plugins": {"replay": {"script": "` + p.dir + `/plan.json"}}}`,
	} {
		write(p.t, filepath.Join(p.dir, name), text)
	}
	p.command(home, "git", "-C", seed, "add", "-A")
	p.command(home, "git", "-C", seed, "commit", "-q", "-m", "tasks")
	p.command(home, "git", "-C", seed, "push", "-q", p.remote, "main")
	p.agree()
}
