package evidence

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/paxiom/relay/verify"
)

const (
	maxLine  = 1 << 12 // what one write to a pipe can hold without being torn
	maxTests = 100_000

	// What all records of a check may take of relay's memory, each with what is noted beside its text.
	maxRecords = 256 << 20
	beside     = 400
)

// reader makes a report from records, one per line: kind, run, and fields, separated by
// tabs.
type reader struct {
	out  verify.Report
	size int                       // of all records
	open map[string]string         // run → its runner, until it ends
	seen map[string]map[string]int // run → test → how often it came up

	// Tests of one name in several folders of a repository are all to run.
	where  map[string]string          // run → its folder
	places map[string]map[string]bool // test → the folders in which it ran

	probed map[string]bool // runners

	// What was seen of tests where their functions returned, beside what their runner says.
	eyes map[string]bool                     // runners of which every test is seen
	saw  map[string]map[string]verify.Status // runner → test → how it ended last
	by   map[string]string                   // test → the runner that named it
}

func newReader() *reader {
	return &reader{out: verify.Report{Tests: map[string]verify.Test{}, Early: map[string]int{}, Runners: map[string]int{}},
		where: map[string]string{}, places: map[string]map[string]bool{}, open: map[string]string{}, seen: map[string]map[string]int{}, probed: map[string]bool{},
		eyes: map[string]bool{}, saw: map[string]map[string]verify.Status{}, by: map[string]string{}}
}

var unescape = strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\r`, "\r")

// address is where an object lies in memory: in a name it is another one in each run. Values
// of 32 bits are shorter.
var address = regexp.MustCompile(`0x[0-9a-f]{9,16}\b`)

// named is a test's name as all runs have it.
func named(field string) string {
	name := unescape.Replace(field)
	if !strings.Contains(name, "0x") {
		return name
	}
	return address.ReplaceAllLiteralString(name, "0x…")
}

func (r *reader) line(line string) {
	if r.full(len(line)) {
		return
	}
	f := strings.Split(line, "\t")
	for len(f) < 5 {
		f = append(f, "")
	}
	run := f[1]
	switch f[0] {
	case "begin":
		if r.seen[run] != nil {
			r.out.Broken = "a run began twice"
			return
		}
		r.open[run], r.seen[run], r.where[run] = f[2], map[string]int{}, f[4]
		r.out.Runners[f[2]]++
	case "end":
		if _, ok := r.open[run]; !ok {
			r.out.Broken = "a run ended that had not begun"
		} else if f[2] != "early" {
			delete(r.open, run)
		}
	case "test":
		r.test(run, verify.Status(f[2]), named(f[3]), unescape.Replace(f[4]))
	case "probe":
		runner, _, _ := strings.Cut(run, "-")
		r.probed[runner] = true
		if f[3] == "ok" {
			r.out.Probes++
		} else if len(r.out.Bad) < maxTests {
			r.out.Bad = append(r.out.Bad, runner+": "+f[2])
		}
	case "eyes":
		runner, _, _ := strings.Cut(run, "-")
		r.eyes[runner], r.probed[runner] = true, true
	case "saw":
		runner, _, _ := strings.Cut(run, "-")
		if r.saw[runner] == nil {
			r.saw[runner] = map[string]verify.Status{}
		}
		if name := named(f[3]); len(r.saw[runner]) < maxTests {
			r.saw[runner][name] = verify.Status(f[2])
		}
	default:
		r.out.Broken = "a record can't be read"
	}
}

// full reports whether relay takes no more of a check, which can write for as long as it runs.
func (r *reader) full(n int) bool {
	if r.size += n + beside; r.size > maxRecords {
		r.out.Broken = "it is too long"
	}
	return r.size > maxRecords
}

// test notes one test. A name that comes up again in one run is another test; in another
// run it is the same one, and the worse end counts.
func (r *reader) test(run string, s verify.Status, name, file string) {
	switch s {
	case verify.Pass, verify.Fail, verify.Skip, verify.Todo, verify.XFail, verify.XPass, verify.Broken:
	default:
		r.out.Broken = "a record can't be read"
		return
	}
	if r.full(len(name)) { // a file of JUnit's has no lines
		return
	}
	seen := r.seen[run]
	r.by[name], _, _ = strings.Cut(run, "-")
	if seen == nil {
		r.out.Broken = "a test of a run that had not begun"
		return
	}
	if seen[name]++; seen[name] > 1 {
		name += " #" + strconv.Itoa(seen[name])
	}
	if s == verify.Pass || s == verify.Fail {
		if r.places[name] == nil {
			r.places[name] = map[string]bool{}
		}
		r.places[name][r.where[run]] = true
	}
	old, ok := r.out.Tests[name]
	if !ok && len(r.out.Tests) >= maxTests {
		r.out.Broken = "there are too many tests"
		return
	}
	if !ok || s == verify.Fail || old.Status != verify.Fail && s == verify.Pass {
		r.out.Tests[name] = verify.Test{Status: s, File: file}
	}
}

func (r *reader) report() verify.Report {
	for _, runner := range slices.Sorted(maps.Keys(r.out.Runners)) {
		if !r.probed[runner] {
			r.out.Unprobed = append(r.out.Unprobed, runner)
		}
	}
	for _, runner := range r.open {
		r.out.Early[runner]++
	}
	for name, in := range r.places {
		if t, ok := r.out.Tests[name]; ok && len(in) > 1 {
			t.Places = len(in)
			r.out.Tests[name] = t
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.by)) {
		runner := r.by[name]
		if r.out.Tests[name].Status != verify.Pass {
			continue
		}
		switch r.saw[runner][name] {
		case verify.Pass:
		case verify.Fail:
			r.out.Bad = append(r.out.Bad, runner+": "+name+" failed, and is told as passed")
		default:
			if r.eyes[runner] {
				r.out.Bad = append(r.out.Bad, runner+": "+name+" is told as passed, and was not run")
			}
		}
	}
	return r.out
}
