package evidence

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

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

// Finding is what names, probes and closing lines say about a check that ended with exit
// code 0.
type Finding struct {
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
func (f Finding) OK() bool { return len(f.Missing)+len(f.Failed)+len(f.Problems) == 0 }

// OnlyMissing reports whether nothing else speaks against it than tests that are missing.
func (f Finding) OnlyMissing() bool { return len(f.Missing) > 0 && len(f.Failed)+len(f.Problems) == 0 }

// Why says in one line what speaks against the exit code.
func (f Finding) Why() string {
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

// Compare holds what was reported after a change against the base; nil when that is not
// known. removed reports whether a test of a file may be gone; nil for none.
//
// A test that ran on the base must run and pass: one that failed there, since the check
// as a whole passes now. One that was skipped there may be.
func Compare(base *Report, now Report, removed func(file string) bool) Finding {
	f := Finding{Passed: now.Passed(), Probes: now.Probes, Unprobed: now.Unprobed, Unknown: base == nil}
	if base == nil {
		base = &Report{}
	}
	for _, name := range slices.Sorted(maps.Keys(now.Tests)) {
		t := now.Tests[name]
		switch _, old := base.Tests[name]; {
		case strings.HasSuffix(name, printed) && base.Tests[name].Status == t.Status: // nothing about the change
		case t.Status == Fail, t.Status == Broken:
			f.Failed = append(f.Failed, name)
		case t.Status == Pass && !old:
			f.New++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(base.Tests)) {
		if strings.HasSuffix(name, printed) {
			continue
		}
		was, is := base.Tests[name], now.Tests[name].Status
		if removed != nil && was.File != "" && removed(was.File) {
			if was.Status == Pass && is != Pass && is != Fail {
				f.Removed++
			}
			continue
		}
		switch was.Status {
		case Pass, Fail:
			if is != Pass && is != Fail {
				f.Missing = append(f.Missing, Gone{Name: name, File: was.File, Was: was.Status, Now: is})
			}
		case Broken:
			if !now.anyIn(was.File) {
				f.Missing = append(f.Missing, Gone{Name: name, File: was.File, Was: was.Status, Now: is})
			}
		}
	}
	f.Problems = now.problems(base)
	return f
}

// printed marks a result that a test printed as Go's testing package does, and that no
// test began for.
const printed = " (printed)"

// anyIn reports whether a test of the file passed, or of any, where the file is not known;
// of modules the ending is not known.
func (r Report) anyIn(file string) bool {
	for _, t := range r.Tests {
		if t.Status == Pass && (file == "" || t.File == file || strings.TrimSuffix(t.File, path.Ext(t.File)) == file || strings.HasPrefix(t.File, file+"/")) {
			return true
		}
	}
	return false
}

func (r Report) problems(base *Report) []string {
	var out []string
	if r.Broken != "" && base.Broken == "" {
		out = append(out, "the report of the tests can't be relied on: "+r.Broken)
	}
	for _, runner := range slices.Sorted(maps.Keys(r.Early)) {
		if r.Early[runner] > base.Early[runner] {
			out = append(out, fmt.Sprintf("%s ended early: it began, and never came to its end", runner))
		}
	}
	for _, name := range r.Rewrote {
		if !slices.Contains(base.Rewrote, name) {
			out = append(out, name+" was changed while the tests ran that are judged by it")
		}
	}
	for _, bad := range r.Bad {
		if !slices.Contains(base.Bad, bad) {
			out = append(out, "a probe of relay's failed ("+bad+"): the runner or its assertions no longer do what they should")
			break
		}
	}
	return out
}

// Narrow leaves out of a base what another run of it did not report alike: tests whose
// names or ends change from run to run prove nothing.
func (r *Report) Narrow(again Report) {
	maps.DeleteFunc(r.Tests, func(name string, t Test) bool { return again.Tests[name].Status != t.Status })
	for runner, n := range again.Early {
		r.Early[runner] = max(r.Early[runner], n)
	}
	r.Bad = append(r.Bad, again.Bad...)
	r.Rewrote = append(r.Rewrote, again.Rewrote...)
}
