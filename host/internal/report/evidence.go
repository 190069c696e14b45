package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/verify"
)

// NotVerified is what speaks for a change that no check looked at: the judge's word alone.
const NotVerified = "judged, not verified"

// Beside is what speaks for a change whose checks saw it at another path than the
// repository's: they may have looked at the files as they were.
const Beside = NotVerified + ": the checks ran beside the repository's path"

// NotLookedFor is what a hidden check alone would find.
const NotLookedFor = "hard-coded answers not looked for"

// ByExitCode is the weakest evidence that a check can give.
const ByExitCode = "verified by exit code only; " + NotLookedFor

// Landed is the report's one line about a change that landed; how says in what way.
func (v Verification) Landed(how string) string {
	if strings.HasPrefix(v.Evidence(), NotVerified) {
		return "the change was judged, not verified, and " + how
	}
	return "the change was judged, verified and " + how
}

// Evidence says in one line what kind of evidence a run's checks gave, for the verdict,
// the report and the commit; [NotVerified] where none passed.
func (v Verification) Evidence() string {
	var passed, added, missing, removed, probes, code, named int
	var unprobed []string
	passing := false
	for _, r := range v.Runs {
		passing = passing || r.ExitCode == 0 && !r.TimedOut
		if r.Tests == nil || r.Tests.Passed+len(r.Tests.Missing) == 0 {
			code++
			continue
		}
		named++
		passed, added, missing, probes = passed+r.Tests.Passed, added+r.Tests.New, missing+len(r.Tests.Missing), probes+r.Tests.Probes
		removed += r.Tests.Removed
		unprobed = append(unprobed, r.Tests.Unprobed...)
	}
	if v.Beside && (passing || v.Hidden != "") {
		return Beside
	}
	if !passing && v.Hidden != "" {
		return "verified by hidden checks only: " + v.Hidden
	}
	if !passing {
		return NotVerified
	}
	var parts []string
	if named > 0 {
		parts = append(parts, fmt.Sprintf("%s by name, %d new, %d missing", format.Count(passed, "test"), added, missing))
		if v.MissingAgreed {
			parts[0] += ", as the operator agreed"
		}
		if removed > 0 {
			parts[0] += fmt.Sprintf(", %d removed with permission", removed)
		}
		slices.Sort(unprobed)
		unprobed = slices.Compact(unprobed)
		var itself []string
		unprobed = slices.DeleteFunc(unprobed, func(runner string) bool {
			own := slices.Contains(verify.ByCheck, runner)
			if own {
				itself = append(itself, runner)
			}
			return own
		})
		none := strings.Join(unprobed, ", ")
		if len(itself) > 0 {
			parts = append(parts, "named by the check itself ("+strings.Join(itself, ", ")+")")
		}
		switch {
		case probes == 0 && none == "" && len(itself) > 0:
		case probes > 0 && none == "":
			parts = append(parts, "probes ok")
		case probes > 0:
			parts = append(parts, "probes ok, none for "+none)
		default:
			parts = append(parts, "no probes for "+cmp.Or(none, "its runner"))
		}
	}
	if code > 0 && named > 0 {
		parts = append(parts, format.Count(code, "check")+" by exit code only")
	}
	line := "verified by exit code only"
	if named > 0 {
		line = "verified: " + strings.Join(parts, "; ")
	}
	if v.Agreed {
		line += "; " + format.Count(len(v.ChangedTests), "test file") + " changed, as the operator agreed"
	}
	if v.NewTests != nil {
		line += "; " + v.NewTests.String()
	}
	if v.Hidden == "" {
		return line + "; " + NotLookedFor
	}
	return line + "; hidden: " + v.Hidden
}

// String says it in a few words.
func (n *NewTests) String() string {
	if n.Tests == 0 {
		return "new tests not looked at"
	}
	mutants := "no mutants tried"
	if n.Mutants > 0 {
		mutants = fmt.Sprintf("%d fail on none of %s", len(n.FailNone), format.Count(n.Mutants, "mutant"))
	}
	return fmt.Sprintf("new tests looked at: %d, %d pass without the change, %s", n.Tests, len(n.PassBefore), mutants)
}

// Lines say all of it, one test or reason a line.
func (n *NewTests) Lines() (lines []string) {
	for _, name := range n.PassBefore {
		lines = append(lines, name+" passes without the change as well: it does not show it")
	}
	for _, name := range n.FailNone {
		lines = append(lines, fmt.Sprintf("%s fails on none of %s of the changed lines", name, format.Count(n.Mutants, "mutant")))
	}
	for _, why := range n.NotDone {
		lines = append(lines, "not looked at: "+why)
	}
	return lines
}
