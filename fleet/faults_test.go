package main

import (
	"bufio"
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
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

// Whatever breaks beside it, a run, a loop or a pipeline that was asked for ends, each of its changes lands once, and is paid for once for
// each attempt that was cut off.
//
// The seed alone decides which faults strike in a round, when, where and for how long: -seed S -from R repeats round R.
func TestFaults(t *testing.T) {
	if *bin == "" || *model == "" {
		t.Skip("it needs the built programs: make fleet-test")
	}
	f := newField(t, 3, 4)
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
			kind := []string{job.KindPipeline, job.KindLoop, job.KindRun}[min(i, 2)]
			more := []string{"--goal", "canary " + key + "."}
			switch kind {
			case job.KindPipeline:
				more = nil
				f.list(ref, key)
			case job.KindLoop:
				more = append(more, "--max-ticks", "2")
			}
			ids[key] = f.ask(append([]string{kind, "--repo", f.url, "--ref", ref, "--key", key}, more...)...)
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
		took, on := time.Since(last), f.wentOn(ids, last)
		longest = max(longest, on)
		t.Logf("%s; went on %v and ended %v after the last was mended: %s", said, on.Round(100*time.Millisecond), took.Round(100*time.Millisecond), outcome)
		if on > 15*time.Second {
			t.Errorf("it went on %v after the last fault", on)
		}
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
	t.Logf("%d faults in %v: %v; work went on at most %v after the last fault of a round; %d runs, %d calls at the model",
		*faults, time.Since(begun).Round(time.Second), struck, longest.Round(100*time.Millisecond), len(bought), calls)
	f.private()
}

// wentOn is how long after a time a model was called, or something landed, or all had ended.
func (f *field) wentOn(ids map[string]string, after time.Time) time.Duration {
	f.t.Helper()
	took := time.Since(after)
	_, bought := f.bought()
	for _, all := range []map[string][]time.Time{bought, f.landings()} {
		for name, times := range all {
			if !slices.ContainsFunc(slices.Collect(maps.Keys(ids)), func(key string) bool { return strings.HasPrefix(name, key) }) {
				continue
			}
			for _, at := range times {
				if since := at.Sub(after); since > 0 {
					took = min(took, since)
				}
			}
		}
	}
	return took
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

// list puts a new list of three tasks onto a branch, two of which can be made at the same time.
func (f *field) list(ref, key string) {
	f.t.Helper()
	seed, home := filepath.Join(f.dir, "seed"), filepath.Join(f.dir, "home-operator")
	var tasks []string
	for task, on := range map[string]string{"a": "", "b": "", "c": `"a"`} {
		tasks = append(tasks, fmt.Sprintf(`{"id": %[1]q, "title": "canary %[2]s-%[1]s. A piece of work", "depends_on": [%[3]s], "validation": {"command": "test -s src/%[1]s.txt"}}`, task, key, on))
	}
	slices.Sort(tasks)
	write(f.t, filepath.Join(seed, "prd.json"), `{"tasks": [`+strings.Join(tasks, ",\n")+"]}\n")
	f.command(home, "git", "-C", seed, "add", "-A")
	f.command(home, "git", "-C", seed, "commit", "-q", "-m", "list")
	f.command(home, "git", "-C", seed, "push", "-q", "-f", f.remote, "HEAD:"+ref)
	f.command(home, "git", "-C", seed, "reset", "-q", "--hard", "HEAD~")
}

// part is a change that lands: with the calls of a model that have its words, or "" where the next one has them, too.
type part struct {
	name, words string
	calls       int
}

// parts are those of a key, and the code of what has landed all of them.
func parts(key string) ([]part, string) {
	switch key[len(key)-1] {
	case '0':
		return []part{{key + "-a", key + "-a", 2}, {key + "-b", key + "-b", 2}, {key + "-c", key + "-c", 2}}, "done"
	case '1':
		return []part{{key + ".1", "", 0}, {key + ".2", key, 2}}, "max_ticks"
	}
	return []part{{key, key, 1}}, "SUCCESS"
}

// hold is what must be true after each round.
func (f *field) hold(said string, o outcomes, stops bool, struck int) {
	f.t.Helper()
	_, bought := f.bought()
	landed := f.landings()
	for key, code := range o {
		all, whole := parts(key)
		if code != whole && !(stops && slices.ContainsFunc([]string{"STOP_", "stopped", "task_failed"}, func(may string) bool { return strings.HasPrefix(code, may) })) {
			f.t.Errorf("%s: %s is lost: %s", said, key, code)
		}
		for _, p := range all {
			at := landed[p.name]
			if code == whole && len(at) != 1 || len(at) > 1 || code != whole && len(all) == 1 && len(at) > 0 {
				f.t.Errorf("%s: %s landed %d times, and %s ended with %s", said, p.name, len(at), key, code)
			}
			if p.words == "" {
				continue
			}
			// Each fault can cut off what is bought, and what was planned; what is at the remote is bought no more.
			if n := len(bought[p.words]); n > p.calls*(1+2*struck) || n == 0 && code == whole {
				f.t.Errorf("%s: %s was bought %d times", said, p.words, n)
			}
			for _, then := range bought[p.words] {
				if len(at) == 1 && then.After(at[0].Add(2*time.Second)) { // reflogs have seconds
					f.t.Errorf("%s: %s was bought at %v and had landed at %v", said, p.words, then, at[0])
				}
			}
		}
	}
	f.until("no process of a run is left", func() bool { return len(f.left()) == 0 })
}

// bought are the calls that came to the model, and when, by the key in their prompt.
func (f *field) bought() (calls int, by map[string][]time.Time) {
	f.t.Helper()
	by = map[string][]time.Time{}
	file, err := os.Open(f.modelLog)
	if err != nil {
		return 0, by
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		var req struct {
			T    string
			Body json.RawMessage
		}
		if json.Unmarshal(lines.Bytes(), &req) != nil {
			continue
		}
		_, rest, ok := bytes.Cut(req.Body, []byte("canary "))
		if !ok {
			continue
		}
		calls++
		key, _, _ := strings.Cut(string(rest[:min(len(rest), 100)]), ".")
		now := time.Now()
		at, err := time.ParseInLocation("2006-01-02 15:04:05.000", now.Format(time.DateOnly)+" "+req.T, time.Local)
		if err != nil {
			f.t.Fatal(err)
		}
		if at.After(now) {
			at = at.AddDate(0, 0, -1)
		}
		by[key] = append(by[key], at)
	}
	return calls, by
}

var title = regexp.MustCompile(`canary (s[0-9]+-r[0-9]+-0)-([a-c])\.`)

// landings are the times at which each change came to the remote's branches, or, of a task, its result to the remote.
func (f *field) landings() map[string][]time.Time {
	f.t.Helper()
	all := map[string][]time.Time{}
	for _, ref := range f.refs {
		out := f.command(f.dir, "git", "-C", f.remote, "log", "--format=%H %s %(trailers:key=Relay-Key,valueonly,separator=)", ref)
		for line := range strings.Lines(string(out)) {
			words := strings.Fields(line)
			commit, name, ref := words[0], words[len(words)-1], ref
			if m := title.FindStringSubmatch(line); m != nil {
				name, ref = m[1]+"-"+m[2], "refs/relay/results/"+m[1]+"."+m[2]
				commit = ""
			} else if !strings.HasPrefix(name, "s") {
				continue
			} else {
				ref = "refs/heads/" + ref
			}
			moved, err := os.ReadFile(filepath.Join(f.remote, "logs", ref))
			if err != nil {
				f.t.Error(err)
			}
			at := time.Now()
			for m := range strings.Lines(string(moved)) {
				if what, _, _ := strings.Cut(m, "\t"); commit == "" || strings.Fields(what)[1] == commit {
					all := strings.Fields(what)
					sec, _ := strconv.ParseInt(all[len(all)-2], 10, 64)
					at = time.Unix(sec, 0)
					break
				}
			}
			all[name] = append(all[name], at)
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
