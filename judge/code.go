package judge

// Code is the stable name of an outcome. Scripts match on it; it never changes
// its meaning. The text that goes with each code is in package host.
type Code string

// Success is the only code of a run that landed or had nothing to land.
const Success Code = "SUCCESS"

// Codes of a run that started and was stopped. Nothing of it is in the repository.
const (
	StopForbidden            Code = "STOP_SCOPE_VIOLATION_FORBIDDEN"
	StopOutsideAllowed       Code = "STOP_SCOPE_VIOLATION_OUTSIDE_ALLOWED"
	StopNewFile              Code = "STOP_SCOPE_VIOLATION_NEW_FILE"
	StopLockfile             Code = "STOP_LOCKFILE_CHANGE_FORBIDDEN"
	StopDiffTooLarge         Code = "STOP_DIFF_TOO_LARGE"
	StopSecret               Code = "STOP_SECRET_IN_CHANGE"
	StopVerifyFailedFast     Code = "STOP_VERIFY_FAILED_FAST"
	StopVerifyFailedSlow     Code = "STOP_VERIFY_FAILED_SLOW"
	StopOldTestsFail         Code = "STOP_OLD_TESTS_FAIL"
	StopHiddenFailed         Code = "STOP_HIDDEN_CHECK_FAILED"
	StopTestsMissing         Code = "STOP_TESTS_MISSING"
	StopPolicyForbidden      Code = "STOP_POLICY_FORBIDDEN"
	StopVerifyTainted        Code = "STOP_VERIFY_TAINTED"
	StopVerifyOnlyChanged    Code = "STOP_VERIFY_ONLY_SIDE_EFFECTS"
	StopQuestionChanged      Code = "STOP_QUESTION_SIDE_EFFECTS"
	StopRunnerOwned          Code = "STOP_RUNNER_OWNED_MUTATION"
	StopBuilderOutputInvalid Code = "STOP_BUILDER_OUTPUT_INVALID"
	StopBuilderTimeout       Code = "STOP_BUILDER_TIMEOUT"
	StopHeadMoved            Code = "STOP_HEAD_MOVED"
	StopProviderQuota        Code = "STOP_PROVIDER_QUOTA"
	StopPluginCrashed        Code = "STOP_PLUGIN_CRASHED"
	StopInterrupted          Code = "STOP_INTERRUPTED"
)

// Codes of a run that did not start. Nothing was spent after the block was found.
const (
	BlockedMissingConfig   Code = "BLOCKED_MISSING_CONFIG"
	BlockedUntrustedConfig Code = "BLOCKED_UNTRUSTED_CONFIG"
	BlockedLockHeld        Code = "BLOCKED_LOCK_HELD"
	BlockedDirtyWorktree   Code = "BLOCKED_DIRTY_WORKTREE"
	BlockedHistoryCap      Code = "BLOCKED_HISTORY_CAP_CLEANUP_REQUIRED"
	BlockedCrashRecovery   Code = "BLOCKED_CRASH_RECOVERY_REQUIRED"
	BlockedBudgetCap       Code = "BLOCKED_BUDGET_CAP"
	BlockedBudgetExhausted Code = "BLOCKED_BUDGET_EXHAUSTED"
	BlockedOrchestrator    Code = "BLOCKED_ORCHESTRATOR_OUTPUT_INVALID"
	BlockedBeyondCeiling   Code = "BLOCKED_BEYOND_CEILING"
	BlockedRepository      Code = "BLOCKED_REPOSITORY"
	BlockedTaskInvalid     Code = "BLOCKED_TASK_INVALID"
	BlockedPlugin          Code = "BLOCKED_PLUGIN"
	BlockedAuth            Code = "BLOCKED_AUTH"
	BlockedBox             Code = "BLOCKED_BOX"
)

// Outcome is the coarse class of a code, the "verdict" of a report.
type Outcome string

// The three outcomes of seed 001.
const (
	OutcomeSuccess Outcome = "success"
	OutcomeStop    Outcome = "stop"
	OutcomeBlocked Outcome = "blocked"
)

// Outcome gives the class that the code's prefix names.
func (c Code) Outcome() Outcome {
	switch {
	case c == Success:
		return OutcomeSuccess
	case len(c) > 8 && c[:8] == "BLOCKED_":
		return OutcomeBlocked
	default:
		return OutcomeStop
	}
}
