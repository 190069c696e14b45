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

// Policy is the law that a change is judged by: the task's scope joined with the
// configuration's. The task can add to Forbidden and never take away from it.
type Policy struct {
	Kind      TaskKind
	Allowed   []string // globs; see [ValidGlob]
	Forbidden []string // globs, task ∪ configuration; see [Forbids]
	// Scratch are globs of caches: thrown away in scope too where git ignores them.
	Scratch []string
	// RunnerOwned are relay's own files: globs of the workspace and of the
	// configuration file.
	RunnerOwned []string
	// Protected decide what "verified" means (test configuration, CI files): judged
	// like Forbidden unless Allowed has the same glob or the path itself.
	Protected []string
	// Tests are protected likewise where they exist; new ones may be added.
	Tests     []string
	Lockfiles []string // base names

	AllowNewFiles        bool
	AllowLockfileChanges bool
	MaxFiles             int // 1 to 500
	MaxLines             int // 1 to 20000
	BuilderCommits       BuilderCommits
}

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
	// BuilderCommitted: the builder moved its own branch forward inside the box.
	BuilderCommitted bool
	Radius           BlastRadius
}
