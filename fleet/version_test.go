package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/paxiom/relay/fleet/internal/runner"
)

// Workers of two versions side by side: a run that was submitted under the first is finished there, what is submitted after the
// second was made current is made by that, and the first can then be ended. What waits for a version that no worker has is
// said, and moved by the command that is named.
func TestVersions(t *testing.T) {
	if *bin == "" {
		t.Skip("it needs the built programs: make fleet-test")
	}
	p := newPlace(t)
	p.branches("b1", "b2", "b3")
	p.serve()
	one, two := p.version("v1"), p.version("v2")
	old := p.machine("old")
	old.startOf(one)
	p.until("the first version is current", func() bool { return strings.Contains(p.doctor(), "version v1 (current): 1 worker, 0 runs\n") })
	run := func(key, ref string) string {
		return p.ask("run", "--repo", p.remote, "--goal", "canary "+key, "--key", key, "--ref", ref)
	}
	asks, behind := run("asks-me", "b1"), run("takes-long", "main")
	p.comes(asks, "waiting")
	p.until("the builder is at work", func() bool { return len(p.processes()) > 0 })

	next := p.machine("next")
	next.startOf(two)
	p.until("the second version has a worker", func() bool {
		return strings.Contains(p.doctor(), "version v2: 1 worker, 0 runs: its workers can be ended\n")
	})
	p.fleet(two, "use")
	id := run("new", "b2")
	if s := p.result(id); s.Result == nil || s.Result.Code != "SUCCESS" || s.Worker != "next" {
		t.Errorf("%+v", s)
	}
	if s := p.look(behind); s.Version != p.named("v1") {
		t.Errorf("%+v", s)
	}
	// The answer and the run after it are the first version's, although the other one has the repository and is free.
	p.relay("fleet", "stop", behind)
	p.result(behind)
	p.fleet(two, "answer", asks, "canary, left-handed")
	if s := p.result(asks); s.Result == nil || s.Result.Code != "SUCCESS" || s.Worker != "old" {
		t.Errorf("%+v", s)
	}
	p.until("the first version is drained", func() bool {
		return strings.Contains(p.doctor(), "version v1: 1 worker, 0 runs: its workers can be ended\n")
	})

	// A version whose workers are gone.
	p.fleet(one, "use", p.named("v1"))
	asks = run("asks-me-again", "b3")
	p.comes(asks, "waiting")
	old.kill()
	p.until("it is said that no worker has the version", func() bool {
		return strings.Contains(string(p.relay("fleet", "status")), "waits for version "+p.named("v1")+", which no worker has")
	})
	if text := p.doctor(); !strings.Contains(text, "`relay fleet use` one of v2)") || strings.Contains(text, "can be ended") {
		t.Error(text)
	}
	p.fleet(two, "use")
	p.refused("`relay fleet use "+p.named("v2")+" --move`", "doctor")
	p.refused("no worker has version v1; the versions of those that are there: "+p.named("v2")+"\n  fix: start one of v1", "use", "v1")
	old.startOf(two) // the question is in its checkout
	if text := string(p.fleet(two, "use", p.named("v2"), "--move")); !strings.Contains(text, "moved to it, since no worker has their version: 1\n") {
		t.Error(text)
	}
	p.fleet(two, "answer", asks, "canary, left-handed")
	if s := p.result(asks); s.Result == nil || s.Result.Code != "SUCCESS" || s.Worker != "old" {
		t.Errorf("%+v", s)
	}
	p.private()
}

// On a server that has no versions of workers, runs are made as ever, and what versions are needed for says so.
func TestServerWithoutVersions(t *testing.T) {
	if *bin == "" {
		t.Skip("it needs the built programs: make fleet-test")
	}
	p := newPlace(t)
	p.serve("--without-versions")
	p.worker("a")
	if s := p.result(p.submit("one")); s.Result == nil || s.Result.Code != "SUCCESS" || s.Version != "" {
		t.Errorf("%+v", s)
	}
	if text := string(p.relay("fleet", "doctor")); !strings.Contains(text, "ok    the server has no versions of workers") {
		t.Error(text)
	}
	p.refused("1.29.1", "use")
}

// One machine's program is replaced: what the version before left is gone on with by itself.
func TestUpgrade(t *testing.T) {
	if *bin == "" {
		t.Skip("it needs the built programs: make fleet-test")
	}
	p := newPlace(t)
	m := p.machine("one")
	up := func(program string) {
		said := strings.Count(p.log(), "1 at a time")
		m.cmd = p.start(m.home, program, "up", "--relay", m.program, "--db", filepath.Join(p.dir, "server.db"))
		p.until("the worker waits for runs", func() bool { return strings.Count(p.log(), "1 at a time") > said })
	}
	one, two := p.version("v1"), p.version("v2")
	up(one)
	id := p.submit("asks-me")
	behind := p.submit("behind")
	p.comes(id, "waiting")
	if err := m.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = m.cmd.Wait()
	up(two)
	p.fleet(two, "answer", id, "canary, left-handed")
	for _, id := range []string{id, behind} {
		if s := p.result(id); s.Result == nil || s.Result.Code != "SUCCESS" {
			t.Errorf("%+v", s)
		}
	}
}

// version builds relay-fleet as of a version.
func (p *place) version(name string) string {
	p.t.Helper()
	program := filepath.Join(p.dir, name, "relay-fleet")
	cmd := exec.Command("go", "build", "-ldflags=-s -w -X main.version="+name, "-o", program, ".")
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("%s %v", out, err)
	}
	for _, other := range []string{"relay", "relay-fleet-server"} {
		if err := os.Symlink(filepath.Join(*bin, other), filepath.Join(p.dir, name, other)); err != nil {
			p.t.Fatal(err)
		}
	}
	return program
}

// fleet types a command into a version of the fleet.
func (p *place) fleet(program string, args ...string) []byte {
	p.t.Helper()
	return p.command(filepath.Join(p.dir, "home-operator"), program, args...)
}

// doctor is what it says, whatever it finds.
func (p *place) doctor() string {
	cmd := exec.Command(filepath.Join(*bin, "relay"), "fleet", "doctor")
	cmd.Env = p.env(filepath.Join(p.dir, "home-operator"))
	out, _ := cmd.CombinedOutput()
	return strings.ReplaceAll(string(out), p.named(""), "")
}

// named is a version of relay-fleet together with that of the relay here.
func (p *place) named(version string) string {
	p.t.Helper()
	relay, err := runner.RelayVersion(filepath.Join(*bin, "relay"))
	if err != nil {
		p.t.Fatal(err)
	}
	return version + "+relay-" + relay
}

func (w *machine) startOf(program string) {
	w.p.t.Helper()
	w.cmd = w.p.start(w.home, program, "worker", "--relay", w.program)
}
