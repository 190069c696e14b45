package judge

// TaskKind is what a task is allowed to be.
type TaskKind string

// The kinds of seed 001.
const (
	Execute    TaskKind = "execute"
	VerifyOnly TaskKind = "verify_only"
	Question   TaskKind = "question"
)

// BuilderCommits says what happens to commits that the builder made in its box.
type BuilderCommits string

// The three answers of DESIGN section 3, point 4.
const (
	SquashCommits BuilderCommits = "squash" // folded into the host's one commit
	StopCommits   BuilderCommits = "stop"   // STOP_HEAD_MOVED
	KeepCommits   BuilderCommits = "keep"   // made again by the host, one by one
)

// Policy is the law that a change is judged by. Only [NewPolicy] makes one: the zero
// Policy allows nothing.
type Policy struct {
	kind      TaskKind
	allowed   []string   // globs of the task; see [ValidGlob]
	within    [][]string // the ceiling's: a path matches one of each
	forbidden []string   // globs; see [Forbids]
	scratch   []string
	owned     []string
	protected []string
	tests     []string
	lockfiles []string
	opens     bool // what allowed names exactly is not protected

	newFiles, lockfileChanges bool
	maxFiles, maxLines        int
	commits                   BuilderCommits
}

// BuilderCommits is what happens to commits that the builder made.
func (p Policy) BuilderCommits() BuilderCommits { return p.commits }

// Violation is one broken rule on one path.
type Violation struct {
	Code Code
	// Path is the touched path; "" when the rule is about the whole change.
	Path string
	// Rule says in one phrase what was broken, for example `matches "**/.env*"`.
	Rule string
}

// BlastRadius is the size of a change in one line.
type BlastRadius struct {
	Files, Added, Deleted, New int
}

// Verdict is what the judge found.
type Verdict struct {
	// Code is Success or the code of the first rule that was broken, in the order
	// of seed 001, appendix A4.
	Code Code
	// Violations are all broken rules, in rule order and then by path, at most 200.
	Violations []Violation
	// Kept are the changes that would land: Touched without discarded scratch. Where
	// they are more than MaxFiles, which can't land, it has one more than those.
	Kept []Change
	// Scratch is how many changed paths are ignored by git, outside the allowed
	// set, and therefore thrown away.
	Scratch int
	// Tests are the paths of those of Kept that are tests or what tests are made of, and
	// that the scope does not name one by one.
	Tests []string
	// Opened are those of Kept that a program will run or obey by itself.
	Opened []Opened
	// BuilderCommitted: the builder moved its own branch forward inside the box.
	BuilderCommitted bool
	Radius           BlastRadius
}
