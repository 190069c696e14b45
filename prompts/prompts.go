package prompts

import "embed"

//go:embed templates/*.txt
var builtin embed.FS

// Override replaces the built-in texts; an empty field keeps the built-in one.
// See [LoadOverride].
type Override struct {
	System string
	User   string
}

// Answer is one question of an earlier tick with what the operator said.
type Answer struct {
	Question string
	Answer   string
}

// OrchestratorData is all that the orchestrator is told. Every field may be empty.
type OrchestratorData struct {
	ProductName    string   // product_name of the configuration; "" means relay
	ProjectGoal    string   // the operator's own words: --goal, or the configured goal
	MilestoneID    string   // the milestone in progress; "" on the first tick
	BudgetsSummary string   // what is left of each counter, one a line
	VerifyIDs      []string // ids of the verification templates, with their parameters: "test_filter(pkg)"
	Facts          string   // FACTS.md
	LastReport     string   // REPORT.md of the last run
	Blocked        string   // BLOCKED.json of the last run, when it was blocked
	GitStatus      string   // git status --porcelain
	Builders       []string // names that builder.mode may take
	Preferred      string   // the one of them that the configuration prefers; "" for none
	Answers        []Answer // the operator's answers since the last tick
	TaskSchema     []byte   // the JSON Schema of a task, for providers that cannot be held to one

	DefaultAllowed   []string // scope that the configuration suggests
	DefaultForbidden []string // forbidden whatever the task says
	Protected        []string // only the operator opens them
	Ceiling          Ceiling
	DefaultNewFiles  bool // whether new files are usually fine
	DefaultLockfiles bool // whether lock file changes are usually fine
	MaxFiles         int  // suggested limit; 0 leaves it out
	MaxLines         int  // suggested limit; 0 leaves it out

	Call
}

// Ceiling is the most that a task may ask for.
type Ceiling struct {
	Allowed             []string
	NewFiles, Lockfiles bool
	MaxFiles, MaxLines  int
}

// BuilderData is all that a builder is told.
type BuilderData struct {
	ProductName          string // product_name of the configuration; "" means relay
	TaskJSON             []byte // the task, as the builder may read it
	Instructions         string // builder.instructions of the task
	AllowedGlobs         []string
	ForbiddenGlobs       []string
	AllowNewFiles        bool
	AllowLockfileChanges bool
	MaxFilesTouched      int
	MaxLinesChanged      int
	VerifyIDs            []string // the checks that relay will run afterwards
	Facts                string   // FACTS.md
	ResultSchema         []byte   // JSON Schema of the builder's answer

	Call
}

func (OrchestratorData) role() string { return "orchestrator" }

func (d OrchestratorData) values() values {
	return values{
		"PRODUCT_NAME":                   product(d.ProductName),
		"DEFAULT_ALLOW_NEW_FILES":        yesNo(d.DefaultNewFiles),
		"DEFAULT_ALLOW_LOCKFILE_CHANGES": yesNo(d.DefaultLockfiles),
		"PROJECT_GOAL":                   block(d.ProjectGoal, capGoal),
		"MILESTONE_ID":                   word(d.MilestoneID),
		"BUDGETS_SUMMARY":                block(d.BudgetsSummary, capBudgets),
		"VERIFY_TEMPLATE_IDS":            list(d.VerifyIDs),
		"REPO_SUMMARY":                   "",
		"FACTS_MD":                       block(d.Facts, capFacts),
		"LAST_REPORT_MD":                 block(d.LastReport, capReport),
		"BLOCKED_JSON_OR_EMPTY":          blockOrEmpty(d.Blocked, capBlocked),
		"GIT_STATUS":                     block(d.GitStatus, capStatus),
		"BUILDERS":                       list(d.Builders),
		"PREFERRED_BUILDER":              word(d.Preferred),
		"CEILING_GLOBS":                  list(d.Ceiling.Allowed),
		"CEILING_NEW_FILES":              yesNo(d.Ceiling.NewFiles),
		"CEILING_LOCKFILES":              yesNo(d.Ceiling.Lockfiles),
		"CEILING_FILES":                  number(d.Ceiling.MaxFiles),
		"CEILING_LINES":                  number(d.Ceiling.MaxLines),
		"PROTECTED_GLOBS":                list(d.Protected),
		"ANSWERS":                        answers(d.Answers),
		"TASK_SCHEMA_JSON":               schema(d.TaskSchema),
		"DEFAULT_ALLOWED_GLOBS":          list(d.DefaultAllowed),
		"DEFAULT_FORBIDDEN_GLOBS":        list(d.DefaultForbidden),
		"MAX_FILES_TOUCHED":              number(d.MaxFiles),
		"MAX_LINES_CHANGED":              number(d.MaxLines),
	}
}

func (BuilderData) role() string { return "builder" }

func (d BuilderData) values() values {
	return values{
		"PRODUCT_NAME":           product(d.ProductName),
		"TASK_JSON":              block(string(d.TaskJSON), capTask),
		"INSTRUCTIONS":           block(d.Instructions, capInstructions),
		"ALLOWED_GLOBS":          list(d.AllowedGlobs),
		"FORBIDDEN_GLOBS":        list(d.ForbiddenGlobs),
		"ALLOW_NEW_FILES":        yesNo(d.AllowNewFiles),
		"ALLOW_LOCKFILE_CHANGES": yesNo(d.AllowLockfileChanges),
		"MAX_FILES_TOUCHED":      number(d.MaxFilesTouched),
		"MAX_LINES_CHANGED":      number(d.MaxLinesChanged),
		"VERIFY_TEMPLATE_IDS":    list(d.VerifyIDs),
		"FACTS_MD":               block(d.Facts, capFacts),
		"RESULT_SCHEMA_JSON":     schema(d.ResultSchema),
	}
}
