package judge

import (
	"fmt"
	"slices"
	"strings"
)

// Asker is the author of a task.
type Asker uint8

// A model stays below the ceiling whatever it asks for. The operator opens protected
// files by naming them, new files and lockfiles by asking for them, and goes beyond the
// ceiling's globs and limits when he says so. Approved is a model's
// task whose [Beyond] the operator has read and allowed: it gets that and nothing else.
const (
	Model Asker = iota
	Approved
	Operator
)

// Ceiling is the most that a configuration lets a task have. A list that is nil was
// forgotten, and then no task may do anything; an empty one says that there is nothing.
type Ceiling struct {
	// Allowed are lists of globs: a path matches one of each, since the user, the
	// repository and the workflow may each have a list.
	Allowed     [][]string
	Forbidden   []string // globs that no task opens
	RunnerOwned []string // globs of relay's own files
	// Protected are globs of what decides what "verified" means: an operator's task that
	// has the same glob, or the path itself, may change it.
	Protected []string
	// Programs are the files that checks run by name: protected likewise, unless an
	// operator's glob leads to them, as "tools/**" does and "**" does not.
	Programs []string
	// Tests are globs of tests. Those that a change touches are in Verdict.Tests, unless
	// an operator's task names them exactly.
	Tests     []string
	Lockfiles []string // base names
	// Scratch are globs of caches: thrown away in scope too where git ignores them.
	Scratch []string

	NewFiles, LockfileChanges bool
	MaxFiles, MaxLines        int
	BuilderCommits            BuilderCommits
}

// Request is what a task asks for. It can add to what is forbidden and never take away.
type Request struct {
	By                        Asker
	Beyond                    bool // the operator says that this task may go beyond the ceiling
	Kind                      TaskKind
	Allowed, Forbidden        []string
	NewFiles, LockfileChanges bool
	MaxFiles, MaxLines        int
}

// Beyond is one thing that a task asks for and the ceiling does not give.
type Beyond struct {
	// Code is the rule that would be broken if the builder made use of it.
	Code Code
	// What names it for a person: `the path "ci/**"`.
	What string
	// Why says what the ceiling gives instead.
	Why string
	// Needed: the task can't be meant without it. A glob that only reaches too far, or a
	// limit that is too high, is cut and the rest may do.
	Needed bool
	// Glob, Files and Lines are what the ceiling would have to give; at most one is set.
	Glob         string
	Files, Lines int
}

// NewPolicy makes the law for a task: what it asks for, cut to the ceiling. Beyond is what
// was cut off, for an operator's task what it needs his word for.
func NewPolicy(c Ceiling, r Request) (Policy, []Beyond) {
	if c.forgot() {
		return Policy{}, []Beyond{{Code: StopForbidden, What: "anything", Why: "the ceiling is not complete", Needed: true}}
	}
	p := Policy{
		kind: r.Kind, allowed: r.Allowed, within: c.Allowed, forbidden: join(c.Forbidden, r.Forbidden), scratch: c.Scratch, owned: c.RunnerOwned,
		protected: c.Protected, tests: c.Tests, lockfiles: c.Lockfiles, opens: r.By != Model,
		newFiles: r.NewFiles && (c.NewFiles || r.By != Model), lockfileChanges: r.LockfileChanges && (c.LockfileChanges || r.By != Model),
		maxFiles: min(r.MaxFiles, c.MaxFiles), maxLines: min(r.MaxLines, c.MaxLines), commits: c.BuilderCommits,
	}
	for _, name := range c.Programs {
		if r.By == Operator && Leads(r.Allowed, name) {
			continue
		}
		p.protected = join(p.protected, []string{name})
	}
	beyond := c.beyond(r)
	if r.By == Approved || r.By == Operator && r.Beyond {
		p.within, p.maxFiles, p.maxLines = [][]string{{"**"}}, r.MaxFiles, r.MaxLines
		beyond = nil
	}
	return p, beyond
}

func join(a, b []string) []string {
	return append(append(make([]string, 0, len(a)+len(b)), a...), b...)
}

// forgot reports that a part of the ceiling was not said.
func (c *Ceiling) forgot() bool {
	for _, list := range [][]string{c.Forbidden, c.RunnerOwned, c.Protected, c.Programs, c.Tests, c.Lockfiles, c.Scratch} {
		if list == nil {
			return true
		}
	}
	return len(c.Allowed) == 0 || slices.ContainsFunc(c.Allowed, func(list []string) bool { return list == nil })
}

// Cut gives the globs as the ceiling leaves them: one that reaches further than a list of
// the ceiling gives way to those of the list that lie in it. Where two overlap only in part
// the glob stays, and the policy lets through what both match.
func (c *Ceiling) Cut(globs []string) []string {
	for _, list := range c.Allowed {
		var cut []string
		for _, g := range globs {
			inside := slices.DeleteFunc(slices.Clone(list), func(by string) bool { return !Covers([]string{g}, by) })
			if len(inside) == 0 || Covers(list, g) {
				inside = []string{g}
			}
			for _, g := range inside {
				if !slices.Contains(cut, g) {
					cut = append(cut, g)
				}
			}
		}
		globs = cut
	}
	return globs
}

// beyond lists what a task asks for and the ceiling does not give.
func (c *Ceiling) beyond(r Request) (all []Beyond) {
	for _, g := range r.Allowed {
		all = append(all, c.beyondGlob(r, g)...)
	}
	if r.NewFiles && !c.NewFiles && r.By == Model {
		all = append(all, Beyond{Code: StopNewFile, What: "new files", Why: "the ceiling has none", Needed: true})
	}
	if r.LockfileChanges && !c.LockfileChanges && r.By == Model {
		all = append(all, Beyond{Code: StopLockfile, What: "changes of lockfiles", Why: "the ceiling has none", Needed: true})
	}
	if r.MaxFiles > c.MaxFiles {
		all = append(all, Beyond{Code: StopDiffTooLarge, What: fmt.Sprintf("%d files", r.MaxFiles), Why: fmt.Sprintf("the ceiling is %d", c.MaxFiles), Files: r.MaxFiles})
	}
	if r.MaxLines > c.MaxLines {
		all = append(all, Beyond{Code: StopDiffTooLarge, What: fmt.Sprintf("%d lines", r.MaxLines), Why: fmt.Sprintf("the ceiling is %d", c.MaxLines), Lines: r.MaxLines})
	}
	return all
}

// beyondGlob looks at one glob of a task. What is forbidden, and what only the operator
// opens, is asked for by a glob that means nothing else.
func (c *Ceiling) beyondGlob(r Request, g string) (all []Beyond) {
	for _, list := range c.Allowed {
		if !Covers(list, g) {
			all = append(all, Beyond{Code: StopOutsideAllowed, What: fmt.Sprintf("the path %q", g), Why: "the ceiling is " + quoted(list), Needed: !Meets(list, g), Glob: g})
			break
		}
	}
	if r.By == Operator {
		return all
	}
	closed := func(code Code, why string) {
		all = append(all, Beyond{Code: code, What: fmt.Sprintf("the path %q", g), Why: why, Needed: true})
	}
	switch {
	case coversFolded(c.RunnerOwned, g):
		closed(StopRunnerOwned, "it belongs to relay")
	case coversFolded(forbiddenGlobs(c.Forbidden), g):
		closed(StopForbidden, "it is forbidden")
	case coversFolded(c.Protected, g):
		closed(StopForbidden, `it decides what "verified" means, and only the operator opens it`)
	case runByItself(g):
		closed(StopForbidden, "tools run or obey it by themselves, and only the operator opens it")
	case coversFolded(c.Programs, g):
		closed(StopForbidden, "a check or git runs it, and only the operator opens it")
	}
	return all
}

// runByItself reports whether a glob means nothing but what the table of [Triggers] has as
// whole files: of a manifest a task may well want the other parts.
func runByItself(g string) bool {
	if !strings.ContainsAny(g, "*?") {
		t := TriggerOf(g)
		return t != nil && t.Part == ""
	}
	return slices.ContainsFunc(Triggers(), func(t Trigger) bool { return t.Part == "" && coversFolded([]string{t.Glob}, g) })
}

// forbiddenGlobs are globs of what is forbidden with what lies in the folders that they
// name, as [Forbids] reads them.
func forbiddenGlobs(globs []string) []string {
	all := slices.Clone(globs)
	for _, g := range globs {
		if last := g[strings.LastIndexByte(g, '/')+1:]; !strings.ContainsAny(last, "*?") {
			all = append(all, g+"/**")
		}
	}
	return all
}

func coversFolded(globs []string, g string) bool {
	return Covers(globs, g) || slices.ContainsFunc(globs, func(by string) bool { return Covers([]string{foldLetters(by)}, foldLetters(g)) })
}

// Listed says what is beyond a ceiling in one sentence, without what would not be shown
// faithfully.
func Listed(beyond []Beyond) string {
	const shown = 6
	var all []string
	for i, b := range beyond {
		if i == shown {
			all = append(all, fmt.Sprintf("and %d more", len(beyond)-i))
			break
		}
		all = append(all, b.What+" ("+b.Why+")")
	}
	return strings.Join(all, "; ")
}

// quoted lists globs for a person, the first ones.
func quoted(globs []string) string {
	const shown = 6
	var b strings.Builder
	for i, g := range globs {
		if i == shown {
			return b.String() + fmt.Sprintf(" and %d more", len(globs)-i)
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", g)
	}
	if b.Len() == 0 {
		return "empty"
	}
	return b.String()
}
