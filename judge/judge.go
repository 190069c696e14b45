package judge

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// maxViolations is how many broken rules a verdict lists.
const maxViolations = 200

// order is appendix A4 of seed 001: the first of these that was broken is the verdict.
var order = [...]Code{
	StopRunnerOwned, StopForbidden, StopOutsideAllowed, StopNewFile, StopLockfile,
	StopDiffTooLarge, StopQuestionChanged, StopVerifyOnlyChanged, StopHeadMoved,
}

// Judge decides. It is pure: the same touched set and policy give the same verdict.
// Whatever it does not know (a kind of change, a kind of task) breaks a rule.
func Judge(t Touched, p Policy) Verdict {
	j := newTrial(p)
	j.config, j.changes = t.GitConfig, t.Changes
	j.gitDir(t)
	for i := range t.Changes {
		j.path(&t.Changes[i])
	}
	for _, what := range t.Elsewhere {
		j.breaks(StopOutsideAllowed, what, "lies in the repository's main work tree, not in the task's own; it was put back")
	}
	if t.RootMode {
		j.breaks(StopOutsideAllowed, ".", "changes the permissions of the repository's root")
	}
	j.twins(t.Beside)
	j.size(t.Overflow)
	j.kind()
	return j.verdict()
}

// trial is one verdict in the making.
type trial struct {
	policy    Policy
	allowed   globSet
	within    []globSet
	leading   globSet // those of allowed that lead to what git ignores
	scratch   globSet
	forbidden globSet
	owned     globSet
	protected globSet
	tests     globSet
	changes   []Change
	named     map[string]bool // what Allowed names literally
	found     map[Code][]Violation
	config    []string // of git
	charge    int      // of all that would land, in lines
	binary    int      // of binary content among that
	out       Verdict
}

func newTrial(p Policy) *trial {
	j := &trial{
		policy:    p,
		allowed:   compile(p.allowed),
		leading:   leading(p.allowed),
		scratch:   compile(p.scratch),
		forbidden: forbidding(p.forbidden),
		owned:     folding(p.owned),
		protected: folding(p.protected),
		tests:     compile(p.tests),
		named:     make(map[string]bool, len(p.allowed)),
		found:     make(map[Code][]Violation),
	}
	for _, globs := range p.within {
		j.within = append(j.within, compile(globs))
	}
	for _, g := range p.allowed {
		j.named[g] = true
	}
	return j
}

// breaks notes a broken rule. More than maxViolations of one rule say nothing new, nor does
// each file in the git directory of a repository inside.
func (j *trial) breaks(c Code, path, format string, args ...any) {
	v := Violation{Code: c, Path: gitDirInside(path), Rule: fmt.Sprintf(format, args...)}
	if len(j.found[c]) < maxViolations && (v.Path == path || !slices.Contains(j.found[c], v)) {
		j.found[c] = append(j.found[c], v)
	}
}

// path judges one path of the working tree. Relay's own files, objects that no
// tree of git can hold and forbidden paths are looked for in everything, but for forbidden
// names among the waste of tools; what is left and ignored is scratch; the rest has to be
// inside the fence.
func (j *trial) path(c *Change) {
	if j.selfIgnored(c) {
		own := *c
		own.Ignored, c = true, &own
	}
	if g, ok := j.owned.first(c.Path); ok {
		j.breaks(StopRunnerOwned, c.Path, "belongs to relay (%q)", g)
		return
	}
	if slices.ContainsFunc(j.config, func(file string) bool { return strings.EqualFold(file, c.Path) }) {
		j.breaks(StopRunnerOwned, c.Path, "git reads its configuration from it")
		return
	}
	inside := j.wanted(c)
	lawful := nestedIndex(c) || j.object(c)
	thrown := c.Ignored && !inside && discardable(c)
	if g, ok := j.forbidden.first(c.Path); ok && !(lawful && thrown && j.waste(c)) {
		j.breaks(StopForbidden, c.Path, "matches %q", g)
		lawful = false
	}
	switch {
	case lawful && (folder(c, inside) || nestedIndex(c)):
		return
	case lawful && thrown:
		j.out.Scratch++
		return
	}
	j.count(c)
	j.fence(c, inside)
}

// inside reports whether a path is in the allowed set: the task's and the ceiling's.
func (j *trial) inside(path string) bool {
	ok := len(j.within) > 0
	for i := range j.within {
		_, in := j.within[i].first(path)
		ok = ok && in
	}
	_, in := j.allowed.first(path)
	return ok && in
}

// wanted reports whether a change lies where the task is to work. What git ignores does
// only if a glob leads to it: builds leave their output all over a scope of "**". Caches
// never do.
func (j *trial) wanted(c *Change) bool {
	if !c.Ignored {
		return j.inside(c.Path)
	}
	_, scratch := j.scratch.first(c.Path)
	_, led := j.leading.first(c.Path)
	return led && !scratch && j.inside(c.Path)
}

// badName says what is wrong with the name of what was touched: of a new one more than of
// one that the base has, which is not the builder's.
func badName(c *Change) string {
	if c.Kind == Modified || c.Kind == ModeOnly || c.Kind == Deleted {
		return UnsafeName(c.Path)
	}
	return HostileName(c.Path)
}

// object judges name and type: what may not land wherever it lies.
func (j *trial) object(c *Change) bool {
	why := ""
	switch {
	case badName(c) != "" && !j.nested(c):
		why = "the name " + badName(c)
	case !fs.ValidPath(strings.ToValidUTF8(c.Path, "x")) || c.Path == ".":
		why = "is not a path inside the repository"
	case c.Kind == Deleted:
	case c.Kind != Added && c.Kind != Modified && c.Kind != ModeOnly:
		why = "is a special file"
		if c.Note != "" {
			why += ": " + c.Note
		}
	case c.NewMode.IsRegular() && c.NewMode&special != 0:
		why = "has a setuid, setgid or sticky bit"
	case c.NewMode.IsDir() && c.NewMode&special&^c.OldMode != 0:
		why = "gains a setuid, setgid or sticky bit"
	case !c.NewMode.IsDir() && c.Nlink > 1 && !(c.Ignored && !j.wanted(c)):
		// Compilers link inside their ignored output; such files are thrown away.
		why = "is a hard link to another file"
	case isLink(c.NewMode) && !(c.Ignored && !j.wanted(c) && discardable(c)):
		why = j.link(c)
	case !c.NewMode.IsRegular() && !c.NewMode.IsDir() && c.NewMode.Type() != fs.ModeSymlink:
		why = "is a special file"
	}
	if why != "" {
		j.breaks(StopForbidden, c.Path, "%s", why)
	}
	return why == ""
}

const special = fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// link says why a symbolic link may not land, or "". Its target is read as text:
// it must stay in the allowed set whatever the tree around it is.
func (j *trial) link(c *Change) string {
	switch {
	case c.Link == "" || path.IsAbs(c.Link):
		return fmt.Sprintf("is a symbolic link to %q, which is not a relative path", c.Link)
	case HostileName(c.Link) != "":
		return "is a symbolic link whose target " + HostileName(c.Link)
	case looksLikeGitmodules(path.Base(c.Path)):
		return "is a symbolic link that a file system may take for .gitmodules, which git does not hold"
	case climbsLate(c.Link):
		return fmt.Sprintf(`is a symbolic link to %q, which has ".." after a name`, c.Link)
	}
	target := path.Join(path.Dir(c.Path), c.Link)
	if g, ok := j.forbidden.first(target); ok {
		return fmt.Sprintf("is a symbolic link to %q, which matches %q", target, g)
	}
	if _, ok := j.owned.first(target); ok {
		return fmt.Sprintf("is a symbolic link to %q, which belongs to relay", target)
	}
	if !fs.ValidPath(target) || !j.inside(target) {
		return fmt.Sprintf("is a symbolic link to %q, which is outside the allowed paths", target)
	}
	return ""
}

// climbsLate reports whether ".." follows a name: that name may itself be a link, and
// then the text of the target does not say where it leads.
func climbsLate(target string) bool {
	named := false
	for part := range strings.SplitSeq(target, "/") {
		if part == ".." && named {
			return true
		}
		named = named || part != ".." && part != "." && part != ""
	}
	return false
}

// discardable reports whether an ignored change may be dropped without a word: what
// tools leave in their caches and build folders, remake there and clear away. A link in
// the place of what was there, and was none, is not of that kind.
func discardable(c *Change) bool {
	switch c.Kind {
	case Deleted:
		return c.OldMode.IsRegular() || c.OldMode.IsDir() || isLink(c.OldMode)
	case Added:
		return c.NewMode.IsRegular() || c.NewMode.IsDir() || isLink(c.NewMode)
	default:
		return c.NewMode.IsRegular() || c.NewMode.IsDir() || isLink(c.NewMode) && isLink(c.OldMode)
	}
}

func isLink(m fs.FileMode) bool { return m.Type() == fs.ModeSymlink }

// folder reports whether the change is only that a folder came or went, or that one in
// the allowed set has other permissions. Git holds neither, so it is undone with the
// box; what is below a folder is judged by itself.
func folder(c *Change, inside bool) bool {
	switch c.Kind {
	case Added:
		return c.NewMode.IsDir()
	case Deleted:
		return c.OldMode.IsDir()
	default:
		return c.Kind == ModeOnly && c.NewMode.IsDir() && inside
	}
}

// closed gives the glob by which a path decides what "verified" means, "" when it does
// not or the task may change it all the same. Protected files are the operator's to name.
// So is a test that goes: what it held is seen by nobody once it has gone, whether it would
// have passed or not. A test that changes is held to what it was; see [Verdict.Tests].
func (j *trial) closed(c *Change) string {
	if g, ok := j.protected.first(c.Path); ok {
		if j.policy.opens && (j.named[g] || j.named[c.Path]) {
			return ""
		}
		return g
	}
	if c.Kind == Deleted && !j.named[c.Path] {
		if g, ok := j.tests.first(c.Path); ok && !j.named[g] {
			return g
		}
	}
	return ""
}

// fence judges a change that would land.
func (j *trial) fence(c *Change, inside bool) {
	if g := j.closed(c); g != "" && inside { // outside it is out of scope all the same
		j.breaks(StopForbidden, c.Path, "decides what verified means, or what git runs (%q), and is not named by the task's scope", g)
	}
	j.opens(c, inside)
	if inside && c.Kind != ModeOnly && !j.policy.Names(c.Path) && j.policy.OfTests(c.Path) {
		j.out.Tests = append(j.out.Tests, c.Path)
	}
	if c.Raced {
		j.breaks(StopHeadMoved, c.Path, "was changed in the repository while the builder ran")
	}
	if inside && c.Kind != Deleted && c.NewMode.IsRegular() && c.NewMode&0o400 == 0 {
		j.breaks(StopForbidden, c.Path, "could not be read by its owner (mode %04o)", c.NewMode.Perm())
	}
	if !inside {
		j.breaks(StopOutsideAllowed, c.Path, "matches no allowed glob")
	}
	if c.Kind == Added && !j.policy.newFiles {
		j.breaks(StopNewFile, c.Path, "is new")
	}
	if !j.policy.lockfileChanges && slices.ContainsFunc(j.policy.lockfiles, func(name string) bool { return foldName(name) == foldName(path.Base(c.Path)) }) {
		j.breaks(StopLockfile, c.Path, "is a lockfile")
	}
}

// count adds up a change that would land. More of them than the limit allows can't land
// and are not kept.
func (j *trial) count(c *Change) {
	r := &j.out.Radius
	r.Files++
	r.Added = plus(r.Added, int(c.Lines.Added))
	r.Deleted = plus(r.Deleted, int(c.Lines.Deleted))
	if c.Kind == Added {
		r.New++
	}
	j.charge = plus(j.charge, int(c.Lines.Charge))
	if c.Lines.Binary {
		j.binary = plus(j.binary, int(c.Lines.Charge))
	}
	switch {
	case c.Lines.TooLarge && max(c.Size, c.Base.Size) <= MaxFileSize:
		j.breaks(StopDiffTooLarge, c.Path, "was not counted: the change is too large without it")
	case c.Lines.TooLarge:
		j.breaks(StopDiffTooLarge, c.Path, "is larger than the %d MiB that are read of a file", MaxFileSize>>20)
	}
	if code, what := j.bars(); code != Success {
		j.breaks(code, c.Path, "%s may change nothing", what)
	}
	if kept, any := ordinary(*c); any && r.Files-1 <= max(j.policy.maxFiles, 0) {
		j.out.Kept = append(j.out.Kept, kept)
	}
}

// ordinary is the change with the permissions that land, and whether that leaves one. Git
// knows whether a file may be executed and nothing else: a new file is 0644 or 0755, and one
// that was there keeps its permissions unless that differs. What a builder's umask or a
// chmod has left besides would only stand in the work tree.
func ordinary(c Change) (Change, bool) {
	if c.Kind == Deleted || !c.NewMode.IsRegular() {
		return c, true
	}
	runs := c.NewMode&0o100 != 0
	perm := fs.FileMode(0o644)
	switch {
	case c.Kind != Added && c.OldMode.IsRegular() && (c.OldMode&0o100 != 0) == runs:
		perm = c.OldMode.Perm()
	case runs:
		perm = 0o755
	}
	c.NewMode = c.NewMode&^fs.ModePerm | perm
	return c, c.Kind != ModeOnly || c.NewMode != c.OldMode
}

// bars is the rule of a kind of task that may change nothing; Success is none.
func (j *trial) bars() (Code, string) {
	switch j.policy.kind {
	case Execute:
		return Success, ""
	case Question:
		return StopQuestionChanged, "a question"
	default:
		return StopVerifyOnlyChanged, "a task that only verifies"
	}
}

// kind holds the builder's commits to the kind of task.
func (j *trial) kind() {
	if code, what := j.bars(); code != Success && j.out.BuilderCommitted {
		j.breaks(code, "", "%s may commit nothing", what)
	}
}

// verdict puts the broken rules in order.
func (j *trial) verdict() Verdict {
	j.out.Code = Success
	for _, c := range order {
		if len(j.found[c]) > 0 && j.out.Code == Success {
			j.out.Code = c
		}
		j.out.Violations = append(j.out.Violations, j.found[c]...)
	}
	j.out.Violations = j.out.Violations[:min(len(j.out.Violations), maxViolations)]
	return j.out
}
