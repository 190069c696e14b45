package host

import (
	"maps"
	"slices"

	"github.com/paxiom/relay/judge"
)

// Explanation is what an outcome's code means to a person.
type Explanation struct {
	Code     judge.Code `json:"code"`
	Title    string     `json:"title"` // a few words
	Cause    string     `json:"cause"` // what leads to it
	Did      string     `json:"did"`   // what relay did about it
	Command  string     `json:"next"`  // what to type first
	ExitCode int        `json:"exit_code"`
}

// What relay does whenever it stops or blocks, in the same words everywhere.
const (
	didDiscard = "The box was discarded; nothing was written to your repository. What was built is kept as a patch in the history."
	didNothing = "Nothing was started and nothing was spent."
	didReport  = "Nothing was written to your repository; the report says how far the run got."
)

// explanations is the one table of codes.
var explanations = map[judge.Code]Explanation{
	judge.Success: {Title: "done",
		Cause: "Every rule held, and every check that ran passed; the run's evidence says which did.",
		Did:   "The judged change was applied and committed, or there was nothing to change.", Command: "`relay show`"},

	judge.StopForbidden: {Title: "touched a forbidden path",
		Cause: "The builder wrote a path that is forbidden, that some tool runs or obeys on its own, whose name is not allowed, or that is not a regular file.",
		Did:   didDiscard, Command: "`relay show` names the paths; ask for a step without them, or name one that is meant to change in the scope.allowed_globs of a copy of .relay/TASK.json, then `relay run --task FILE`; a path in scope.default_forbidden_globs has to be removed from that list first"},
	judge.StopOutsideAllowed: {Title: "left its scope",
		Cause: "The builder wrote a path that the task's allowed_globs don't cover.",
		Did:   didDiscard, Command: "`relay show` names the paths; what tools leave behind needs a line in .gitignore; if they belong to the task, say so in its goal, or add them to allowed_globs in a copy of .relay/TASK.json and `relay run --task FILE`"},
	judge.StopNewFile: {Title: "made a new file",
		Cause: "The builder created a file and the task does not allow new ones.",
		Did:   didDiscard, Command: "`relay show`; if new files are fine, say so in the goal, or set allow_new_files in a copy of .relay/TASK.json and `relay run --task FILE`"},
	judge.StopLockfile: {Title: "changed a lockfile",
		Cause: "A dependency lockfile changed and the task does not allow that.",
		Did:   didDiscard, Command: "`relay show`; if it was meant, say so in the goal, or set allow_lockfile_changes in a copy of .relay/TASK.json and `relay run --task FILE`"},
	judge.StopDiffTooLarge: {Title: "change too large",
		Cause: "The change has more files or lines than the task's diff_limits.",
		Did:   didDiscard, Command: "`relay show`; then ask for a smaller step, or raise diff_limits in a copy of .relay/TASK.json and `relay run --task FILE`"},
	judge.StopVerifyFailedFast: {Title: "a fast check failed",
		Cause: "A fast verification exited with an error or ran out of time; slow ones were not run.",
		Did:   didDiscard, Command: "`relay show` has the check's output; `relay salvage` recovers the change, and `relay run` continues"},
	judge.StopVerifyFailedSlow: {Title: "a slow check failed",
		Cause: "A slow verification exited with an error or ran out of time.",
		Did:   didDiscard, Command: "`relay show` has the check's output; `relay salvage` recovers the change, and `relay run` continues"},
	judge.StopSecret: {Title: "the change holds a credential",
		Cause: "A file, a file name or a commit of the change contains a credential that is hidden from every box, or a key that was given to a plugin, in plain form or encoded.",
		Did:   didDiscard, Command: "`relay show` names the file and the line; `relay salvage` recovers the rest; if the value is not a credential, box.show in your own configuration lets builders see the file that it comes from"},
	judge.StopTestsMissing: {Title: "tests are missing",
		Cause: "A test that ran before the change did not run and pass after it: it is gone, skipped, deselected, renamed or marked to fail.",
		Did:   didDiscard, Command: "`relay show` names the tests; to let tests go, name their file in the scope.allowed_globs of a copy of .relay/TASK.json, then `relay run --task FILE`"},
	judge.StopHiddenFailed: {Title: "a hidden check failed",
		Cause: "A check of verification.hidden, whose files no builder sees, did not pass. Models are told only the class that the check's author gave it.",
		Did:   didDiscard, Command: "`relay show` tells you, and only you, what it printed; `relay salvage` recovers the change"},
	judge.StopOldTestsFail: {Title: "the tests of the base fail",
		Cause: "The change touches tests or files that they depend on, and the checks pass only with those edits: with the tests of the base, a check fails.",
		Did:   didDiscard, Command: "`relay show` lists the changed tests; if they are meant to change, name them one by one in the scope.allowed_globs of a copy of .relay/TASK.json, then `relay run --task FILE`"},
	judge.StopPolicyForbidden: {Title: "a rule of the policy forbids it",
		Cause: "A rule in a policy/*.cel file, yours or the one in the base commit, matched the change or could not be evaluated.",
		Did:   didDiscard, Command: "`relay show` names the rule with its file and line; `relay salvage` recovers the change; `relay policy test` runs the rules' examples"},
	judge.StopVerifyTainted: {Title: "a check could not be trusted",
		Cause: "The task names an unknown check, or gives it a parameter that is not allowed.",
		Did:   "No check was run. " + didDiscard, Command: "`relay show` names the parameter; `relay config show verification` lists the checks"},
	judge.StopVerifyOnlyChanged: {Title: "a verify_only task changed files",
		Cause: "The task allowed no change and the builder made one.",
		Did:   didDiscard, Command: "`relay show`; `relay salvage` recovers the change, and `relay run` continues"},
	judge.StopQuestionChanged: {Title: "a question changed files",
		Cause: "A question allows no change and the builder made one.",
		Did:   didDiscard, Command: "`relay show`; `relay salvage` recovers the change, and `relay run` continues"},
	judge.StopRunnerOwned: {Title: "wrote relay's own files",
		Cause: "The builder wrote into relay's workspace, its configuration or git's own folder.",
		Did:   didDiscard, Command: "`relay show` names the paths; `relay run` continues"},
	judge.StopBuilderOutputInvalid: {Title: "the builder's answer is invalid",
		Cause: "The builder's answer is not the result that its schema requires.",
		Did:   didDiscard, Command: "`relay show`; `relay run` asks again; with builder.claude_code.strict_builder_json=false such builds are judged anyway"},
	judge.StopBuilderTimeout: {Title: "the builder ran out of time",
		Cause: "The builder did not finish in time, or was silent for too long.",
		Did:   "All its processes were ended. " + didDiscard, Command: "`relay show`; `relay salvage` recovers the change; ask for a smaller step, or raise builder.timeout_seconds"},
	judge.StopHeadMoved: {Title: "the repository moved",
		Cause: "Somebody changed HEAD, a ref or a file of the change in the meantime, or the builder did so in its box.",
		Did:   "Nothing was overwritten: your version is in the work tree, and the builder's is kept.", Command: "`relay salvage` shows what was built; `git status` shows your own changes"},
	judge.StopProviderQuota: {Title: "a vendor's limit is used up",
		Cause: "The provider said that a quota or rate limit is exhausted.",
		Did:   didReport, Command: "`relay run` again after the time given in the report, or choose another provider"},
	judge.StopPluginCrashed: {Title: "a plugin crashed",
		Cause: "A plugin's process ended in the middle of a call, or relay ended it because it broke the plugin protocol or flooded relay.",
		Did:   "All its processes were ended. " + didReport, Command: "`relay show` has what it wrote, then `relay run` again; `relay plugin list` shows where the plugin comes from"},
	judge.StopInterrupted: {Title: "interrupted",
		Cause: "A signal, the tick's time limit, a limit of a box, a failed provider call, a failed git filter or an internal error ended the run.",
		Did:   didReport, Command: "`relay show`, then `relay run` again; the limits of a box are in box.limits"},

	judge.BlockedMissingConfig: {Title: "no usable configuration",
		Cause: "There is no configuration file, or it is not valid, or a program that it names can't be used.",
		Did:   didNothing, Command: "`relay init`"},
	judge.BlockedRepository: {Title: "no repository that relay can work on",
		Cause: "This is not a git repository, or it is bare, has no commit, can't be read by git, or can't be written by relay.",
		Did:   didNothing, Command: "`git status`; a new repository needs `git init` and a first commit"},
	judge.BlockedTaskInvalid: {Title: "your task is not valid",
		Cause: "The file given to `relay run --task FILE` is not a valid task.",
		Did:   didNothing, Command: "`relay run --task FILE` once it is fixed; the message names the invalid field"},
	judge.BlockedUntrustedConfig: {Title: "configuration not trusted",
		Cause: "The repository's configuration names commands or plugins that you have not agreed to.",
		Did:   didNothing, Command: "`relay trust`"},
	judge.BlockedLockHeld: {Title: "another relay is running here",
		Cause: "Another process holds this workspace's lock.",
		Did:   didNothing, Command: "`relay status` names it; wait for it or end it"},
	judge.BlockedDirtyWorktree: {Title: "uncommitted changes",
		Cause: "The work tree differs from HEAD, and this run needs a clean one: a single run does unless worktree.dirty is allow, and with the means landlock or copy every run does.",
		Did:   didNothing, Command: "`git status`, then commit the changes or `git stash -u`"},
	judge.BlockedHistoryCap: {Title: "history is full",
		Cause: "The kept runs are larger than history.max_mb.",
		Did:   didNothing, Command: "`relay history prune`"},
	judge.BlockedCrashRecovery: {Title: "a crash needs your attention",
		Cause: "One of relay's own files is damaged, or an interrupted change can't be settled without you.",
		Did:   didNothing, Command: "`relay recover`"},
	judge.BlockedBudgetCap: {Title: "a budget is used up",
		Cause: "A counter of this milestone, or the spending of a run, a cycle or a day, has reached its cap.",
		Did:   didNothing, Command: "`relay status` shows the counters; raise the budget that the message names, start another milestone, or continue tomorrow"},
	judge.BlockedBudgetExhausted: {Title: "not enough budget for a tick",
		Cause: "The rest of this milestone's budget, or of a cap on a run, a cycle or a day, does not cover the worst case of the next step.",
		Did:   didNothing, Command: "`relay status` shows the counters; raise the budget that the message names, start another milestone, or continue tomorrow"},
	judge.BlockedOrchestrator: {Title: "no valid task",
		Cause: "The orchestrator's answer was not a valid task, and neither was its second try.",
		Did:   didReport, Command: "`relay show` gives the reason; try another model, or `relay run --task FILE`"},
	judge.BlockedBeyondCeiling: {Title: "asks for more than the ceiling",
		Cause: "A task of your own names paths or limits beyond what the configuration lets a task have.",
		Did:   didNothing, Command: "`relay run --task FILE --beyond-ceiling` if it is meant; `relay config show scope` shows the ceiling"},
	judge.BlockedPlugin: {Title: "a plugin can't be used",
		Cause: "A plugin is missing, differs from the pinned one, lacks your grant for what the lock file lists, used what it was not granted, or misbehaved.",
		Did:   didReport, Command: "`relay plugin list` shows the state of each; `relay plugin info NAME` shows what it asks for, `relay plugin grant NAME` grants it, and `relay plugin install NAME` restores the pinned file"},
	judge.BlockedAuth: {Title: "not logged in",
		Cause: "The provider has no credentials, or its vendor refused them.",
		Did:   didReport, Command: "`relay doctor` says which login is missing"},
	judge.BlockedBox: {Title: "no box on this machine",
		Cause: "This machine does not allow the isolation that contains a builder.",
		Did:   didNothing, Command: "`relay doctor` says what is missing"},
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
