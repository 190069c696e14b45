package host

import (
	"maps"
	"slices"

	"github.com/paxiom/relay/judge"
)

// Explanation is what an outcome's code means to a person.
type Explanation struct {
	Code     judge.Code `json:"code"`
	Title    string     `json:"title"`   // a few words
	Cause    string     `json:"cause"`   // what leads to it
	Did      string     `json:"did"`     // what relay did about it
	Command  string     `json:"command"` // what to type, in backticks first
	ExitCode int        `json:"exit_code"`
}

// What relay does whenever it stops or blocks, in the same words everywhere.
const (
	didDiscard = "The box was thrown away; your repository was never written. What was built is kept as a patch in the history."
	didNothing = "Nothing was started and nothing was spent."
	didReport  = "Your repository was not written; the report says how far the run came."
)

// explanations is the one table of codes.
var explanations = map[judge.Code]Explanation{
	judge.Success: {Title: "done",
		Cause: "Every rule held and every check passed.",
		Did:   "The judged change was applied and committed, or there was nothing to change.", Command: "`relay show`"},

	judge.StopForbidden: {Title: "touched a forbidden path",
		Cause: "The builder wrote a path that is forbidden, that a tool runs or obeys by itself, that has a name that may not exist, or that is no plain file.",
		Did:   didDiscard, Command: "`relay show` names the paths; ask for a step without them, or name one that is meant to change in the scope.allowed_globs of a copy of .relay/TASK.json, then `relay run --task FILE`; those of scope.default_forbidden_globs have to be taken out there"},
	judge.StopOutsideAllowed: {Title: "left its scope",
		Cause: "The builder wrote a path that the task's allowed_globs do not cover.",
		Did:   didDiscard, Command: "`relay show` names the paths; if they belong to the task, say so in its goal, or add them to allowed_globs in a copy of .relay/TASK.json and `relay run --task FILE`"},
	judge.StopNewFile: {Title: "made a new file",
		Cause: "The builder made a file and the task does not allow new ones.",
		Did:   didDiscard, Command: "`relay show`; if new files are fine, say so in the goal, or set allow_new_files in a copy of .relay/TASK.json and `relay run --task FILE`"},
	judge.StopLockfile: {Title: "changed a lockfile",
		Cause: "A dependency lockfile differs and the task does not allow that.",
		Did:   didDiscard, Command: "`relay show`; if it was meant, say so in the goal, or set allow_lockfile_changes in a copy of .relay/TASK.json and `relay run --task FILE`"},
	judge.StopDiffTooLarge: {Title: "change too large",
		Cause: "The change has more files or lines than the task's diff_limits.",
		Did:   didDiscard, Command: "`relay show`; then ask for a smaller step, or raise diff_limits in a copy of .relay/TASK.json and `relay run --task FILE`"},
	judge.StopVerifyFailedFast: {Title: "a fast check failed",
		Cause: "A fast verification exited with an error or ran out of time; slow ones were not run.",
		Did:   didDiscard, Command: "`relay show` has the check's output; `relay salvage` gets at the change, and `relay run` goes on"},
	judge.StopVerifyFailedSlow: {Title: "a slow check failed",
		Cause: "A slow verification exited with an error or ran out of time.",
		Did:   didDiscard, Command: "`relay show` has the check's output; `relay salvage` gets at the change, and `relay run` goes on"},
	judge.StopSecret: {Title: "the change holds a credential",
		Cause: "A file, a name or a commit of the change holds a value of a credential that is hidden from every box, or a key that a plugin was given, as it is or encoded.",
		Did:   didDiscard, Command: "`relay show` names the file and the line; `relay salvage` gets at the rest; where the value is no credential, box.show in your own configuration shows builders the file that it comes from"},
	judge.StopTestsMissing: {Title: "tests are missing",
		Cause: "A test that ran before the change did not run and pass after it: it is gone, skipped, deselected, renamed or marked to fail.",
		Did:   didDiscard, Command: "`relay show` names the tests; to let tests go, name their file in the scope.allowed_globs of a copy of .relay/TASK.json, then `relay run --task FILE`"},
	judge.StopHiddenFailed: {Title: "a hidden check failed",
		Cause: "A check of verification.hidden, whose files no builder sees, did not pass. No model is told more than the class that its author gave.",
		Did:   didDiscard, Command: "`relay show` tells you alone what it printed; `relay salvage` gets at the change"},
	judge.StopOldTestsFail: {Title: "the tests of the base fail",
		Cause: "The change touches tests, or what they are made of, and the checks pass only with these changes: with the tests as they were on the base, a check fails.",
		Did:   didDiscard, Command: "`relay show` has the changed tests; if they are meant to change, name them one by one in the scope.allowed_globs of a copy of .relay/TASK.json, then `relay run --task FILE`"},
	judge.StopPolicyForbidden: {Title: "a rule of the policy forbids it",
		Cause: "A rule in a policy/*.cel file, of yours or of the repository's base commit, is true of the change, or could not be computed.",
		Did:   didDiscard, Command: "`relay show` names the rule with its file and line; `relay salvage` gets at the change; `relay policy test` tries the rules"},
	judge.StopVerifyTainted: {Title: "a check could not be trusted",
		Cause: "The task names an unknown check, or gives it a parameter that is not allowed.",
		Did:   "No check was run. " + didDiscard, Command: "`relay show` names the parameter; `relay config show verification` lists the checks"},
	judge.StopVerifyOnlyChanged: {Title: "a verify_only task changed files",
		Cause: "The task allowed no change and the builder made one.",
		Did:   didDiscard, Command: "`relay show`; `relay salvage` gets at the change, and `relay run` goes on"},
	judge.StopQuestionChanged: {Title: "a question changed files",
		Cause: "A question allows no change and the builder made one.",
		Did:   didDiscard, Command: "`relay show`; `relay salvage` gets at the change, and `relay run` goes on"},
	judge.StopRunnerOwned: {Title: "wrote relay's own files",
		Cause: "The builder wrote into relay's workspace, its configuration or git's own folder.",
		Did:   didDiscard, Command: "`relay show` names the paths; `relay run` goes on"},
	judge.StopBuilderOutputInvalid: {Title: "the builder's answer is invalid",
		Cause: "The builder did not answer with the result that its schema asks for.",
		Did:   didDiscard, Command: "`relay show`; `relay run` asks again; with builder.claude_code.strict_builder_json=false such builds are judged all the same"},
	judge.StopBuilderTimeout: {Title: "the builder ran out of time",
		Cause: "The builder did not end within its time, or was silent for too long.",
		Did:   "Every process of it was ended. " + didDiscard, Command: "`relay show`; `relay salvage` gets at the change; ask for a smaller step, or raise builder.timeout_seconds"},
	judge.StopHeadMoved: {Title: "the repository moved",
		Cause: "HEAD, a ref or a file of the change was changed by somebody else meanwhile, or by the builder in its box.",
		Did:   "Nothing was overwritten: your version is in the tree, the builder's is kept.", Command: "`relay salvage` shows what was built; `git status` shows your own changes"},
	judge.StopProviderQuota: {Title: "a vendor's limit is used up",
		Cause: "The provider said that a quota or rate limit is exhausted.",
		Did:   didReport, Command: "`relay run` again after the time that the report names, or choose another provider"},
	judge.StopPluginCrashed: {Title: "a plugin crashed",
		Cause: "A plugin's process ended in the middle of a call, or relay ended it since it broke the plugin protocol or flooded relay.",
		Did:   "Every process of it was ended. " + didReport, Command: "`relay show` has what it wrote, then `relay run` again; `relay plugin list` shows where the plugin comes from"},
	judge.StopInterrupted: {Title: "interrupted",
		Cause: "A signal, the tick's time limit, a limit of a box, a failed provider call, a filter of git's that failed or an error of relay's own ended the run.",
		Did:   didReport, Command: "`relay show`, then `relay run` again; box.limits has the limits of a box"},

	judge.BlockedMissingConfig: {Title: "no usable configuration",
		Cause: "There is no configuration file, or what it says, or a program that it names, can't be used.",
		Did:   didNothing, Command: "`relay init`"},
	judge.BlockedRepository: {Title: "no repository that relay can work on",
		Cause: "This is no git repository, a bare one, one without a commit, one that git can't read, or one that relay may not write.",
		Did:   didNothing, Command: "`git status`; a new repository begins with `git init` and a first commit"},
	judge.BlockedTaskInvalid: {Title: "your task is not valid",
		Cause: "What `relay run --task FILE` was given is no task.",
		Did:   didNothing, Command: "`relay run --task FILE` once it is fixed; the message names the field"},
	judge.BlockedUntrustedConfig: {Title: "configuration not trusted",
		Cause: "The repository's configuration names commands or plugins that you have not agreed to.",
		Did:   didNothing, Command: "`relay trust`"},
	judge.BlockedLockHeld: {Title: "another relay is running here",
		Cause: "Another process holds this workspace's lock.",
		Did:   didNothing, Command: "`relay status` says who; wait for it or end it"},
	judge.BlockedDirtyWorktree: {Title: "uncommitted changes",
		Cause: "The work tree differs from HEAD, and this run can't begin so: a single run waits for a clean tree unless worktree.dirty is allow, and the means landlock and copy always do.",
		Did:   didNothing, Command: "`git status`, then commit them or `git stash -u`"},
	judge.BlockedHistoryCap: {Title: "history is full",
		Cause: "The kept runs are larger than history.max_mb.",
		Did:   didNothing, Command: "`relay history prune`"},
	judge.BlockedCrashRecovery: {Title: "a crash needs your attention",
		Cause: "A file of relay's own is damaged, or an interrupted change can't be settled without you.",
		Did:   didNothing, Command: "`relay recover`"},
	judge.BlockedBudgetCap: {Title: "a budget is used up",
		Cause: "A counter of this milestone, or what calls use up in a run, a cycle or a day, has reached its cap.",
		Did:   didNothing, Command: "`relay status` shows the counters; raise what the message names in the configuration's budgets, start another milestone, or go on tomorrow"},
	judge.BlockedBudgetExhausted: {Title: "not enough budget for a tick",
		Cause: "What is left of this milestone's budget, or of a cap on a run, a cycle or a day, does not cover the worst case of what comes next.",
		Did:   didNothing, Command: "`relay status` shows the counters; raise what the message names in the configuration's budgets, start another milestone, or go on tomorrow"},
	judge.BlockedOrchestrator: {Title: "no valid task",
		Cause: "The orchestrator's answer was not a valid task, and neither was its second try.",
		Did:   didReport, Command: "`relay show` has the reason; try another model, or `relay run --task FILE`"},
	judge.BlockedBeyondCeiling: {Title: "asks for more than the ceiling",
		Cause: "A task of your own names paths or limits beyond what the configuration lets a task have.",
		Did:   didNothing, Command: "`relay run --task FILE --beyond-ceiling` if it is meant; `relay config show scope` shows the ceiling"},
	judge.BlockedPlugin: {Title: "a plugin can't be used",
		Cause: "A plugin is missing, is not the one that was pinned, is not granted what the lock file says, used what it was not granted, or misbehaved.",
		Did:   didReport, Command: "`relay plugin list` shows the state of each; `relay plugin info NAME` shows what it asks for, `relay plugin grant NAME` agrees to it, and `relay plugin install NAME` puts the pinned file back"},
	judge.BlockedAuth: {Title: "not logged in",
		Cause: "The provider has no credentials, or refused them.",
		Did:   didReport, Command: "`relay doctor` says which login is missing"},
	judge.BlockedBox: {Title: "no box on this machine",
		Cause: "This machine does not allow what contains a builder.",
		Did:   didNothing, Command: "`relay doctor` says what stands in the way"},
}

// exitCodes is the exit code of each outcome; a success that asks a question is
// ExitWaiting.
var exitCodes = map[judge.Outcome]int{
	judge.OutcomeSuccess: ExitDone,
	judge.OutcomeStop:    ExitStopped,
	judge.OutcomeBlocked: ExitBlocked,
}

// Explain gives the meaning of a code. A code that is not in the table, the empty
// one of a wrong call included, is explained as a wrong call.
func Explain(code judge.Code) Explanation {
	e, ok := explanations[code]
	if !ok {
		return Explanation{Code: code, Title: "not possible", Cause: "relay can't do what was asked.",
			Did: "Nothing was changed.", Command: "`relay --help`", ExitCode: ExitBlocked}
	}
	e.Code, e.ExitCode = code, exitCodes[code.Outcome()]
	return e
}

// Codes lists every code, sorted.
func Codes() []judge.Code { return slices.Sorted(maps.Keys(explanations)) }
