package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/paxiom/relay/fleet/internal/job"
)

// field is a place whose machines talk by links that can be cut: to the server each by its own, to git and to the model by one.
type field struct {
	*place
	url        string
	refs       []string
	posts      []*post
	git, asked *link
	modelLog   string
	client     client.Client
	toss       uint64

	mu     sync.Mutex
	server *exec.Cmd
	down   int // faults that keep the server down
}

// post is a worker with a home and a disk of its own.
type post struct {
	f          *field
	name, home string
	link       *link
	small      bool // its home is a disk of its own
	mu         sync.Mutex
	cmd        *exec.Cmd
	down       int
}

func newField(t *testing.T, workers, branches int) *field {
	t.Helper()
	p := newPlace(t)
	f := &field{place: p, modelLog: filepath.Join(p.dir, "model.log")}
	t.Setenv("TEMPORAL_API_KEY", "")
	p.mark = "0.6" + strconv.Itoa(1000000+os.Getpid())
	f.model()
	f.repository(branches)
	daemon := free(t)
	f.start(p.dir, filepath.Join(strings.TrimSpace(string(p.command(p.dir, "git", "--exec-path"))), "git-daemon"),
		"--base-path="+p.dir, "--export-all", "--enable=receive-pack", "--listen=127.0.0.1", "--port="+daemon, "--reuseaddr")
	f.git = newLink(t, "127.0.0.1:"+daemon)
	f.url = "git://" + f.git.at() + "/remote.git"
	f.startServer()
	var err error
	f.until("the server has its queues", func() bool { f.client, err = f.engine().dial(context.Background()); return err == nil })
	t.Cleanup(f.client.Close)
	p.extra = append(p.extra, "ANTHROPIC_API_KEY=none")
	for i := range workers {
		f.posts = append(f.posts, f.post(string(rune('a'+i))))
	}
	return f
}

func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// model starts the model server, which writes down each call.
func (f *field) model() {
	f.t.Helper()
	task := `{"task_id": "T1", "milestone_id": "M1", "task_kind": "execute", "intent": "Change a line", "scope": {"allowed_globs": ["src/**"], "forbidden_globs": [],
"allow_new_files": false, "allow_lockfile_changes": false}, "diff_limits": {"max_files_touched": 5, "max_lines_changed": 100},
"verification": {"fast": ["pass"], "slow": []}, "builder": {"mode": "external", "max_turns": 4, "instructions": "Change it."}}`
	write(f.t, filepath.Join(f.dir, "model.json"), `{"anthropic": [{"not_match": "piece of work", "times": -1, "delay_ms": 300, "tool": {"name": "answer", "input": `+task+`}},
{"match": "approach", "times": -1, "delay_ms": 300, "text": "{\"approach\": \"write it\", \"steps\": [], \"checks\": [], \"risks\": [], \"question\": \"\"}"},
{"times": -1, "delay_ms": 300, "text": "{\"summary\": \"looked\", \"findings\": []}"}]}`)
	at := filepath.Join(f.dir, "model.at")
	f.start(f.dir, *model, "-script", filepath.Join(f.dir, "model.json"), "-log", f.modelLog, "-addr-file", at, "-life", "5h")
	var addr []byte
	f.until("the model answers", func() bool { addr, _ = os.ReadFile(at); return len(addr) > 0 })
	f.asked = newLink(f.t, string(addr))
}

// repository has the branches of the remote plan with the model and build with a script.
func (f *field) repository(branches int) {
	f.t.Helper()
	seed, home := filepath.Join(f.dir, "seed"), filepath.Join(f.dir, "home-operator")
	write(f.t, filepath.Join(seed, "driver.sh"), `#!/bin/sh
case $(cat "$RELAY_TASK_PATH") in
*'"step":"cleanup"'*) echo '{"summary": "done", "memory": "", "findings": [], "notes": []}' >"$RELAY_OUTPUT_PATH"; exit ;;
esac
file=$(sed -n 's/.*"task_id":"\([a-c]\)".*/\1/p' "$RELAY_TASK_PATH")
sleep `+f.mark+`
date +%s%N >src/${file:-run}.txt
echo '{"summary": "done", "files_intended": [], "commands_ran": [], "notes": []}' >"$RELAY_OUTPUT_PATH"
`)
	write(f.t, filepath.Join(seed, "src/run.txt"), "a\n")
	write(f.t, filepath.Join(seed, "relay.config.json"), `{"version": "1.0", "orchestrator": {"provider": "claude"}, "models": {"orchestrator_model": "claude-sonnet-4-5"},
"builder": {"default_mode": "external", "external": {"command": "./driver.sh", "args": [], "timeout_seconds": 60, "output_file": "BUILDER_RESULT.json"}},
"pipeline": {"plan": {"provider": "claude"}, "review": {"provider": "claude", "fallback": []}, "code": {"builder": "external", "fallback": []}, "cleanup": {"builder": "external"}},
"verification": {"templates": [{"id": "pass", "cmd": "true", "args": []}]}}`)
	f.command(home, "git", "-C", seed, "add", "-A")
	f.command(home, "git", "-C", seed, "commit", "-q", "-m", "field")
	f.command(home, "git", "-C", f.remote, "config", "core.logAllRefUpdates", "always")
	push := []string{"-C", seed, "push", "-q", f.remote, "main"}
	for i := range branches {
		f.refs = append(f.refs, "b"+strconv.Itoa(i))
		push = append(push, "main:b"+strconv.Itoa(i))
	}
	f.command(home, "git", push...)
	f.agree()
}

func (f *field) startServer() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down = max(f.down-1, 0); f.down == 0 {
		f.server = f.serve()
	}
}

func (f *field) stopServer() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down++; f.down == 1 {
		_ = f.server.Process.Kill()
		_ = f.server.Wait()
	}
}

// gone is drawn from the seed: a cut loses the connections of before, or only holds them up.
func (f *field) gone() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.toss = f.toss>>1 | f.toss<<63
	return f.toss&1 == 0
}

func (f *field) post(name string) *post {
	f.t.Helper()
	w := &post{f: f, name: name, home: filepath.Join(f.dir, "home-"+name), link: newLink(f.t, f.address)}
	if err := os.MkdirAll(w.home, 0o755); err != nil {
		f.t.Fatal(err)
	}
	if w.small = syscall.Mount("tmpfs", w.home, "tmpfs", 0, "size=96m,mode=755") == nil; w.small {
		f.t.Cleanup(func() { _ = syscall.Unmount(w.home, syscall.MNT_DETACH) })
	}
	f.home(name)
	write(f.t, filepath.Join(w.home, ".config/relay/config.json"), `{"plugins": {"claude": {"transport": "api", "base_url": "http://`+f.asked.at()+`"}}}`)
	// All have one key to sign with, as machines of one owner may.
	own := filepath.Join(w.home, ".local/state/relay/attest")
	if err := errors.Join(os.MkdirAll(own, 0o700), os.Chmod(filepath.Join(w.home, ".config/relay"), 0o700), os.Chmod(filepath.Join(w.home, ".config/relay/config.json"), 0o600)); err != nil {
		f.t.Fatal(err)
	}
	key := filepath.Join(f.dir, "key")
	if _, err := os.Stat(key); err != nil {
		f.command(f.dir, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "relay", "-f", key)
	}
	for from, to := range map[string][2]string{"key": {"key"}, "key.pub": {"signers", `relay namespaces="relay-attestation" `}} {
		b, err := os.ReadFile(filepath.Join(f.dir, from))
		b = append([]byte(to[1]), b...)
		if err = errors.Join(err, os.WriteFile(filepath.Join(own, to[0]), b, 0o600)); err != nil {
			f.t.Fatal(err)
		}
	}
	w.setClock("0s")
	w.start()
	return w
}

// setClock puts the clock of this machine's relays ahead, where they are built with one.
func (w *post) setClock(ahead string) {
	file := filepath.Join(w.f.dir, "clock-"+filepath.Base(w.home))
	if err := errors.Join(os.WriteFile(file+".new", []byte(ahead), 0o644), os.Rename(file+".new", file)); err != nil {
		w.f.t.Error(err)
	}
}

func (w *post) start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.down = max(w.down-1, 0); w.down == 0 {
		w.cmd = w.f.start(w.home, filepath.Join(*bin, "relay-fleet"), "worker", "--address", w.link.at(), "--env", "ANTHROPIC_API_KEY", "--env", "RELAY_TEST_CLOCK")
	}
}

func (w *post) kill() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.down++; w.down == 1 {
		_ = w.cmd.Process.Kill()
		_ = w.cmd.Wait()
	}
}

func (w *post) pids() []int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.down > 0 {
		return nil
	}
	return []int{w.cmd.Process.Pid}
}

// relays are the commands of relay at work here, boxes what they have begun, and all whatever is here.
func (w *post) relays() []int {
	return w.those(func(x process) bool { return strings.HasPrefix(x.line, filepath.Join(*bin, "relay")+" ") })
}
func (w *post) boxes() []int {
	return w.those(func(x process) bool { return strings.HasPrefix(x.line, "relay: box") })
}
func (w *post) all() []int { return w.those(func(process) bool { return true }) }

func (w *post) those(fit func(process) bool) (pids []int) {
	for _, x := range w.f.processes() {
		if x.home == w.home && fit(x) {
			pids = append(pids, x.pid)
		}
	}
	return pids
}

func (w *post) signal(pids []int, s syscall.Signal) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, s)
	}
}

// lands waits until a branch moves in a checkout here, and gives the relays at work then.
func (w *post) lands(most time.Duration) []int {
	tips := func() (all string) {
		files, _ := filepath.Glob(filepath.Join(w.home, ".local/share/relay-fleet/checkouts/*/.git/refs/heads/*"))
		for _, file := range files {
			tip, _ := os.ReadFile(file)
			all += string(tip)
		}
		return all
	}
	was, pids := tips(), w.relays()
	for end := time.Now().Add(most); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if now := tips(); now != was && len(pids) > 0 {
			return pids
		} else if was = now; len(pids) == 0 || rand.IntN(100) == 0 {
			pids = w.relays()
		}
	}
	return nil
}

// freeze stops processes for a while: whoever waits for them thinks that they are dead.
func (w *post) freeze(pids []int) (heal func()) {
	w.signal(pids, syscall.SIGSTOP)
	return func() { w.signal(pids, syscall.SIGCONT) }
}

// fill takes all that is left of the worker's disk.
func (w *post) fill() (heal func()) {
	if !w.small {
		return func() {}
	}
	big := filepath.Join(w.home, "big")
	if out, err := os.Create(big); err == nil {
		zero := make([]byte, 1<<20)
		for {
			if _, err := out.Write(zero); err != nil {
				break
			}
		}
		out.Close()
	}
	return func() { _ = os.Remove(big) }
}

// process is one that belongs to a home of this field, by its environment or as a child of one that does.
type process struct {
	pid, parent int
	home, line  string
}

func (f *field) processes() (all []process) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	home := map[int]string{}
	for _, d := range dirs {
		line, _ := os.ReadFile(filepath.Join(d, "cmdline"))
		env, _ := os.ReadFile(filepath.Join(d, "environ"))
		stat, err := os.ReadFile(filepath.Join(d, "stat"))
		var x process
		var state string
		if err != nil {
			continue
		}
		if _, err = fmt.Sscan(string(stat[bytes.LastIndexByte(stat, ')')+1:]), &state, &x.parent); err != nil || state == "Z" {
			continue
		}
		x.pid, _ = strconv.Atoi(filepath.Base(d))
		x.line = strings.ReplaceAll(string(line), "\x00", " ")
		if strings.Contains(x.line, f.mark) {
			home[x.pid] = f.dir
		}
		for v := range strings.SplitSeq(string(env), "\x00") {
			if at, ok := strings.CutPrefix(v, "HOME="); ok && strings.HasPrefix(at, f.dir+"/home-") {
				home[x.pid] = at
			}
		}
		all = append(all, x)
	}
	for found := true; found; {
		found = false
		for _, x := range all {
			if home[x.pid] == "" && home[x.parent] != "" {
				home[x.pid], found = home[x.parent], true
			}
		}
	}
	all = slices.DeleteFunc(all, func(x process) bool { return home[x.pid] == "" })
	for i := range all {
		all[i].home = home[all[i].pid]
	}
	return all
}

// left are the processes of runs.
func (f *field) left() []process {
	return slices.DeleteFunc(f.processes(), func(x process) bool { return strings.Contains(x.line, "relay-fleet worker") })
}

// wait waits for the end of a run, also while the server is away.
func (f *field) wait(id string) (s seen) {
	f.t.Helper()
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		var res job.Result
		err := f.client.GetWorkflow(ctx, id, "").Get(ctx, &res)
		cancel()
		if failed := (*temporal.WorkflowExecutionError)(nil); errors.As(err, &failed) {
			s.State, s.Error = "failed", err.Error()
			if app := (*temporal.ApplicationError)(nil); errors.As(err, &app) {
				s.Error = app.Message()
			}
			return s
		} else if err == nil {
			return seen{ID: id, State: "completed", Result: &res}
		}
	}
	return seen{ID: id, State: job.Running}
}

// tail is what the programs said last, and what is left of runs.
func (f *field) tail() string {
	b, _ := os.ReadFile(filepath.Join(f.dir, "log"))
	return fmt.Sprintf("%s\nleft: %+v", b[max(0, len(b)-4000):], f.left())
}
