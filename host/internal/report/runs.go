package report

import (
	"slices"
	"strings"

	"github.com/paxiom/relay/verify"
)

// RunOf is how a check ended, in the words of a report.
func RunOf(r verify.Result) VerifyRun {
	phase := "fast"
	if r.Command.Slow {
		phase = "slow"
	}
	return VerifyRun{TemplateID: r.Command.ID, Phase: phase, Cmd: r.Command.Argv[0], Args: append([]string{}, r.Command.Argv[1:]...),
		ExitCode: r.ExitCode, DurationMS: r.Duration.Milliseconds(), TimedOut: r.TimedOut, Tests: FactsOf(r)}
}

// Shown are the touched paths for people: of another repository's git folder, the folder alone.
func (s Scope) Shown() []string {
	var all []string
	for _, path := range s.TouchedPaths {
		if at := strings.Index("/"+path, "/.git/"); at >= 0 {
			path = path[:at+len(".git/")]
		}
		all = append(all, path)
	}
	return slices.Compact(all)
}

// maxNamed is how many tests a report names of one check.
const maxNamed = 100

// FactsOf is what a check's tests said, in the words of a report; nil where they said nothing.
func FactsOf(r verify.Result) *TestFacts {
	f := r.Evidence
	if f == nil {
		return nil
	}
	out := &TestFacts{Passed: f.Passed, New: f.New, Removed: f.Removed, Probes: f.Probes, Unprobed: f.Unprobed, Problems: f.Problems}
	for _, name := range f.Failed {
		out.Problems = append(out.Problems, name+" failed, and the exit code was 0")
	}
	for _, g := range f.Missing {
		out.Missing = append(out.Missing, g.String())
	}
	out.Problems, out.Missing = out.Problems[:min(len(out.Problems), maxNamed)], out.Missing[:min(len(out.Missing), maxNamed)]
	return out
}
