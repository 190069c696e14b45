package main

import (
	"bytes"
	"debug/buildinfo"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/paxiom/relay/fleet/internal/job"
)

var (
	model  = flag.String("model", "", "the program fakemodel")
	faults = flag.Int("faults", 6, "strike so many times in TestFaults")
	seed   = flag.Uint64("seed", 1, "of what strikes when in TestFaults")
	from   = flag.Int("from", 1, "begin with this round of the seed")
	only   = flag.String("only", "", "strike with this fault alone")
)

// fault is something that breaks, for a while.
type fault struct {
	name   string
	strike func(f *field, w *post) (heal func())
	stops  bool // a run may end by it: relay says that it stopped, and the fleet passes that on
}

// Whatever breaks beside it, a run that was asked for ends, lands once, and is paid for once for each attempt that was cut off.
//
// The seed alone decides which faults strike in a round, when, where and for how long: -seed S -from R repeats round R.
func TestFaults(t *testing.T) {
	if *bin == "" || *model == "" {
		t.Skip("it needs the built programs: make fleet-test")
	}
	f := newField(t, 3, 3)
	all := []fault{
		{name: "kill worker", strike: func(f *field, w *post) func() { w.kill(); return w.start }},
		{name: "kill server", strike: func(f *field, _ *post) func() { f.stopServer(); return f.startServer }},
		{name: "kill relay", strike: func(f *field, w *post) func() { w.signal(w.relays(), syscall.SIGKILL); return func() {} }},
		{name: "kill relay as it lands", strike: func(f *field, w *post) func() { w.signal(w.lands(4*time.Second), syscall.SIGKILL); return func() {} }},
		{name: "kill box", stops: true, strike: func(f *field, w *post) func() { w.signal(w.boxes(), syscall.SIGKILL); return func() {} }},
		{name: "cut worker from server", strike: func(f *field, w *post) func() { w.link.sever(); return func() { w.link.heal(f.gone()) } }},
		{name: "cut all from git", strike: func(f *field, _ *post) func() { f.git.sever(); return func() { f.git.heal(f.gone()) } }},
		{name: "cut all from model", stops: true, strike: func(f *field, _ *post) func() { f.asked.sever(); return func() { f.asked.heal(f.gone()) } }},
		{name: "worker freezes", strike: func(f *field, w *post) func() { return w.freeze(w.pids()) }},
		{name: "machine freezes", strike: func(f *field, w *post) func() { return w.freeze(w.all()) }},
		{name: "disk full", stops: true, strike: func(f *field, w *post) func() { return w.fill() }},
	}
	if built, err := buildinfo.ReadFile(filepath.Join(*bin, "relay")); err == nil && strings.Contains(built.String(), "relaytest") {
		for _, ahead := range []string{"1h", "-1h"} {
			all = append(all, fault{name: "clock off by " + ahead, strike: func(_ *field, w *post) func() { w.setClock(ahead); return func() { w.setClock("0s") } }})
		}
	}
	struck, begun := map[string]int{}, time.Now()
	longest := time.Duration(0)
	for round, n := *from, 0; n < *faults; round++ {
		rnd := rand.New(rand.NewPCG(*seed, uint64(round)))
		f.toss = rnd.Uint64()
		type planned struct {
			fault
			w         *post
			at, until time.Duration
		}
		var plan []planned
		for range min(1+rnd.IntN(3), *faults-n) {
			p := planned{fault: all[rnd.IntN(len(all))], w: f.posts[rnd.IntN(len(f.posts))], at: time.Duration(rnd.Int64N(int64(3 * time.Second)))}
			p.until = p.at + 100*time.Millisecond + time.Duration(rnd.Int64N(int64(9*time.Second)))
			if *only != "" {
				p.fault = all[slices.IndexFunc(all, func(o fault) bool { return o.name == *only })]
			}
			plan = append(plan, p)
		}
		said := fmt.Sprintf("seed %d round %d:", *seed, round)
		ids := map[string]string{}
		for i, ref := range f.refs {
			key := fmt.Sprintf("s%d-r%d-%d", *seed, round, i)
			ids[key] = f.ask("run", "--repo", f.url, "--ref", ref, "--goal", "canary "+key+".", "--key", key)
		}
		var under sync.WaitGroup
		at, stops := time.Now(), false
		var last time.Time
		for _, p := range plan {
			said += fmt.Sprintf(" [%s, worker %s, %v to %v]", p.name, p.w.name, p.at.Round(time.Millisecond), p.until.Round(time.Millisecond))
			struck[p.name]++
			n++
			stops = stops || p.stops
			if healed := at.Add(p.until); healed.After(last) {
				last = healed
			}
			under.Go(func() {
				time.Sleep(time.Until(at.Add(p.at)))
				heal := p.strike(f, p.w)
				time.Sleep(time.Until(at.Add(p.until)))
				heal()
			})
		}
		under.Wait()
		outcome := f.ended(ids)
		took := time.Since(last)
		longest = max(longest, took)
		t.Logf("%s; ended %v after the last was mended: %s", said, took.Round(100*time.Millisecond), outcome)
		f.hold(said, outcome, stops, len(plan))
		if t.Failed() {
			for key, id := range ids {
				if s := f.wait(id); s.Result != nil {
					said, err := f.engine().store().Get(s.Result.Report)
					t.Logf("%s: %+v\n%s %v", key, s.Result, said, err)
				}
			}
			t.Fatalf("repeat it with -seed %d -from %d\n%s", *seed, round, f.tail())
		}
	}
	calls, bought := f.bought()
	t.Logf("%d faults in %v: %v; the last run ended at most %v after the last fault of its round; %d runs, %d calls at the model",
		*faults, time.Since(begun).Round(time.Second), struck, longest.Round(100*time.Millisecond), len(bought), calls)
	f.private()
}

// outcomes are the codes by key, and what was said of those that have none.
type outcomes map[string]string

func (o outcomes) String() string {
	var all []string
	for k, v := range o {
		all = append(all, k+" "+v)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// hold is what must be true after each round.
func (f *field) hold(said string, o outcomes, stops bool, struck int) {
	f.t.Helper()
	_, bought := f.bought()
	landed := f.landings()
	for key, code := range o {
		switch n := len(landed[key]); {
		case code == "SUCCESS" && n != 1:
			f.t.Errorf("%s: %s landed %d times", said, key, n)
		case code != "SUCCESS" && n != 0:
			f.t.Errorf("%s: %s landed, and ended with %s", said, key, code)
		case code != "SUCCESS" && !(stops && strings.HasPrefix(code, "STOP_")):
			f.t.Errorf("%s: %s is lost: %s", said, key, code)
		}
		// Each fault can cut off one call and one plan; what has landed is bought no more.
		if n := len(bought[key]); n > 1+2*struck || n == 0 {
			f.t.Errorf("%s: %s was bought %d times", said, key, n)
		}
		if len(landed[key]) == 1 {
			for _, at := range bought[key] {
				if at.After(landed[key][0].Add(2 * time.Second)) { // reflogs have seconds
					f.t.Errorf("%s: %s was bought at %v and had landed at %v", said, key, at, landed[key][0])
				}
			}
		}
	}
	f.until("no process of a run is left", func() bool { return len(f.left()) == 0 })
}

// landings are the times at which each key came to the remote's branches.
func (f *field) landings() map[string][]time.Time {
	f.t.Helper()
	all := map[string][]time.Time{}
	for _, ref := range f.refs {
		out := f.command(f.dir, "git", "-C", f.remote, "log", "--format=%H %(trailers:key=Relay-Key,valueonly,separator=)", ref)
		moved := f.command(f.dir, "git", "-C", f.remote, "log", "-g", "--date=unix", "--format=%H %gd", ref)
		for line := range strings.Lines(string(out)) {
			commit, key, _ := strings.Cut(strings.TrimSpace(line), " ")
			if key == "" {
				continue
			}
			at := time.Unix(0, 0)
			for m := range bytes.Lines(moved) {
				if rest, ok := bytes.CutPrefix(m, []byte(commit+" ")); ok {
					var sec int64
					if _, err := fmt.Sscanf(string(rest[bytes.LastIndexByte(rest, '{')+1:]), "%d", &sec); err == nil {
						at = time.Unix(sec, 0)
					}
				}
			}
			all[key] = append(all[key], at)
		}
	}
	return all
}

// ended waits for the end of each run.
func (f *field) ended(ids map[string]string) outcomes {
	f.t.Helper()
	all := outcomes{}
	for key, id := range ids {
		all[key] = f.code(id)
	}
	return all
}

// code is how a run ended, or the text of its error.
func (f *field) code(id string) string {
	f.t.Helper()
	s := f.wait(id)
	switch {
	case s.Result != nil:
		return s.Result.Code
	case strings.HasPrefix(s.Error, "blob "):
		b, err := f.engine().store().Get(strings.TrimPrefix(s.Error, "blob "))
		return fmt.Sprintf("%s: %s %v", s.State, b, err)
	case s.State == job.Running:
		return "not ended"
	}
	return s.State + " " + s.Error
}
