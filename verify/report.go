package verify

import (
	"fmt"
	"slices"
	"strings"
)

// The forms in which tests are named.
const (
	GoTestJSON = "go-test-json" // go test -json
	TAP        = "tap"          // Test Anything Protocol: node --test, bats, prove, …
	JUnitXML   = "junit"        // a file in JUnit's XML
)

// ByCheck are the forms of names that a check writes itself, into a file or to its output: the
// code that it tests could have written them too.
var ByCheck = []string{JUnitXML, GoTestJSON, TAP}

// ClassPrefix begins the file of a test of which only the class is known.
const ClassPrefix = "class:"

// Tests are those that a command named, by how they ended. They can only make a verdict
// stricter: see [RunBase].
type Tests struct {
	Passed, Failed map[string]bool
	Broken         string // why they can't be relied on, "" when they can
}

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
	// Places is in how many folders a test of this name ran, where that is more than one.
	Places int `json:"places,omitempty"`
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

// Gone is a test of the base that did not run and pass after the change.
type Gone struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
	// Was is how it ended on the base, Now how after the change; "" when it did not run.
	Was Status `json:"was"`
	Now Status `json:"now,omitempty"`
}

// String says it in a few words.
func (g Gone) String() string {
	switch g.Now {
	case "":
		return g.Name + " did not run"
	case Skip:
		return g.Name + " was skipped"
	case Todo:
		return g.Name + " was marked as to do"
	case XFail, XPass:
		return g.Name + " is expected to fail"
	}
	return g.Name + " failed"
}

// Evidence is what names, probes and closing lines say about a check that ended with exit
// code 0.
type Evidence struct {
	Passed, New int    // tests that passed, and those of them that the base did not have
	Missing     []Gone // sorted by name
	Removed     int    // tests of the base that are gone with permission
	Failed      []string
	Probes      int
	Unprobed    []string // runners that ran no probe
	Problems    []string // why the report is doubted: runs that ended early, probes that failed
	// Unknown: there is no base to compare with.
	Unknown bool
}

// OK reports whether nothing speaks against the check's exit code.
func (f Evidence) OK() bool { return len(f.Missing)+len(f.Failed)+len(f.Problems) == 0 }

// OnlyMissing reports whether nothing else speaks against it than tests that are missing.
func (f Evidence) OnlyMissing() bool { return len(f.Missing) > 0 && len(f.Failed)+len(f.Problems) == 0 }

// Why says in one line what speaks against the exit code.
func (f Evidence) Why() string {
	all := slices.Clone(f.Problems)
	for _, name := range f.Failed {
		all = append(all, name+" failed")
	}
	for _, g := range f.Missing {
		all = append(all, g.String())
	}
	const most = 5
	text := strings.Join(all[:min(len(all), most)], "; ")
	if n := len(all) - most; n > 0 {
		text += fmt.Sprintf(" (and %d more)", n)
	}
	return text
}
