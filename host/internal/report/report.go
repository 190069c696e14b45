package report

import (
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/netproxy"
	"github.com/paxiom/relay/judge"
)

// Report is REPORT.json. The fields of seed 001's schema keep their names and
// meaning; those after the mark are relay's own and documented as a superset.
type Report struct {
	RunID        string        `json:"run_id"`
	StartedAt    time.Time     `json:"started_at"`
	EndedAt      time.Time     `json:"ended_at"`
	DurationMS   int64         `json:"duration_ms"`
	BaseCommit   string        `json:"base_commit"`
	HeadCommit   string        `json:"head_commit"`
	Task         Task          `json:"task"`
	Verdict      judge.Outcome `json:"verdict"`
	Code         judge.Code    `json:"code"`
	BlastRadius  BlastRadius   `json:"blast_radius"`
	Scope        Scope         `json:"scope"`
	Diff         Diff          `json:"diff"`
	Verification Verification  `json:"verification"`
	Budgets      Budgets       `json:"budgets"`
	Pointers     *Pointers     `json:"pointers,omitempty"`

	// relay's own
	SchemaVersion      int         `json:"schema_version"` // 1
	Summary            string      `json:"summary"`        // one line: what happened
	Why                string      `json:"why,omitempty"`
	Next               string      `json:"next,omitempty"`                 // the command to type
	PluginSays         string      `json:"plugin_says,omitempty"`          // what a plugin suggests; relay does not vouch for it
	BuilderOutputValid *bool       `json:"builder_output_valid,omitempty"` // the builder's answer was in its form
	Builder            *Worker     `json:"builder,omitempty"`
	Orchestrator       *Worker     `json:"orchestrator,omitempty"`
	Box                *BoxReport  `json:"box,omitempty"`
	Commit             string      `json:"commit,omitempty"`  // the commit that landed
	Salvage            string      `json:"salvage,omitempty"` // ref under refs/relay/ that keeps what was rejected
	Question           *Question   `json:"question,omitempty"`
	Control            *Control    `json:"control,omitempty"`
	Rules              []RuleHit   `json:"rules,omitempty"`    // every rule that was broken
	Policy             *Policy     `json:"policy,omitempty"`   // absent: there are no rules in files
	Switches           []Switch    `json:"switches,omitempty"` // to another provider or builder, by the configured fallback
	Limits             []Limit     `json:"limits,omitempty"`   // what ended the run, when it was limits or outages of vendors
	States             []StateTime `json:"states,omitempty"`
	Notes              []string    `json:"notes,omitempty"`
	Unpinned           []string    `json:"unpinned,omitempty"` // plugins of the run that nothing pins
}

// Task is the part of the task that the report repeats.
type Task struct {
	TaskID      string `json:"task_id"`
	MilestoneID string `json:"milestone_id"`
	TaskKind    string `json:"task_kind"` // execute, verify_only or question
	Intent      string `json:"intent"`
}

// BlastRadius is the size of what was judged.
type BlastRadius struct {
	FilesTouched int `json:"files_touched"` // how many
	LinesAdded   int `json:"lines_added"`
	LinesDeleted int `json:"lines_deleted"`
	NewFiles     int `json:"new_files"`
}

// Scope reports whether the change stayed inside its fence.
type Scope struct {
	OK           bool     `json:"ok"`
	Violations   []string `json:"violations"`    // at most 200 of at most 200 characters
	TouchedPaths []string `json:"touched_paths"` // at most 500 of at most 400 characters
}

// Diff points at the kept patch.
type Diff struct {
	FilesChanged  int    `json:"files_changed"`   // how many
	LinesChanged  int    `json:"lines_changed"`   // added and deleted
	DiffPatchPath string `json:"diff_patch_path"` // relative to the repository
}

// Verification lists the checks that ran.
type Verification struct {
	ExecMode      string      `json:"exec_mode"` // always argv_no_shell
	Runs          []VerifyRun `json:"runs"`
	VerifyLogPath string      `json:"verify_log_path"` // relative to the repository
	// Hidden says how many of the hidden checks passed, such as "2 of 2"; "" for none.
	Hidden string `json:"hidden,omitempty"`
	// Seed is what they made their values from: relay check run --seed repeats them.
	Seed uint64 `json:"hidden_seed,omitempty"`
	// ChangedTests are the test files of the change, where those of the base decided.
	ChangedTests []string `json:"changed_tests,omitempty"`
	// Beside: the checks saw the change at another path than the repository's.
	Beside bool `json:"-"`
	// Said is the evidence of a change that landed; see [Verification.Evidence].
	Said string `json:"evidence,omitempty"`
	// Agreed: the operator let the changed tests decide.
	Agreed bool `json:"changed_tests_agreed,omitempty"`
	// MissingAgreed: the operator let tests be missing.
	MissingAgreed bool `json:"missing_tests_agreed,omitempty"`
	// NewTests is what was found of the tests that the change brings; nil when nobody looked.
	NewTests *NewTests `json:"new_tests,omitempty"`
}

// NewTests is what a look at the new and changed tests of a change found. It only informs.
type NewTests struct {
	Tests      int      `json:"tests"`                       // that were looked at
	PassBefore []string `json:"pass_on_base,omitempty"`      // those of them that pass on the base's source too
	Mutants    int      `json:"mutants"`                     // small mistakes in the changed lines that were tried
	FailNone   []string `json:"fail_on_no_mutant,omitempty"` // tests that none of them makes fail
	NotDone    []string `json:"not_done,omitempty"`          // what was not looked at, and why
}

// VerifyRun is one check.
type VerifyRun struct {
	TemplateID string   `json:"template_id"` // of the configuration
	Phase      string   `json:"phase"`       // fast or slow
	Cmd        string   `json:"cmd"`
	Args       []string `json:"args"`
	ExitCode   int      `json:"exit_code"` // -1 when it was ended by a signal or a limit
	DurationMS int64    `json:"duration_ms"`
	TimedOut   bool     `json:"timed_out"`
	// Base is how it did before the change: passed, flaky or failed; "" when it was not
	// run there. Finding is what its end means beside that: passed, flaky, failed_before
	// or new_failure. Both are there with verification.baseline only.
	Base    string `json:"base,omitempty"`
	Finding string `json:"finding,omitempty"` // passed, flaky, failed_before or new_failure; with verification.baseline only
	// Tests is what the check's tests said by name; nil where the check failed anyway.
	Tests *TestFacts `json:"tests,omitempty"`
}

// TestFacts is what the tests of one check said, beside the base's.
type TestFacts struct {
	Passed   int      `json:"passed"`             // by name; 0 where the check is known by its exit code only
	New      int      `json:"new"`                // those of them that the base did not have
	Missing  []string `json:"missing,omitempty"`  // each with what became of it, at most 100
	Removed  int      `json:"removed,omitempty"`  // tests of the base that are gone with permission
	Problems []string `json:"problems,omitempty"` // what else speaks against the exit code, at most 100
	Probes   int      `json:"probes"`             // relay's own probes that did as they should
	Unprobed []string `json:"unprobed,omitempty"` // runners in which there were none
}

// Beside says in words what the check's end means beside the base; "" when it needs none.
func (v VerifyRun) Beside() string {
	switch {
	case v.Finding == "failed_before":
		return "failed before too, not blamed"
	case v.Finding == "flaky":
		return "flaky"
	case v.Finding == "new_failure" && v.Base == "passed":
		return "passed before"
	case v.Finding == "new_failure" && v.Base != "":
		return v.Base + " before, and not the same now"
	}
	return ""
}

// Budgets is the ledger of the milestone after the run.
type Budgets struct {
	MilestoneID       string   `json:"milestone_id"`
	Ticks             int      `json:"ticks"`              // how many
	OrchestratorCalls int      `json:"orchestrator_calls"` // how many
	BuilderCalls      int      `json:"builder_calls"`      // how many
	VerifyRuns        int      `json:"verify_runs"`        // runs of checks
	EstimatedCostUSD  float64  `json:"estimated_cost_usd"` // what is known of the cost
	Warnings          []string `json:"warnings"`
	// CostUnknown: at least one call did not say what it cost; the sum is a floor.
	CostUnknown bool `json:"cost_unknown,omitempty"`
}

// Pointers are paths for people.
type Pointers struct {
	ReportMDPath string `json:"report_md_path,omitempty"` // relative to the repository
	HistoryDir   string `json:"history_dir,omitempty"`    // relative to the repository
}

// Worker is a plugin's part in the run. Token counts that nobody reported are absent.
type Worker struct {
	Plugin          string   `json:"plugin"`
	Version         string   `json:"version,omitempty"`
	Unpinned        string   `json:"unpinned,omitempty"` // where it came from, when nothing pins it: a developer's call
	Model           string   `json:"model,omitempty"`
	Calls           int      `json:"calls"`
	InputTokens     *int64   `json:"input_tokens,omitempty"`
	OutputTokens    *int64   `json:"output_tokens,omitempty"`
	CostUSD         *float64 `json:"cost_usd,omitempty"`
	Summary         string   `json:"summary,omitempty"`             // the plugin's own words: shown, never believed
	ProcessesLeft   int      `json:"processes_left,omitempty"`      // ended with the box
	FailureReason   string   `json:"failure_reason,omitempty"`      // one word of the plugin protocol
	FailureDetail   string   `json:"failure_detail,omitempty"`      // its message
	UpstreamCode    string   `json:"upstream_code,omitempty"`       // the vendor's own code
	UpstreamRequest string   `json:"upstream_request_id,omitempty"` // for the vendor's support
	ResetAt         string   `json:"reset_at,omitempty"`            // when the vendor's limit ends
}

// Limit is a limit or an outage of a vendor, which ends by itself.
type Limit struct {
	Role     string    `json:"role"` // orchestrator, builder, …
	Provider string    `json:"provider"`
	Model    string    `json:"model,omitempty"`
	Reason   string    `json:"reason"`         // QUOTA_EXHAUSTED, RATE_LIMITED, OVERLOADED or NETWORK
	Name     string    `json:"name,omitempty"` // as the vendor calls it: five_hour
	At       time.Time `json:"at"`
	Until    time.Time `json:"until,omitzero"` // as the vendor says; absent: not known
	Summary  string    `json:"summary"`
}

// Met says who met what: claude/opus met QUOTA_EXHAUSTED (five_hour).
func (l Limit) Met() string {
	who := l.Provider
	if l.Model != "" {
		who += "/" + l.Model
	}
	text := who + " met " + l.Reason
	if l.Name != "" {
		text += " (" + l.Name + ")"
	}
	return text
}

// MetUntil says until when, too, where that is known.
func (l Limit) MetUntil() string {
	if l.Until.IsZero() {
		return l.Met()
	}
	return l.Met() + " until " + l.Until.Local().Format(time.DateTime)
}

// Tell says on one line what was met: each limit as [Limit.Met] or [Limit.MetUntil].
func Tell(limits []Limit, say func(Limit) string) string {
	parts := make([]string, len(limits))
	for i, l := range limits {
		parts[i] = say(l)
	}
	return strings.Join(parts, "; ")
}

// Switch is the step from a provider or builder that met a limit to the next one of
// the configured fallback.
type Switch struct {
	From       Limit  `json:"from"`
	ToProvider string `json:"to_provider"`        // that took over
	ToModel    string `json:"to_model,omitempty"` // its model
}

// BoxReport is the containment that was in force, and what it does not cover.
type BoxReport struct {
	Means string   `json:"means"`          // overlay, landlock or copy
	Gaps  []string `json:"gaps,omitempty"` // what it does not stop
	// PutBack is what was changed in the real repository while a process of the box
	// ran, and undone; for means that do not keep it from being changed.
	PutBack []string `json:"put_back,omitempty"`
	// Network lists the roles whose network is narrowed.
	Network []Network `json:"network,omitempty"`
}

// String names the means and counts its gaps: they are the same on each run, so one command lists them.
func (b BoxReport) String() string {
	if len(b.Gaps) == 0 {
		return b.Means
	}
	return b.Means + ", with " + format.Count(len(b.Gaps), "known gap") + ": `relay doctor` lists them"
}

// Network is what the boxes of one role could reach, and what they were refused.
type Network struct {
	Role    string             `json:"role"` // whose box it was
	Mode    string             `json:"mode"` // hosts or none
	Refused []netproxy.Refusal `json:"refused,omitempty"`
}

// Add adds what another box of a role was refused.
func (n Network) Add(all []Network) []Network {
	i := slices.IndexFunc(all, func(o Network) bool { return o.Role == n.Role })
	if i < 0 {
		return append(all, Network{n.Role, n.Mode, slices.Clone(n.Refused)})
	}
	for _, r := range n.Refused {
		at := slices.IndexFunc(all[i].Refused, func(o netproxy.Refusal) bool { return o.Target == r.Target && o.Why == r.Why })
		if at < 0 {
			all[i].Refused = append(all[i].Refused, r)
		} else {
			all[i].Refused[at].Count += r.Count
		}
	}
	return all
}

// Question is what the operator is asked.
type Question struct {
	Prompt  string   `json:"prompt"`
	Choices []string `json:"choices,omitempty"`
}

// Control is the orchestrator's stop or continue.
type Control struct {
	Action string `json:"action"` // stop or continue
	Reason string `json:"reason,omitempty"`
}

// RuleHit is one broken rule.
type RuleHit struct {
	Code string `json:"code"`
	Path string `json:"path,omitempty"`
	Rule string `json:"rule"`
}

// Hits are the rules that a verdict found broken, the first most of them.
func Hits(v judge.Verdict, most int) (hits []RuleHit) {
	for _, b := range v.Violations[:min(len(v.Violations), most)] {
		hits = append(hits, RuleHit{Code: string(b.Code), Path: b.Path, Rule: b.Rule})
	}
	return hits
}

// String says it on one line.
func (h RuleHit) String() string { return strings.TrimPrefix(h.Path+": "+h.Rule, ": ") }

// StateTime is how long one state of the tick took.
type StateTime struct {
	State string `json:"state"` // of the tick
	MS    int64  `json:"ms"`
}
