package evidence

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/paxiom/relay/verify"
)

// Compare holds what was reported after a change against the base; nil when that is not
// known. removed reports whether a test of a file may be gone; nil for none.
//
// A test that ran on the base must run and pass: one that failed there, since the check
// as a whole passes now. One that was skipped there may be.
func Compare(base *verify.Report, now verify.Report, removed func(file string) bool) verify.Evidence {
	f := verify.Evidence{Passed: now.Passed(), Probes: now.Probes, Unprobed: now.Unprobed, Unknown: base == nil}
	if base == nil {
		base = &verify.Report{}
	}
	for _, name := range slices.Sorted(maps.Keys(now.Tests)) {
		t := now.Tests[name]
		switch _, old := base.Tests[name]; {
		case strings.HasSuffix(name, printed) && base.Tests[name].Status == t.Status: // nothing about the change
		case t.Status == verify.Fail, t.Status == verify.Broken:
			f.Failed = append(f.Failed, name)
		case t.Status == verify.Pass && !old:
			f.New++
		case t.Status == verify.Skip && !old:
			if test, _, part := strings.Cut(name, skippedPart); part && base.Tests[test].Status != "" {
				f.Missing = append(f.Missing, verify.Gone{Name: test, File: t.File, Was: base.Tests[test].Status, Now: verify.Skip})
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(base.Tests)) {
		if strings.HasSuffix(name, printed) {
			continue
		}
		was, is := base.Tests[name], now.Tests[name].Status
		if removed != nil && was.File != "" && removed(was.File) {
			if was.Status == verify.Pass && is != verify.Pass && is != verify.Fail {
				f.Removed++
			}
			continue
		}
		switch was.Status {
		case verify.Pass, verify.Fail:
			if is != verify.Pass && is != verify.Fail {
				f.Missing = append(f.Missing, verify.Gone{Name: name, File: was.File, Was: was.Status, Now: is})
			} else if n := max(now.Tests[name].Places, 1); n < was.Places {
				f.Missing = append(f.Missing, verify.Gone{Name: fmt.Sprintf("%s (in %d of %d folders)", name, was.Places-n, was.Places), File: was.File, Was: was.Status})
			}
		case verify.Broken:
			if !anyIn(now, was.File) {
				f.Missing = append(f.Missing, verify.Gone{Name: name, File: was.File, Was: was.Status, Now: is})
			}
		}
	}
	f.Problems = problems(now, base)
	return f
}

// skippedPart is what follows the name of a test in that of a subtest that it skipped.
const skippedPart = " (skipped subtest "

// printed marks a result that a test printed as Go's testing package does, and that no
// test began for.
const printed = " (printed)"

// anyIn reports whether a test of the file passed, or of any, where the file is not known;
// of modules the ending is not known.
func anyIn(r verify.Report, file string) bool {
	for _, t := range r.Tests {
		if t.Status == verify.Pass && (file == "" || t.File == file || strings.TrimSuffix(t.File, path.Ext(t.File)) == file || strings.HasPrefix(t.File, file+"/")) {
			return true
		}
	}
	return false
}

func problems(r verify.Report, base *verify.Report) []string {
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
func Narrow(r *verify.Report, again verify.Report) {
	maps.DeleteFunc(r.Tests, func(name string, t verify.Test) bool { return again.Tests[name].Status != t.Status })
	for name, t := range r.Tests {
		t.Places = min(t.Places, again.Tests[name].Places)
		r.Tests[name] = t
	}
	for runner, n := range again.Early {
		r.Early[runner] = max(r.Early[runner], n)
	}
	r.Bad = append(r.Bad, again.Bad...)
	r.Rewrote = append(r.Rewrote, again.Rewrote...)
}
