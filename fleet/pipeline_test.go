package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/paxiom/relay/fleet/internal/job"
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

// The two middle tasks of four are made on two workers at the same time. One worker is killed once its result is at the remote and
// before anybody was told: the other one finds it. Each call of a model is made as often as by one machine alone, with the same end.
func TestTasksOnTwoWorkers(t *testing.T) {
	if *bin == "" || *model == "" {
		t.Skip("it needs the built programs: make fleet-test")
	}
	p := newPlace(t)
	log := p.diamond()
	p.serve()
	a, b := p.keyed("a", "--key"), p.keyed("b", "--key")
	id := p.ask("pipeline", "--repo", p.remote, "--key", "p")
	p.until("both middle tasks are built", func() bool { return len(p.processes()) == 2 })
	on := map[string]string{}
	p.until("it is said where", func() bool {
		for _, s := range p.runs() {
			if s.About.Kind == job.KindTask && s.State == job.Running {
				on[s.About.Task] = s.Worker
			}
		}
		return on["b"] != "" && on["c"] != ""
	})
	if on["b"] == on["c"] {
		t.Errorf("%v", on)
	}
	if text := string(p.relay("fleet", "status")); !strings.Contains(text, "p  tasks under way: 2\n") || !strings.Contains(text, "  p.b  on ") {
		t.Error(text)
	}
	write(t, a.hold, "")
	p.until("a result is at the remote", func() bool { _, err := os.Stat(a.hold + ".now"); return err == nil })
	a.kill()
	if s := p.result(id); s.Result == nil || s.Result.Code != "done" || s.Result.ExitCode != 0 {
		t.Fatalf("%+v %+v", s, s.Result)
	}
	for _, s := range p.runs() {
		if s.Result == nil || s.About.Kind == job.KindTask && (s.Result.Code != "SUCCESS" || s.Worker != "b" && s.About.Task != "a") {
			t.Errorf("%+v %+v", s, s.Result)
		}
	}
	if n := b.attempts(); n == 0 {
		t.Error("the other worker made nothing")
	}
	if left, _ := filepath.Glob(filepath.Join(b.home, ".local/share/relay-fleet/checkouts/*")); len(left) != 1 {
		t.Errorf("checkouts: %q", left)
	}
	if left, _ := filepath.Glob(filepath.Join(b.home, ".local/state/relay/checkouts/*/*")); len(left) > 1 {
		t.Errorf("kept: %q", left)
	}
	if *update {
		p.record("pipeline", id)
	}
	fleet := callsBy(t, log)
	var cost struct{ Lines []struct{ ID string } }
	if err := json.Unmarshal(p.relay("fleet", "cost", "--json"), &cost); err != nil || len(cost.Lines) < 3 {
		t.Errorf("%+v %v", cost, err)
	}

	home, clone := p.home("alone"), filepath.Join(p.dir, "clone")
	p.own("alone")
	p.command(home, "git", "clone", "-q", p.remote, clone)
	p.command(home, "git", "-C", clone, "reset", "-q", "--hard", "tasks")
	p.command(home, filepath.Join(*bin, "relay"), "-C", clone, "pipeline", "run", "--parallel", "2")
	both := callsBy(t, log)
	for call, n := range both {
		if n != 2*fleet[call] {
			t.Errorf("%s: %d calls by the fleet, %d by one machine", call, fleet[call], n-fleet[call])
		}
	}
	if len(both) != 8 {
		t.Errorf("%v", both)
	}
	tree := func(ref string) string {
		return string(p.command(home, "git", "-C", clone, "ls-tree", "-r", ref, "src"))
	}
	if local, remote := tree("HEAD"), tree("origin/main"); local != remote && tree("FETCH_HEAD") != local {
		t.Errorf("%s\n%s", local, remote)
	}
	p.private()
}

// The worker on which a result joins is killed: once while the joined tree is validated, and once after it has landed and before
// anybody was told. The other one goes on each time, each task lands once, and no call of a model is made again.
func TestKilledWhileJoining(t *testing.T) {
	if *bin == "" || *model == "" {
		t.Skip("it needs the built programs: make fleet-test")
	}
	p := newPlace(t)
	log := p.diamond()
	seed, home := filepath.Join(p.dir, "seed"), filepath.Join(p.dir, "home-operator")
	list, err := os.ReadFile(filepath.Join(seed, "prd.json"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(seed, "prd.json"), strings.Replace(string(list), "test -e src/a.txt", "sleep "+p.mark, 1))
	p.command(home, "git", "-C", seed, "commit", "-q", "-a", "-m", "slow")
	p.command(home, "git", "-C", seed, "push", "-q", p.remote, "main")
	p.serve()
	workers := []*machine{p.keyed("a", "--join"), p.keyed("b", "--join")}
	id := p.ask("pipeline", "--repo", p.remote, "--key", "p")
	at := func() *machine {
		for _, w := range workers {
			if w.attempts() > 0 {
				return w
			}
		}
		return nil
	}
	p.until("the first result is validated as it joins", func() bool { return at() != nil && len(p.processes()) > 0 })
	first := at()
	other := workers[0]
	if first == other {
		other = workers[1]
	}
	write(t, other.hold, "")
	first.kill()
	p.until("it has landed by the other one", func() bool { _, err := os.Stat(other.hold + ".now"); return err == nil })
	other.kill()
	first.start("--env", "ANTHROPIC_API_KEY")
	if s := p.result(id); s.Result == nil || s.Result.Code != "done" || s.Result.ExitCode != 0 {
		t.Fatalf("%+v %+v", s, s.Result)
	}
	calls := callsBy(t, log)
	for call, n := range calls {
		if n != 1 {
			t.Errorf("%s: %d calls", call, n)
		}
	}
	if len(calls) != 8 {
		t.Errorf("%v", calls)
	}
	subjects := string(p.command(p.dir, "git", "-C", p.remote, "log", "--format=%s", "main"))
	for _, task := range []string{"a", "b", "c", "d"} {
		if strings.Count(subjects, "Title of "+task+"\n") != 1 {
			t.Errorf("%s", subjects)
		}
	}
	p.private()
}

// callsBy are the calls that came to the model, by task and role.
func callsBy(t *testing.T, log string) map[string]int {
	t.Helper()
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]int{}
	for line := range bytes.Lines(b) {
		if m := taskTitle.FindSubmatch(line); m != nil {
			role := "review"
			if bytes.Contains(line, []byte("approach")) {
				role = "plan"
			}
			by[string(m[1])+" "+role]++
		}
	}
	return by
}

var taskTitle = regexp.MustCompile(`Title of ([a-d])\b`)

// diamond gives the repository four tasks, two of which can be made at the same time, and a model that writes down each call.
func (p *place) diamond() (log string) {
	p.t.Helper()
	seed, home := filepath.Join(p.dir, "seed"), filepath.Join(p.dir, "home-operator")
	log = filepath.Join(p.dir, "model.log")
	write(p.t, filepath.Join(p.dir, "model.json"), `{"anthropic": [
{"match": "approach", "times": -1, "text": "{\"approach\": \"write it\", \"steps\": [], \"checks\": [], \"risks\": [], \"question\": \"\"}"},
{"times": -1, "text": "{\"summary\": \"looked\", \"findings\": []}"}]}`)
	at := filepath.Join(p.dir, "model.at")
	p.start(p.dir, *model, "-script", filepath.Join(p.dir, "model.json"), "-log", log, "-addr-file", at, "-life", "10m")
	p.until("the model answers", func() bool { b, _ := os.ReadFile(at); p.modelAt = string(b); return len(b) > 0 })
	p.extra = append(p.extra, "ANTHROPIC_API_KEY=none")
	write(p.t, filepath.Join(seed, "driver.sh"), `#!/bin/sh
task=$(sed -n 's/.*"task_id":"\([a-d]\)".*/\1/p' "$RELAY_TASK_PATH")
case $(cat "$RELAY_TASK_PATH") in
*'"step":"cleanup"'*) echo '{"summary": "done", "memory": "", "findings": [], "notes": []}' >"$RELAY_OUTPUT_PATH"; exit ;;
esac
case $task in b | c) sleep `+p.mark+` ;; esac
echo canary >src/$task.txt
echo '{"summary": "done", "files_intended": [], "commands_ran": [], "notes": []}' >"$RELAY_OUTPUT_PATH"
`)
	write(p.t, filepath.Join(seed, "prd.json"), `{"tasks": [{"id": "a", "title": "Title of a", "validation": {"command": "test -e src/a.txt"}},
{"id": "b", "title": "Title of b", "depends_on": ["a"], "validation": {"command": "test -e src/b.txt"}},
{"id": "c", "title": "Title of c", "depends_on": ["a"], "validation": {"command": "test -e src/c.txt"}},
{"id": "d", "title": "Title of d", "depends_on": ["b", "c"], "validation": {"command": "test -e src/b.txt && test -e src/c.txt && test -e src/d.txt"}}]}`)
	write(p.t, filepath.Join(seed, "relay.config.json"), `{"version": "1.0", "orchestrator": {"provider": "claude"}, "models": {"orchestrator_model": "claude-sonnet-4-5"}, "builder": {"default_mode": "external",
"external": {"command": "./driver.sh", "args": [], "timeout_seconds": 60, "output_file": "BUILDER_RESULT.json"}},
"pipeline": {"plan": {"provider": "claude"}, "review": {"provider": "claude", "fallback": []}, "code": {"builder": "external", "fallback": []}, "cleanup": {"builder": "external"}}}`)
	p.command(home, "git", "-C", seed, "add", "-A")
	p.command(home, "git", "-C", seed, "commit", "-q", "-m", "tasks")
	p.command(home, "git", "-C", seed, "tag", "tasks")
	p.command(home, "git", "-C", seed, "push", "-q", p.remote, "main", "tasks")
	p.own("operator")
	p.agree()
	return log
}

// own gives a home the model's address and the key with which all sign.
func (p *place) own(name string) {
	p.t.Helper()
	home := filepath.Join(p.dir, "home-"+name)
	write(p.t, filepath.Join(home, ".config/relay/config.json"), `{"plugins": {"claude": {"transport": "api", "base_url": "http://`+p.modelAt+`"}}}`)
	own := filepath.Join(home, ".local/state/relay/attest")
	if err := errors.Join(os.MkdirAll(own, 0o700), os.Chmod(filepath.Join(home, ".config/relay"), 0o700), os.Chmod(filepath.Join(home, ".config/relay/config.json"), 0o600)); err != nil {
		p.t.Fatal(err)
	}
	key := filepath.Join(p.dir, "key")
	if _, err := os.Stat(key); err != nil {
		p.command(p.dir, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "relay", "-f", key)
	}
	for from, to := range map[string][2]string{"key": {"key"}, "key.pub": {"signers", `relay namespaces="relay-attestation" `}} {
		b, err := os.ReadFile(filepath.Join(p.dir, from))
		b = append([]byte(to[1]), b...)
		if err = errors.Join(err, os.WriteFile(filepath.Join(own, to[0]), b, 0o600)); err != nil {
			p.t.Fatal(err)
		}
	}
}

// keyed is a worker that can hold back the end of a command with a flag.
func (p *place) keyed(name, flag string) *machine {
	p.t.Helper()
	w := p.machine(name)
	p.own(name)
	write(p.t, w.program, fmt.Sprintf(`#!/bin/sh
case "$*" in *%[4]s*) ;; *) exec %[3]s/relay "$@" ;; esac
echo "$@" >>%[1]s
%[3]s/relay "$@"
rc=$?
[ -e %[2]s ] || exit $rc
touch %[2]s.now
exec sleep 60
`, w.log, w.hold, *bin, flag))
	w.start("--env", "ANTHROPIC_API_KEY")
	return w
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
