package main

import (
	"bytes"
	"flag"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

var bin = flag.String("bin", "", "the folder with relay, its plugins, relay-fleet and relay-fleet-server")

// place is a fleet on this machine: a server, a bare remote, and workers that share nothing but those and the blobs.
type place struct {
	t                          *testing.T
	dir, remote, address, mark string
	trust                      string
	blobs, key                 string
	modelAt                    string   // address of a model
	extra                      []string // of the environment
}

// A worker is killed in the middle of a run, and another one after the run has landed and before anybody was told: each run
// lands once, and no call is bought that was made for a result. Then a run is stopped.
func TestFleet(t *testing.T) {
	if *bin == "" {
		t.Skip("it needs the built programs: make fleet-test")
	}
	p := newPlace(t)
	p.serve()
	a, b := p.worker("a"), p.worker("b")

	// Killed while its builder is at work: the other one makes the run again.
	id := p.submit("one")
	var first *machine
	p.until("a worker has asked its model", func() bool {
		for _, w := range []*machine{a, b} {
			if w.calls() == 1 {
				first = w
			}
		}
		return first != nil
	})
	other := a
	if first == a {
		other = b
	}
	first.kill()
	run := p.result(id)
	if run.Result == nil || run.Result.Code != "SUCCESS" || run.Result.Earlier {
		t.Fatalf("%+v", run)
	}
	if other.attempts() != 1 || other.calls() != 1 || first.attempts() != 1 || first.calls() != 1 {
		t.Errorf("attempts %d and %d, calls %d and %d", first.attempts(), other.attempts(), first.calls(), other.calls())
	}
	p.landed(1)

	// Killed after its run has landed: the one that was gone comes back, finds the result and buys nothing.
	if err := os.WriteFile(other.hold, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	id = p.submit("two")
	p.until("the run has ended on its worker", func() bool { _, err := os.Stat(other.hold + ".now"); return err == nil })
	p.landed(2)
	other.kill()
	first.start("--signers", filepath.Join(other.home, ".local/state/relay/attest/signers"))
	run = p.result(id)
	if run.Result == nil || run.Result.Code != "SUCCESS" || !run.Result.Earlier {
		t.Fatalf("%+v", run)
	}
	if other.calls() != 2 || first.calls() != 1 {
		t.Errorf("calls %d and %d", first.calls(), other.calls())
	}
	p.landed(2)

	// Asked for again with the same key: nothing is made, and another goal is refused.
	p.submit("two")
	p.refused("is taken", "submit", "run", "--repo", p.remote, "--goal", "another", "--key", "two")
	time.Sleep(2 * time.Second)
	if first.attempts() != 2 {
		t.Errorf("%d attempts", first.attempts())
	}

	// Stopped while the builder is at work, and one that waits behind it before its turn.
	before := first.calls()
	id = p.submit("takes-long")
	queued := p.submit("four")
	p.until("the builder is at work", func() bool { return first.calls() > before && len(p.processes()) > 0 })
	if s := p.look(queued); s.State != "queued" {
		t.Errorf("%+v", s)
	}
	p.relay("fleet", "stop", queued)
	if s := p.result(queued); s.State != "canceled" {
		t.Errorf("%+v", s)
	}
	if len(p.processes()) == 0 {
		t.Error("the run before it has ended, too")
	}
	p.relay("fleet", "stop", id)
	begun := time.Now()
	p.until("no process is left", func() bool { return len(p.processes()) == 0 })
	if took := time.Since(begun); took > 10*time.Second { // the builder would take four times as long
		t.Errorf("stopped after %v", took)
	} else {
		t.Logf("stopped after %v", took)
	}
	if run = p.result(id); run.State != "canceled" {
		t.Errorf("%+v", run)
	}
	p.landed(2)
	first.kill()

	p.private()
}

// private holds that the engine has none of what the runs are about.
func (p *place) private() {
	p.t.Helper()
	for _, f := range []string{"server.db", "server.db-wal"} {
		if b, err := os.ReadFile(filepath.Join(p.dir, f)); err == nil && (bytes.Contains(b, []byte("canary")) || bytes.Contains(b, []byte(p.remote))) {
			p.t.Errorf("%s has what a run is about", f)
		}
	}
}

// A run for a label that no worker has can be stopped, and the next one of its branch is made.
func TestLabelOfNoWorker(t *testing.T) {
	if *bin == "" {
		t.Skip("it needs the built programs: make fleet-test")
	}
	p := newPlace(t)
	p.serve()
	p.worker("a")
	waits := p.ask("run", "--repo", p.remote, "--goal", "canary gpu", "--key", "gpu", "--label", "gpu")
	behind := p.submit("behind")
	p.until("it is said that no worker has the label", func() bool { return strings.Contains(p.doctor(), "`relay fleet worker --label gpu`") })
	p.relay("fleet", "stop", waits)
	if s := p.result(waits); s.State != "canceled" {
		t.Errorf("%+v", s)
	}
	if s := p.result(behind); s.Result == nil || s.Result.Code != "SUCCESS" {
		t.Errorf("%+v", s)
	}
}

// One command is a fleet that can be asked, and when it ends so does its server.
func TestUp(t *testing.T) {
	if *bin == "" {
		t.Skip("it needs the built programs: make fleet-test")
	}
	p := newPlace(t)
	up := p.start(p.home("up"), filepath.Join(*bin, "relay"), "fleet", "up", "--slots", "2", "--db", filepath.Join(p.dir, "server.db"))
	p.until("the worker waits for runs", func() bool {
		said, err := os.ReadFile(filepath.Join(p.dir, "log"))
		if err != nil || strings.Contains(string(said), "error: ") {
			t.Fatalf("%s %v", said, err)
		}
		return strings.Contains(string(said), "2 at a time")
	})
	p.relay("fleet", "doctor")
	p.refused("another server has the database", "up", "--address", "127.0.0.1:"+free(t), "--db", filepath.Join(p.dir, "server.db"))
	if err := up.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = up.Wait()
	p.until("the server has ended", func() bool {
		c, err := net.DialTimeout("tcp", p.address, time.Second)
		if err == nil {
			c.Close()
		}
		return err != nil
	})
}
