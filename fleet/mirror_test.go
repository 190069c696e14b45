package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/fleet/internal/job"
)

// Runs of a repository go to the worker that has it, also after that worker was restarted, and although another one is free. One
// that is killed, or has no slot, is replaced by the other at once.
func TestMirror(t *testing.T) {
	if *bin == "" {
		t.Skip("it needs the built programs: make fleet-test")
	}
	p := newPlace(t)
	p.branches("b1", "b2")
	p.serve()
	a, b := p.worker("a"), p.worker("b")
	run := func(key, ref string, more ...string) string {
		return p.ask(append([]string{"run", "--repo", p.remote, "--goal", "canary " + key, "--key", key, "--ref", ref}, more...)...)
	}
	s := p.result(run("first", "main"))
	if s.Mirror != job.None {
		t.Errorf("%+v", s)
	}
	warm, other := a, b
	if s.Worker == "b" {
		warm, other = b, a
	}
	for i, ref := range []string{"main", "b1", "main", "b1", "main"} { // by chance, that is once in 32 times
		if s := p.result(run("again"+ref+string(rune('0'+i)), ref)); s.Result == nil || s.Result.Code != "SUCCESS" || s.Worker != warm.name() || s.Mirror != job.Here {
			t.Errorf("%+v", s)
		}
	}
	warm.kill()
	warm.start()
	p.until("the restarted worker takes runs", func() bool { return strings.Count(p.log(), "waiting for runs") == 3 })
	if s := p.result(run("restarted", "b2")); s.Worker != warm.name() || s.Mirror != job.Here {
		t.Errorf("%+v", s)
	}
	if n := other.attempts(); n != 0 {
		t.Errorf("%d runs on the other one", n)
	}

	// The only slot is taken: the other one makes the second run, at once.
	before := warm.calls()
	long := run("takes-long", "main")
	p.until("the builder is at work", func() bool { return warm.calls() > before && len(p.processes()) > 0 })
	if text := string(p.relay("fleet", "status")); !strings.Contains(text, "takes-long  on "+warm.name()+", which had the repository\n") {
		t.Error(text)
	}
	begun := time.Now()
	id := run("beside", "b1")
	p.until("the other one has it", func() bool { return other.attempts() == 1 })
	if took := time.Since(begun); took > 4*time.Second {
		t.Errorf("it waited %v for a busy worker", took)
	} else {
		t.Logf("it began %v after it was asked for", took)
	}
	if s := p.result(id); s.Worker != other.name() || s.Mirror != job.Busy {
		t.Errorf("%+v", s)
	}
	if text := string(p.relay("fleet", "status")); !strings.Contains(text, "beside  on "+other.name()+", which cloned it: the worker that has it was busy\n") {
		t.Error(text)
	}

	// Killed in the middle of it.
	begun = time.Now()
	warm.kill()
	p.until("the other one has it", func() bool { return other.attempts() == 2 })
	if took := time.Since(begun); took > 9*time.Second {
		t.Errorf("the other one began %v after the worker was killed", took)
	} else {
		t.Logf("the other one began %v after the worker was killed", took)
	}
	if s := p.look(long); s.Attempt != 2 {
		t.Errorf("%+v", s)
	}
	p.relay("fleet", "stop", long)
	if s := p.result(long); s.State != "canceled" {
		t.Errorf("%+v", s)
	}
	// No worker that has it is there.
	other.kill()
	third := p.worker("c")
	begun = time.Now()
	id = run("none", "b2")
	p.until("the third one has it", func() bool { return third.attempts() == 1 })
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("it waited %v for a worker that is gone", took)
	} else {
		t.Logf("without any that has it, it began after %v", took)
	}
	if s := p.result(id); s.Worker != "c" || s.Mirror != job.None {
		t.Errorf("%+v", s)
	}
	p.private()
}

// A worker makes no more at a time than its slots, from whichever queues the runs come, and none waits on a full worker while another one
// is free.
func TestMirrorKeepsSlots(t *testing.T) {
	if *bin == "" {
		t.Skip("it needs the built programs: make fleet-test")
	}
	p := newPlace(t)
	var refs []string
	for i := range 8 {
		refs = append(refs, "b"+string(rune('0'+i)))
	}
	p.branches(refs...)
	p.serve()
	a, b := p.machine("a"), p.worker("b")
	a.start("--slots", "2")
	for _, round := range []string{"one", "two"} {
		var ids []string
		for _, ref := range refs {
			ids = append(ids, p.ask("run", "--repo", p.remote, "--goal", "canary", "--key", round+ref, "--ref", ref))
		}
		most := map[*machine]int{}
		p.until("all have ended", func() bool {
			for w, slots := range map[*machine]int{a: 2, b: 1} {
				n := w.running()
				if most[w] = max(most[w], n); n > slots {
					t.Fatalf("%d at a time on %s, which has %d slots", n, w.name(), slots)
				}
			}
			for _, id := range ids {
				if p.look(id).Result == nil {
					return false
				}
			}
			return true
		})
		if most[a] != 2 || most[b] != 1 {
			t.Errorf("%s: most at a time: %d and %d", round, most[a], most[b])
		}
		for _, id := range ids {
			if s := p.result(id); s.Result.Code != "SUCCESS" {
				t.Errorf("%+v", s)
			}
		}
	}
	t.Logf("%d and %d runs", a.attempts(), b.attempts())
}

// branches gives the remote more of them.
func (p *place) branches(names ...string) {
	p.t.Helper()
	for _, name := range names {
		p.command(p.dir, "git", "-C", p.remote, "branch", name, "main")
	}
}

func (w *machine) name() string { return strings.TrimPrefix(filepath.Base(w.home), "home-") }
