package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/paxiom/relay/fleet/internal/job"
	"github.com/paxiom/relay/fleet/internal/runner"
)

func newPlace(t *testing.T) *place {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	programs, err := filepath.Abs(*bin)
	if err != nil {
		t.Fatal(err)
	}
	*bin = programs
	dir := t.TempDir()
	p := &place{t: t, dir: dir, remote: filepath.Join(dir, "remote.git"), address: l.Addr().String(), blobs: filepath.Join(dir, "blobs"),
		mark: "3." + strconv.Itoa(100000+os.Getpid())} // seconds that no other process sleeps
	seed := filepath.Join(dir, "seed")
	task := `{"task_id": "T1", "milestone_id": "M1", "task_kind": "execute", "intent": "Change a line", "scope": {"allowed_globs": ["src/**"], "forbidden_globs": [],
"allow_new_files": false, "allow_lockfile_changes": false}, "diff_limits": {"max_files_touched": 5, "max_lines_changed": 100},
"verification": {"fast": ["pass"], "slow": []}, "builder": {"mode": "external", "max_turns": 4, "instructions": "Change it."}}`
	long := strings.Replace(task, "Change it.", "Take long.", 1)
	ask := strings.Replace(strings.Replace(task, `"execute"`, `"question", "question": {"prompt": "canary, which way?", "choices": ["left", "right"]}`, 1), `"T1"`, `"ask"`, 1)
	for name, text := range map[string]string{
		"plan.json": `{"version": 1, "calls": [{"when": {"prompt": "left-handed"}, "times": -1, "usage": {"input_tokens": 1000, "output_tokens": 100, "cost_microusd": 2500}, "answer": {"output": ` + task + `}},
{"when": {"prompt": "asks-me"}, "times": -1, "usage": {"input_tokens": 1000, "output_tokens": 100, "cost_microusd": 2500}, "answer": {"output": ` + ask + `}},
{"when": {"prompt": "takes-long"}, "times": -1, "usage": {"input_tokens": 1000, "output_tokens": 100, "cost_microusd": 2500}, "answer": {"output": ` + long + `}},
{"times": -1, "usage": {"input_tokens": 1000, "output_tokens": 100, "cost_microusd": 2500}, "answer": {"output": ` + task + `}}]}`,
		"seed/src/a.txt": "a\n",
		"seed/driver.sh": "#!/bin/sh\nlong= && grep -q 'Take long' \"$RELAY_TASK_PATH\" && long=4\nsleep ${long}" + p.mark + "\n" + `grep -q '"task_kind": *"question"' "$RELAY_TASK_PATH" || date +%s%N >src/a.txt` + "\n" +
			`echo '{"summary": "done", "files_intended": ["src/a.txt"], "commands_ran": [], "notes": []}' >"$RELAY_OUTPUT_PATH"` + "\n",
		"seed/relay.config.json": `{"version": "1.0", "orchestrator": {"provider": "replay"}, "builder": {"default_mode": "external",
"external": {"command": "./driver.sh", "args": [], "timeout_seconds": 60, "output_file": "BUILDER_RESULT.json"}},
"plugins": {"replay": {"script": "` + dir + `/plan.json"}}, "verification": {"templates": [{"id": "pass", "cmd": "true", "args": []}]}}`,
	} {
		write(t, filepath.Join(dir, name), text)
	}
	home := p.home("operator")
	for _, args := range [][]string{{"init", "-q", "-b", "main", seed}, {"-C", seed, "add", "-A"}, {"-C", seed, "commit", "-q", "-m", "base"}, {"clone", "-q", "--bare", seed, p.remote}} {
		p.command(home, "git", args...)
	}
	p.agree()
	return p
}

// agree has the operator agree to what the repository's configuration starts.
func (p *place) agree() {
	p.t.Helper()
	var doc struct{ Digest string }
	if err := json.Unmarshal(p.command(filepath.Join(p.dir, "home-operator"), filepath.Join(*bin, "relay"), "-C", filepath.Join(p.dir, "seed"), "trust", "--show", "--json"), &doc); err != nil || doc.Digest == "" {
		p.t.Fatal(doc, err)
	}
	p.trust = doc.Digest
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// cap gives the repository a day with so many calls, and branches that start from there.
func (p *place) cap(calls int) {
	p.t.Helper()
	seed, home := filepath.Join(p.dir, "seed"), filepath.Join(p.dir, "home-operator")
	file := filepath.Join(seed, "relay.config.json")
	old, err := os.ReadFile(file)
	if err != nil {
		p.t.Fatal(err)
	}
	write(p.t, file, strings.Replace(string(old), `{"version"`, fmt.Sprintf(`{"budgets": {"per_day": {"max_calls": %d}}, "version"`, calls), 1))
	p.command(home, "git", "-C", seed, "commit", "-q", "-a", "-m", "caps")
	p.command(home, "git", "-C", seed, "push", "-q", p.remote, "main", "main:b1", "main:b2", "main:b3")
	p.agree()
}

// engine is how a command of the operator reaches the place.
func (p *place) engine() *engine {
	p.t.Helper()
	e := &engine{address: p.address, namespace: "default", blobs: p.blobs, key: p.key}
	if err := e.open(); err != nil {
		p.t.Fatal(err)
	}
	return e
}

func (p *place) home(name string) string {
	home := filepath.Join(p.dir, "home-"+name)
	write(p.t, filepath.Join(home, ".local/share/relay-fleet/worker"), name)
	write(p.t, filepath.Join(home, ".gitconfig"), "[user]\n\tname = A. Person\n\temail = person@example.org\n")
	return home
}

func (p *place) env(home string) []string {
	all := append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + os.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "TEMPORAL_ADDRESS=" + p.address, "RELAY_FLEET_BLOBS=" + p.blobs, "RELAY_TRUST=" + p.trust}, p.extra...)
	if clock := p.clock(home); clock != "" {
		all = append(all, "RELAY_TEST_CLOCK="+clock)
	}
	return all
}

// clock is the file by which the relays of a home that were built for it have another time than the machine.
func (p *place) clock(home string) string {
	file := filepath.Join(p.dir, "clock-"+filepath.Base(home))
	if _, err := os.Stat(file); err != nil {
		return ""
	}
	return file
}

// command runs a program to its end and gives what it prints.
func (p *place) command(home, name string, args ...string) []byte {
	p.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = p.env(home)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		p.t.Fatalf("%s %q: %v\n%s%s", name, args, err, out, &said)
	}
	return out
}

func (p *place) relay(args ...string) []byte {
	p.t.Helper()
	return p.command(filepath.Join(p.dir, "home-operator"), filepath.Join(*bin, "relay"), args...)
}

// start starts a program that ends with the test at the latest.
func (p *place) start(home, name string, args ...string) *exec.Cmd {
	p.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.SysProcAttr, cmd.WaitDelay = p.env(home), runner.Group(syscall.SIGKILL), time.Second
	log, err := os.OpenFile(filepath.Join(p.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		p.t.Fatal(err)
	}
	defer log.Close()
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd
}

func (p *place) serve(more ...string) *exec.Cmd {
	p.t.Helper()
	server := p.start(p.dir, filepath.Join(*bin, "relay-fleet-server"), append([]string{"--db", filepath.Join(p.dir, "server.db"), "--address", p.address}, more...)...)
	p.until("the server answers", func() bool {
		c, err := net.DialTimeout("tcp", p.address, time.Second)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return server
}

func (p *place) until(what string, ok func() bool) {
	p.t.Helper()
	for end := time.Now().Add(3 * time.Minute); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			p.t.Fatalf("not within three minutes: %s\n%s\n%s", what, p.relay("fleet", "status"), p.log())
		}
	}
}

// log is what the programs have said.
func (p *place) log() string {
	b, _ := os.ReadFile(filepath.Join(p.dir, "log"))
	return string(b)
}

// submit asks for a run with a key and gives its id.
func (p *place) submit(key string) string {
	p.t.Helper()
	return p.ask("run", "--repo", p.remote, "--goal", "canary "+key, "--key", key)
}

// ask submits anything and gives its id.
func (p *place) ask(args ...string) string {
	p.t.Helper()
	var doc struct{ ID string }
	out := p.relay(append([]string{"fleet", "submit", "--json"}, args...)...)
	if err := json.Unmarshal(out, &doc); err != nil || doc.ID == "" {
		p.t.Fatalf("%s %v", out, err)
	}
	return doc.ID
}

// refused is a command of the fleet that says no, and why.
func (p *place) refused(why string, args ...string) {
	p.t.Helper()
	cmd := exec.Command(filepath.Join(*bin, "relay"), append([]string{"fleet"}, args...)...)
	cmd.Env = p.env(filepath.Join(p.dir, "home-operator"))
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), why) {
		p.t.Errorf("%q: %v %s", args, err, out)
	}
}

// look is a run as the status shows it.
func (p *place) look(id string) seen {
	p.t.Helper()
	all := p.runs()
	i := slices.IndexFunc(all, func(s seen) bool { return s.ID == id })
	if i < 0 {
		return seen{}
	}
	return all[i]
}

// runs are all of them.
func (p *place) runs() []seen {
	p.t.Helper()
	var doc struct{ Runs []seen }
	if err := json.Unmarshal(p.relay("fleet", "status", "--json"), &doc); err != nil {
		p.t.Fatal(err)
	}
	return doc.Runs
}

// comes waits until a run is in a state.
func (p *place) comes(id, state string) (s seen) {
	p.t.Helper()
	p.until(id+" is "+state, func() bool { s = p.look(id); return s.State == state })
	return s
}

// result waits for the end of a run.
func (p *place) result(id string) (s seen) {
	p.t.Helper()
	p.until("the run has ended", func() bool {
		s = p.look(id)
		return !slices.Contains([]string{"", job.Queued, job.Running, job.Waiting}, s.State)
	})
	return s
}

// landed holds that the remote has so many landed commits, each of a key of its own.
func (p *place) landed(want int) {
	p.t.Helper()
	keys := strings.Fields(string(p.command(p.dir, "git", "-C", p.remote, "log", "--format=%(trailers:key=Relay-Key,valueonly)", "main")))
	slices.Sort(keys)
	if len(slices.Compact(slices.Clone(keys))) != len(keys) || len(keys) != want {
		p.t.Fatalf("landed: %q, and not %d", keys, want)
	}
}

// processes are those of builders at work, in boxes too.
func (p *place) processes() (pids []int) {
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		p.t.Fatal(err)
	}
	for _, f := range all {
		if b, err := os.ReadFile(f); err == nil && strings.HasPrefix(string(b), "sleep\x00") && strings.HasSuffix(string(b), p.mark+"\x00") {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
			pids = append(pids, pid)
		}
	}
	return pids
}

type machine struct {
	p                *place
	home, log, hold  string
	program, records string
	cmd              *exec.Cmd
}

// worker starts one with a home of its own. Its relay is the real one, by a script that counts attempts, has the calls
// recorded, and can hold back the end of a run.
func (p *place) worker(name string) *machine {
	p.t.Helper()
	w := p.machine(name)
	w.start()
	return w
}

func (p *place) machine(name string) *machine {
	p.t.Helper()
	home := p.home(name)
	w := &machine{p: p, home: home, log: filepath.Join(home, "attempts"), hold: filepath.Join(home, "hold"), program: filepath.Join(home, "relay"), records: filepath.Join(home, "records")}
	write(p.t, w.program, fmt.Sprintf(`#!/bin/sh
[ "$1" = run ] || exec %[3]s/relay "$@"
echo "$@" >>%[1]s
[ -e %[2]s ] || exec %[3]s/relay "$@" --record %[4]s/$$
%[3]s/relay "$@" --record %[4]s/$$
touch %[2]s.now
exec sleep 60
`, w.log, w.hold, *bin, w.records))
	return w
}

func (w *machine) start(args ...string) {
	w.p.t.Helper()
	w.cmd = w.p.start(w.home, filepath.Join(*bin, "relay"), append([]string{"fleet", "worker", "--relay", w.program}, args...)...)
}

func (w *machine) kill() {
	if err := w.cmd.Process.Kill(); err != nil {
		w.p.t.Fatal(err)
	}
	_ = w.cmd.Wait()
}

// attempts is how often a run was begun here.
func (w *machine) attempts() int {
	b, _ := os.ReadFile(w.log)
	return bytes.Count(b, []byte("\n"))
}

// running is how many runs are under way here.
func (w *machine) running() int {
	parents := map[string]string{}
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err == nil && bytes.HasPrefix(line, []byte(filepath.Join(*bin, "relay")+"\x00run\x00")) && bytes.Contains(line, []byte(w.records+"/")) {
			parents[filepath.Base(dir)] = strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))[1]
		}
	}
	n := len(parents)
	for _, parent := range parents {
		if parents[parent] != "" { // it is about to become another program
			n--
		}
	}
	return n
}

// calls is how many calls of a model have ended here, as relay recorded them.
func (w *machine) calls() int {
	all, _ := filepath.Glob(filepath.Join(w.records, "*", "*.json"))
	return len(all)
}
