package evidence

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

const (
	maxLine  = 1 << 12 // what one write to a pipe can hold without being torn
	maxTests = 100_000
)

// Status is how a test ended.
type Status string

// The ends of a test. Only Pass counts as passed.
const (
	Pass   Status = "pass"
	Fail   Status = "fail"
	Skip   Status = "skip"
	Todo   Status = "todo"
	XFail  Status = "xfail"  // failed, as it was marked to
	XPass  Status = "xpass"  // passed, though it was marked to fail
	Broken Status = "broken" // a file whose tests can't even be listed
)

// Test is one test of a report.
type Test struct {
	Status Status `json:"status"`
	// File is where it lies, relative to the repository; a folder ends in "/"; "" where
	// the runner does not say.
	File string `json:"file,omitempty"`
}

// Report is what the runners of one check said.
type Report struct {
	Tests map[string]Test `json:"tests,omitempty"`
	// Early counts, for each runner, the runs that began and never ended.
	Early map[string]int `json:"early,omitempty"`
	// Runners counts the runs of each runner, Probes the probes that did as they should.
	Runners map[string]int `json:"runners,omitempty"`
	Probes  int            `json:"probes,omitempty"`
	// Unprobed are the runners that ran no probe.
	Unprobed []string `json:"unprobed,omitempty"`
	// Bad are the probes that did not, with the runner before them.
	Bad []string `json:"bad,omitempty"`
	// Rewrote are the files of tests that the run itself changed.
	Rewrote []string `json:"rewrote,omitempty"`
	// Broken says why the report can't be relied on; "" when it can.
	Broken string `json:"broken,omitempty"`
}

// Named reports whether any runner named its tests.
func (r *Report) Named() bool { return r != nil && len(r.Tests) > 0 }

// Passed counts the tests that passed.
func (r *Report) Passed() int {
	n := 0
	for _, t := range r.Tests {
		if t.Status == Pass {
			n++
		}
	}
	return n
}

// reader makes a report from records, one per line: kind, run, and fields, separated by
// tabs.
type reader struct {
	out  Report
	open map[string]string         // run → its runner, until it ends
	seen map[string]map[string]int // run → test → how often it came up

	probed map[string]bool // runners

	// What was seen of tests where their functions returned, beside what their runner says.
	eyes map[string]bool              // runners of which every test is seen
	saw  map[string]map[string]Status // runner → test → how it ended last
	by   map[string]string            // test → the runner that named it
}

func newReader() *reader {
	return &reader{out: Report{Tests: map[string]Test{}, Early: map[string]int{}, Runners: map[string]int{}},
		open: map[string]string{}, seen: map[string]map[string]int{}, probed: map[string]bool{},
		eyes: map[string]bool{}, saw: map[string]map[string]Status{}, by: map[string]string{}}
}

var unescape = strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\r`, "\r")

func (r *reader) line(line string) {
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
		r.open[run], r.seen[run] = f[2], map[string]int{}
		r.out.Runners[f[2]]++
	case "end":
		if _, ok := r.open[run]; !ok {
			r.out.Broken = "a run ended that had not begun"
		} else if f[2] != "early" {
			delete(r.open, run)
		}
	case "test":
		r.test(run, Status(f[2]), unescape.Replace(f[3]), unescape.Replace(f[4]))
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
			r.saw[runner] = map[string]Status{}
		}
		if name := unescape.Replace(f[3]); len(r.saw[runner]) < maxTests {
			r.saw[runner][name] = Status(f[2])
		}
	default:
		r.out.Broken = "a record can't be read"
	}
}

// test notes one test. A name that comes up again in one run is another test; in another
// run it is the same one, and the worse end counts.
func (r *reader) test(run string, s Status, name, file string) {
	switch s {
	case Pass, Fail, Skip, Todo, XFail, XPass, Broken:
	default:
		r.out.Broken = "a record can't be read"
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
	old, ok := r.out.Tests[name]
	if !ok && len(r.out.Tests) >= maxTests {
		r.out.Broken = "there are too many tests"
		return
	}
	if !ok || s == Fail || old.Status != Fail && s == Pass {
		r.out.Tests[name] = Test{Status: s, File: file}
	}
}

func (r *reader) report() Report {
	for _, runner := range slices.Sorted(maps.Keys(r.out.Runners)) {
		if !r.probed[runner] {
			r.out.Unprobed = append(r.out.Unprobed, runner)
		}
	}
	for _, runner := range r.open {
		r.out.Early[runner]++
	}
	for _, name := range slices.Sorted(maps.Keys(r.by)) {
		runner := r.by[name]
		if r.out.Tests[name].Status != Pass {
			continue
		}
		switch r.saw[runner][name] {
		case Pass:
		case Fail:
			r.out.Bad = append(r.out.Bad, runner+": "+name+" failed, and is told as passed")
		default:
			if r.eyes[runner] {
				r.out.Bad = append(r.out.Bad, runner+": "+name+" is told as passed, and was not run")
			}
		}
	}
	return r.out
}
