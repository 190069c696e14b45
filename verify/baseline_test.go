package verify

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/judge"
)

// played gives its results one after another.
type played struct {
	t    *testing.T
	left []Result
}

func (p *played) Run(_ context.Context, c Command, _ time.Duration) Result {
	if len(p.left) == 0 {
		p.t.Fatalf("%s was run once too often", c.ID)
	}
	r := p.left[0]
	p.left = p.left[1:]
	return r
}

// parse turns "0", "1", "t" (time), "e" (error), "1 +a -b" into results; the words name
// tests that passed and failed.
func parse(t *testing.T, c Command, text string) []Result {
	t.Helper()
	var out []Result
	for part := range strings.SplitSeq(text, ",") {
		words := strings.Fields(part)
		if len(words) == 0 {
			continue
		}
		r := Result{}
		switch words[0] {
		case "t":
			r.TimedOut, r.ExitCode = true, -1
		case "e":
			r.Err, r.ExitCode = errors.New("no such program"), -1
		default:
			fmt.Sscan(words[0], &r.ExitCode)
		}
		if c.Results != "" {
			r.Tests = &Tests{Passed: map[string]bool{}, Failed: map[string]bool{}}
			for _, w := range words[1:] {
				map[byte]map[string]bool{'+': r.Tests.Passed, '-': r.Tests.Failed}[w[0]][w[1:]] = true
			}
		}
		out = append(out, r)
	}
	return out
}

func TestBaseline(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		results     string // the form
		base, after string // the runs, all of which must happen
		before      Before
		want        Finding
		changed     bool // the change touches what the check is made of
	}{
		"passes before and after":         {"", "0", "0", BeforePassed, Passed, false},
		"breaks":                          {"", "0", "1,1", BeforePassed, NewFailure, false},
		"failed before":                   {"", "1,1", "1,1", BeforeFailed, FailedBefore, false},
		"repairs":                         {"", "1,1", "0", BeforeFailed, Passed, false},
		"fails in another way":            {"", "1,1", "2,2", BeforeFailed, NewFailure, false},
		"fails in two ways":               {"", "1,1", "1,2", BeforeFailed, NewFailure, false},
		"base fails in two ways":          {"", "1,2", "1,1", BeforeFlaky, NewFailure, false},
		"flaky base is no excuse":         {"", "1,0", "1,1", BeforeFlaky, NewFailure, false},
		"flaky afterwards":                {"", "0", "1,0,0", BeforePassed, Flaky, false},
		"outvoted":                        {"", "0", "1,0,1", BeforePassed, NewFailure, false},
		"flaky where it failed before":    {"", "1,1", "1,0,0", BeforeFailed, Flaky, false},
		"slow before and after":           {"", "t", "t", BeforeFailed, FailedBefore, false},
		"becomes slow":                    {"", "1,1", "t", BeforeFailed, NewFailure, false},
		"slow before, fails now":          {"", "t", "1,1", BeforeFailed, NewFailure, false},
		"could not be started before":     {"", "e", "1,1", BeforeUnknown, NewFailure, false},
		"can't be started":                {"", "1,1", "e", BeforeFailed, NewFailure, false},
		"could not be started either":     {"", "e", "e", BeforeUnknown, NewFailure, false},
		"the check itself was changed":    {"", "1,1", "1,1", BeforeFailed, NewFailure, true},
		"slow, and the check was changed": {"", "t", "t", BeforeFailed, NewFailure, true},
		"same test fails":                 {TAP, "1 +a -b,1 +a -b", "1 +a -b,1 +a -b", BeforeFailed, FailedBefore, false},
		"same number, other test":         {TAP, "1 +a -b,1 +a -b", "1 -a +b,1 -a +b", BeforeFailed, NewFailure, false},
		"one more fails":                  {TAP, "1 +a -b,1 +a -b", "1 -a -b,1 -a -b", BeforeFailed, NewFailure, false},
		"a test that passed is gone":      {TAP, "1 +a +c -b,1 +a +c -b", "1 +a -b,1 +a -b", BeforeFailed, NewFailure, false},
		"another took its place":          {TAP, "1 +a +c -b,1 +a +c -b", "1 +a +d -b,1 +a +d -b", BeforeFailed, NewFailure, false},
		"one of two is repaired":          {TAP, "1 -a -b,1 -a -b", "1 +a -b,1 +a -b", BeforeFailed, FailedBefore, false},
		"new tests pass":                  {TAP, "1 +a -b,1 +a -b", "1 +a -b +c,1 +a -b +c", BeforeFailed, FailedBefore, false},
		"fails and names none":            {TAP, "1 +a -b,1 +a -b", "1 +a,1 +a", BeforeFailed, NewFailure, false},
		"base names none":                 {TAP, "1 +a,1 +a", "1 +a,1 +a", BeforeFailed, NewFailure, false},
		"flaky test on the base":          {TAP, "1 +a -b,1 -a -b", "1 -a -b,1 +a -b", BeforeFailed, FailedBefore, false},
		"says the same and lies about it": {TAP, "1 +a -b,1 +a -b", "2 +a -b,2 +a -b", BeforeFailed, NewFailure, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := Command{ID: "c", Argv: []string{"c"}, Results: tt.results}
			exec := &played{t: t, left: parse(t, c, tt.base)}
			bases := RunBase(t.Context(), []Command{c}, nil, Options{Exec: exec})
			if bases[0].Before != tt.before || len(exec.left) > 0 {
				t.Fatalf("base: %q, %d runs did not happen", bases[0].Before, len(exec.left))
			}
			exec.left = parse(t, c, tt.after)
			results, code := Run(t.Context(), []Command{c}, Options{Exec: exec, Base: bases, Excuse: !tt.changed})
			if results[0].Finding != tt.want || (code == judge.Success) != (tt.want != NewFailure) || len(exec.left) > 0 {
				t.Errorf("%s, %s, %d runs did not happen", results[0].Finding, code, len(exec.left))
			}
		})
	}
}

func TestBaselineRemembered(t *testing.T) {
	t.Parallel()
	c := Command{ID: "c", Argv: []string{"c"}}
	bases := RunBase(t.Context(), []Command{c}, func(Command) bool { return true }, Options{Exec: &played{t: t}})
	results, code := Run(t.Context(), []Command{c}, Options{Exec: &played{t: t, left: parse(t, c, "1,1")}, Base: bases, Excuse: true})
	if bases[0].Before != BeforePassed || code != judge.StopVerifyFailedFast || results[0].Finding != NewFailure {
		t.Errorf("%v, %s, %+v", bases, code, results)
	}
}

func TestBaselineInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	bases := RunBase(ctx, three, nil, Options{Exec: &played{t: t}})
	if len(bases) != 3 || bases[0].Before != BeforeUnknown {
		t.Errorf("%+v", bases)
	}
}
