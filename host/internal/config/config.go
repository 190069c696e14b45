package config

import (
	"encoding/json"
	"time"
)

// Config is the whole configuration after layering. Every key of seed 001 is here
// under its own name; keys that relay adds are marked [relay].
type Config struct {
	Schema       string `json:"$schema,omitempty"`
	Version      string `json:"version"`
	ProductName  string `json:"product_name,omitempty"`
	WorkspaceDir string `json:"workspace_dir"`
	EnvFile      string `json:"env_file"` // [relay] only the user can set it

	Runner       Runner                     `json:"runner"`
	ClaudeCLI    ClaudeCLI                  `json:"claude_code_cli"`
	Models       Models                     `json:"models"`
	Orchestrator Orchestrator               `json:"orchestrator"`
	Builder      Builder                    `json:"builder"`
	Scope        Scope                      `json:"scope"`
	DiffLimits   DiffLimits                 `json:"diff_limits"`
	Verification Verification               `json:"verification"`
	Budgets      Budgets                    `json:"budgets"`
	Fallback     Fallback                   `json:"fallback"`  // [relay]
	Limits       Limits                     `json:"limits"`    // [relay]
	Providers    map[string]Account         `json:"providers"` // [relay] plugin name → its account
	History      History                    `json:"history"`
	Evidence     Evidence                   `json:"evidence"`  // [relay]
	Commit       Commit                     `json:"commit"`    // [relay]
	Worktree     Worktree                   `json:"worktree"`  // [relay]
	Box          Box                        `json:"box"`       // [relay]
	Notify       Notify                     `json:"notify"`    // [relay]
	Telemetry    Telemetry                  `json:"telemetry"` // [relay]
	Cycles       Cycles                     `json:"cycles"`    // [relay]
	Pipeline     Pipeline                   `json:"pipeline"`  // [relay]
	Plugins      map[string]json.RawMessage `json:"plugins"`   // [relay] name → block for Configure, checked against the plugin's own schema
}

// Runner holds the limits of one tick and the files that relay owns.
type Runner struct {
	RequireGit       bool           `json:"require_git"`
	MaxTickSeconds   int            `json:"max_tick_seconds"` // 1 to 86400
	Lockfile         string         `json:"lockfile"`
	RunnerOwnedGlobs []string       `json:"runner_owned_globs"`
	StuckAfter       int            `json:"stuck_after"` // [relay] 1 to 100
	CrashCleanup     CrashCleanup   `json:"crash_cleanup"`
	RenderReportMD   RenderReportMD `json:"render_report_md"`
}

// CrashCleanup says what preflight tidies up after a crash.
type CrashCleanup struct {
	DeleteTmpGlob           string `json:"delete_tmp_glob"`
	ValidateRunnerJSONFiles bool   `json:"validate_runner_json_files"`
}

// RenderReportMD bounds the rendered report.
type RenderReportMD struct {
	Enabled  bool `json:"enabled"`
	MaxChars int  `json:"max_chars"`
}

// ClaudeCLI is how the seed names the Claude Code binary; it feeds the plugins
// claude (transport cli) and claude-code.
type ClaudeCLI struct {
	Command              string `json:"command"`
	OutputFormat         string `json:"output_format"`
	NoSessionPersistence bool   `json:"no_session_persistence"`
}

// Models names the model of each role.
type Models struct {
	OrchestratorModel         string `json:"orchestrator_model"`
	OrchestratorFallbackModel string `json:"orchestrator_fallback_model"`
	BuilderModel              string `json:"builder_model"`
	BuilderFallbackModel      string `json:"builder_fallback_model"`
}

// Orchestrator is the Brain: which provider proposes the task, and its limits.
type Orchestrator struct {
	Provider               string  `json:"provider"` // [relay] plugin name or alias; default "claude"
	MaxTurns               int     `json:"max_turns"`
	PermissionMode         string  `json:"permission_mode"`
	AllowedTools           string  `json:"allowed_tools"`
	SystemPromptFile       string  `json:"system_prompt_file"`
	UserPromptFile         string  `json:"user_prompt_file"`
	TaskSchemaFile         string  `json:"task_schema_file"`
	MaxParseRetriesPerTick int     `json:"max_parse_retries_per_tick"` // 0 or 1
	MaxBudgetUSD           float64 `json:"max_budget_usd"`
	TimeoutSeconds         int     `json:"timeout_seconds"`      // [relay]
	IdleTimeoutSeconds     int     `json:"idle_timeout_seconds"` // [relay]
}

// Builder is the Hands: which builder works by default, and each one's limits.
type Builder struct {
	DefaultMode        string          `json:"default_mode"`
	AllowPatchMode     bool            `json:"allow_patch_mode"`
	ClaudeCode         ClaudeCode      `json:"claude_code"`
	Patch              Patch           `json:"patch"`
	External           *ExternalDriver `json:"external,omitempty"`   // [relay] also set when the file says cursor
	Cursor             *ExternalDriver `json:"cursor,omitempty"`     // seed 002's name of external; read External
	TimeoutSeconds     int             `json:"timeout_seconds"`      // [relay] wall clock of one build
	IdleTimeoutSeconds int             `json:"idle_timeout_seconds"` // [relay]
}

// ClaudeCode configures the builder plugin claude-code.
type ClaudeCode struct {
	MaxTurns                int     `json:"max_turns"`
	PermissionMode          string  `json:"permission_mode"`
	AllowedTools            string  `json:"allowed_tools"`
	SystemPromptFile        string  `json:"system_prompt_file"`
	UserPromptFile          string  `json:"user_prompt_file"`
	BuilderResultSchemaFile string  `json:"builder_result_schema_file"`
	MaxBudgetUSD            float64 `json:"max_budget_usd"`
	StrictBuilderJSON       bool    `json:"strict_builder_json"`
}

// Patch configures the builder plugin patch.
type Patch struct {
	MaxPatchAttemptsPerMilestone int `json:"max_patch_attempts_per_milestone"`
}

// ExternalDriver configures the builder plugin external: an argv, never a shell.
type ExternalDriver struct {
	Command        string   `json:"command"`
	Args           []string `json:"args"`
	TimeoutSeconds int      `json:"timeout_seconds"`
	OutputFile     string   `json:"output_file"`
}

// Scope is what a task may do that does not say, and the most that it may ask for.
type Scope struct {
	Ceiling                     ScopeCeiling `json:"ceiling"` // [relay]
	DefaultAllowedGlobs         []string     `json:"default_allowed_globs"`
	DefaultForbiddenGlobs       []string     `json:"default_forbidden_globs"`
	ScratchGlobs                []string     `json:"scratch_globs"` // [relay]
	DefaultAllowNewFiles        bool         `json:"default_allow_new_files"`
	DefaultAllowLockfileChanges bool         `json:"default_allow_lockfile_changes"`
	Lockfiles                   []string     `json:"lockfiles"`
}

// ScopeCeiling is the most that a task may ask for, where that is not the default.
type ScopeCeiling struct {
	AllowedGlobs         []string `json:"allowed_globs"` // nil: not said
	AllowNewFiles        bool     `json:"allow_new_files"`
	AllowLockfileChanges *bool    `json:"allow_lockfile_changes"`
	MaxFilesTouched      int      `json:"max_files_touched"` // 0: not said
	MaxLinesChanged      int      `json:"max_lines_changed"`
}

// DiffLimits are the default limits on the size of a change.
type DiffLimits struct {
	DefaultMaxFilesTouched int `json:"default_max_files_touched"`
	DefaultMaxLinesChanged int `json:"default_max_lines_changed"`
}

// Verification holds the check templates and the rules for their parameters.
type Verification struct {
	ExecutionMode            string     `json:"execution_mode"`
	MaxParamLen              int        `json:"max_param_len"`
	RejectWhitespaceInParams bool       `json:"reject_whitespace_in_params"`
	RejectDotdot             bool       `json:"reject_dotdot"`
	RejectMetacharsRegex     string     `json:"reject_metachars_regex"`
	TimeoutFastSeconds       int        `json:"timeout_fast_seconds"`
	TimeoutSlowSeconds       int        `json:"timeout_slow_seconds"`
	ProtectedGlobs           []string   `json:"protected_globs"` // [relay]
	TestGlobs                []string   `json:"test_globs"`      // [relay] protected where they exist
	Baseline                 bool       `json:"baseline"`        // [relay] only new failures count
	Mutation                 *bool      `json:"mutation"`        // [relay] new tests are looked at
	MutationSeconds          int        `json:"mutation_seconds"`
	Required                 []string   `json:"required"` // [relay] ids of templates
	Caches                   []string   `json:"caches"`   // [relay] folders of the home
	Templates                []Template `json:"templates"`
	Hidden                   []Hidden   `json:"hidden"` // [relay]
	// CheckDirs are all folders of hidden checks of the user's own, for whatever repository.
	CheckDirs []string `json:"-"`
	// Programs are the files of the repository that the checks run.
	Programs []string `json:"-"`
}

// Template is one check as an argv.
type Template struct {
	ID     string           `json:"id"`
	Cmd    string           `json:"cmd"`
	Args   []string         `json:"args"`
	Params map[string]Param `json:"params,omitempty"`
	// Results is the form in which it names its tests: "", go-test-json or tap. [relay]
	Results string `json:"results,omitempty"`
	// Dir is the folder of the repository in which it runs; "" is the root. [relay]
	Dir string `json:"dir,omitempty"`
	// Env are variables: NAME=value, or NAME for the one of the user's environment. [relay]
	Env []string `json:"env,omitempty"`
	// TimeoutSeconds is its own limit; 0 is that of its phase. [relay]
	TimeoutSeconds int `json:"timeout_seconds,omitempty"`
}

// Param says what a template's parameter may be.
type Param struct {
	Kind string `json:"kind"` // "string_token" or "path"
}

// Budgets are the caps of one milestone, and those on what calls use up in one run,
// cycle and day.
type Budgets struct {
	PerMilestone    PerMilestone    `json:"per_milestone"`
	PricesFile      string          `json:"prices_file"`       // [relay] only the user can set it
	WarnAtFraction  float64         `json:"warn_at_fraction"`  // 0 to 1
	AlertAtFraction float64         `json:"alert_at_fraction"` // [relay] 0 to 1
	Shared          bool            `json:"shared"`            // [relay] days are counted over all repositories of the machine
	PerRun          Caps            `json:"per_run"`           // [relay]
	PerCycle        Caps            `json:"per_cycle"`         // [relay]
	PerDay          Caps            `json:"per_day"`           // [relay]
	PerProvider     map[string]Caps `json:"per_provider"`      // [relay] one provider's day, by plugin name
}

// Caps bound what calls may use up. 0 means no cap.
type Caps struct {
	MaxCostUSD float64 `json:"max_cost_usd"`
	MaxCalls   int     `json:"max_calls"`
	MaxTokens  int     `json:"max_tokens"`
}

// PerMilestone holds the counters' caps. MaxEstimatedCostUSD 0 means no cap.
type PerMilestone struct {
	MaxTicks             int     `json:"max_ticks"`
	MaxOrchestratorCalls int     `json:"max_orchestrator_calls"`
	MaxBuilderCalls      int     `json:"max_builder_calls"`
	MaxVerifyRuns        int     `json:"max_verify_runs"`
	MaxEstimatedCostUSD  float64 `json:"max_estimated_cost_usd"`
}

// Fallback lists, by role, whom to turn to when a vendor's limit or outage is met: each
// entry is "plugin/model" or "plugin".
type Fallback struct {
	Orchestrator []string `json:"orchestrator"`
	Builder      []string `json:"builder"`
}

// Limits says how long limits of vendors are waited for.
type Limits struct {
	MaxWait string `json:"max_wait"` // as time.ParseDuration reads it
}

// LongestWait is MaxWait, which Load has checked.
func (l Limits) LongestWait() time.Duration {
	d, _ := time.ParseDuration(l.MaxWait)
	return d
}

// Account is an account at a vendor as the whole machine shares it.
type Account struct {
	Account        string  `json:"account"`
	CallsPerMinute float64 `json:"calls_per_minute"` // 0: no limit
	Burst          int     `json:"burst"`            // 0: 1
}

// History says what is kept of each run, and how much of it.
type History struct {
	Enabled          bool   `json:"enabled"`
	Dir              string `json:"dir"`
	MaxMB            int    `json:"max_mb"`
	IncludeDiffPatch bool   `json:"include_diff_patch"`
	IncludeVerifyLog bool   `json:"include_verify_log"`
}

// Evidence says what is told of a landed commit to those who have the repository alone.
type Evidence struct {
	Sign string `json:"sign"` // relay, ssh or off
}

// Commit says how a success lands.
type Commit struct {
	OnSuccess      bool   `json:"on_success"`      // default true
	BuilderCommits string `json:"builder_commits"` // squash, stop or keep
}

// Worktree says how work gets on with the operator's own.
type Worktree struct {
	Dirty string `json:"dirty"` // auto, allow or block
}

// MayBeDirty reports whether work begins in a work tree with changes that are not committed.
// A workflow of many steps does by default, a single tick does not.
func (w Worktree) MayBeDirty(steps bool) bool {
	return w.Dirty == "allow" || w.Dirty == "auto" && steps
}

// Box says where builders run.
type Box struct {
	Means       string    `json:"means"`        // auto, overlay, landlock or copy
	Required    string    `json:"required"`     // the weakest means that is accepted; "" accepts auto's choice
	PersistDirs []string  `json:"persist_dirs"` // folders of HOME that stay writable, for example "~/.claude"
	Hide        []string  `json:"hide"`         // more files and folders that no box shows
	Show        []string  `json:"show"`         // of those that relay hides by itself
	Network     Network   `json:"network"`
	Limits      BoxLimits `json:"limits"`
}

// Network says what boxes may reach: full, needed, hosts or none for each role.
type Network struct {
	Builder      string   `json:"builder"`
	Provider     string   `json:"provider"`
	Verification string   `json:"verification"` // auto: at most what the builder has
	Hosts        []string `json:"hosts"`        // for the roles with hosts or needed
}

// BoxLimits are what one box may take; 0 is no limit, except for MemoryMB.
type BoxLimits struct {
	Processes  int `json:"processes"`
	MemoryMB   int `json:"memory_mb"` // 0: three quarters of the machine's
	CPUs       int `json:"cpus"`
	CPUSeconds int `json:"cpu_seconds"`
	OpenFiles  int `json:"open_files"`
	FileMB     int `json:"file_mb"`
	DiskMB     int `json:"disk_mb"`
	OutputMB   int `json:"output_mb"`
}

// Notify says how the operator hears that something waits or has ended.
type Notify struct {
	Desktop bool     `json:"desktop"`
	Bell    bool     `json:"bell"`
	Command []string `json:"command"`
	// Where the addresses of services are, as package keys reads it; nil for none.
	Ntfy     any `json:"ntfy,omitempty"`
	Slack    any `json:"slack,omitempty"`
	Telegram any `json:"telegram,omitempty"`
	Webhook  any `json:"webhook,omitempty"`
}

// Telemetry reports whether spans are sent to a collector of the user's.
type Telemetry struct {
	Traces   string `json:"traces"`   // off or otlp
	Endpoint string `json:"endpoint"` // base address; "" takes that of the environment
}

// Cycles bounds what all audit cycles of a repository take.
type Cycles struct {
	MaxWorktrees   int `json:"max_worktrees"`
	WorktreesMaxMB int `json:"worktrees_max_mb"`
}

// Pipeline is how the tasks of a task list are worked through.
type Pipeline struct {
	Plan               PipelineAsker   `json:"plan"`
	Code               PipelineBuilder `json:"code"`
	Review             PipelineAsker   `json:"review"`
	Cleanup            PipelineBuilder `json:"cleanup"`
	Criteria           PipelineAsker   `json:"criteria"`
	OnLimit            string          `json:"on_limit"`
	MaxReviewRounds    int             `json:"max_review_rounds"`
	MaxResumeAttempts  int             `json:"max_resume_attempts"`
	CallTimeoutSeconds int             `json:"call_timeout_seconds"`
	MaxCallUSD         float64         `json:"max_call_usd"`
	MaxSessionUSD      float64         `json:"max_session_usd"`
	MaxTaskUSD         float64         `json:"max_task_usd"`
	MaxRunUSD          float64         `json:"max_run_usd"`
	Scope              PipelineScope   `json:"scope"`
	Push               PipelinePush    `json:"push"`
}

// PipelineAsker is who answers in one step of a pipeline.
type PipelineAsker struct {
	Provider string   `json:"provider"`
	Model    string   `json:"model"`
	Fallback []string `json:"fallback"`
}

// PipelineBuilder is who works on the files in one step of a pipeline.
type PipelineBuilder struct {
	Builder        string   `json:"builder"`
	Model          string   `json:"model"`
	Fallback       []string `json:"fallback"`
	SessionMinutes int      `json:"session_minutes"`
}

// PipelineScope is the fence of tasks that name none.
type PipelineScope struct {
	AllowedGlobs         []string `json:"allowed_globs"`
	AllowNewFiles        bool     `json:"allow_new_files"`
	AllowLockfileChanges bool     `json:"allow_lockfile_changes"`
	MaxFilesTouched      int      `json:"max_files_touched"`
	MaxLinesChanged      int      `json:"max_lines_changed"`
}

// PipelinePush is where a pipeline pushes to.
type PipelinePush struct {
	Remote string `json:"remote"`
	Branch string `json:"branch"`
}
