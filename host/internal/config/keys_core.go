package config

import (
	"strings"
	"unicode"
)

var coreKeys = []key{
	{path: "$schema", kind: kText, narrow: harmless, doc: "Address of this file's JSON Schema, for editors.", read: "nothing in relay"},
	{path: "version", kind: kText, def: "1.0", only: "there is one version of this file so far", narrow: harmless, doc: "Version of the configuration's format.", read: "config"},
	{path: "product_name", kind: kText, def: "relay", max: 40, check: productName, narrow: consent, why: "is put into every prompt as relay's name", doc: "Name shown in the prompts: letters, digits, spaces and \"-_.\".", read: "prompts"},
	{path: "workspace_dir", kind: kText, def: ".relay", max: 200, check: workspaceDir, narrow: consent, why: "is where relay writes, and clears up, in your files", doc: "Folder of relay's own files, relative to the repository's root.", read: "workspace"},

	{path: "env_file", kind: kText, def: "", max: 300, check: envFile, narrow: owners, doc: "A file of NAME=value lines in the repository, such as \".env\", from which plugins may have the keys that they ask for and the environment lacks. git must not track it. \"\": none is read.", read: "pluginhost"},

	{path: "runner.require_git", kind: kBool, def: true, only: "changes are judged against a git repository", narrow: harmless, doc: "Whether a git repository is required.", read: "config"},
	{path: "runner.max_tick_seconds", kind: kWhole, def: 900, min: 1, max: 86400, narrow: atMost, doc: "Time limit of one whole tick, in seconds.", read: "tick"},
	{path: "runner.lockfile", kind: kText, def: "{workspace}/lock.json", only: "the lock has to be in the workspace, which relay ignores and owns", narrow: harmless, doc: "The lock file.", read: "config"},
	{path: "runner.runner_owned_globs", kind: kTexts, def: []string{"{workspace}/**"}, check: globs, narrow: union, doc: "More paths that only relay may write. The workspace and the configuration files are always among them.", read: "change"},
	{path: "runner.stuck_after", kind: kWhole, def: 2, min: 1, max: 100, narrow: atMost, doc: "A task that ended in a STOP is not built again on the same commit with the same configuration. If it is requested this many more times, you are asked.", read: "tick"},
	{path: "runner.crash_cleanup.delete_tmp_glob", kind: kText, def: "{workspace}/*.tmp", max: 200, check: glob, narrow: harmless, doc: "Stale temporary files that preflight removes: a pattern below the workspace that ends in \".tmp\".", read: "workspace"},
	{path: "runner.crash_cleanup.validate_runner_json_files", kind: kBool, def: true, narrow: kept, doc: "Whether preflight checks STATE.json, TASK.json, REPORT.json and BLOCKED.json against their schemas.", read: "tick"},
	{path: "runner.render_report_md.enabled", kind: kBool, def: true, narrow: harmless, doc: "Whether REPORT.md is written.", read: "tick"},
	{path: "runner.render_report_md.max_chars", kind: kWhole, def: 6000, min: 500, max: 1e6, narrow: harmless, doc: "Maximum length of REPORT.md, in characters.", read: "report"},

	{path: "claude_code_cli.command", kind: kText, def: "claude", max: 300, check: program, narrow: users, doc: "Program of the Claude Code command line, for the plugins claude and claude-code.", read: "plugins claude, claude-code"},
	{path: "claude_code_cli.output_format", kind: kText, def: "json", enum: []string{"json", "stream-json"}, narrow: harmless, doc: "Accepted for compatibility. relay always uses stream-json, whose last object equals the output of json.", read: "config"},
	{path: "claude_code_cli.no_session_persistence", kind: kBool, def: true, only: "the next run could continue a session that was left behind", narrow: harmless, doc: "Whether Claude Code is kept from saving sessions.", read: "config"},

	{path: "models.orchestrator_model", kind: kText, def: "opus", max: 200, check: model, narrow: consent, why: "chooses a model that you pay for", doc: "Model of the orchestrator: a name or alias of its provider; \"\" takes the provider's default. The default is for claude; for other providers it is \"\".", read: "tick"},
	{path: "models.orchestrator_fallback_model", kind: kText, def: "sonnet", max: 200, check: model, narrow: consent, why: "chooses a model that you pay for", doc: "Model that the provider uses while the first is overloaded; \"\" for none, the default for providers other than claude.", read: "tick"},
	{path: "models.builder_model", kind: kText, def: "sonnet", max: 200, check: model, narrow: consent, why: "chooses a model that you pay for", doc: "Model of builder.default_mode; \"\" takes the builder's own default. If a task names another builder, that one uses its own default. The default is for claude-code; for other builders it is \"\".", read: "change"},
	{path: "models.builder_fallback_model", kind: kText, def: "haiku", max: 200, check: model, narrow: consent, why: "chooses a model that you pay for", doc: "Model that the builder uses while the first is overloaded; \"\" for none, the default for builders other than claude-code.", read: "change"},

	{path: "orchestrator.provider", kind: kText, def: "claude", max: 64, check: pluginName, narrow: consent, doc: "Provider plugin that proposes the task: the name or alias of an installed one.", read: "tick"},
	{path: "orchestrator.max_turns", kind: kWhole, def: 1, min: 1, max: 40, narrow: atMost, doc: "Maximum number of turns of a command-line provider for one proposal.", read: "tick"},
	{path: "orchestrator.permission_mode", kind: kText, def: "plan", only: "the orchestrator proposes and never edits", narrow: harmless, doc: "Permission mode of the orchestrator.", read: "config"},
	{path: "orchestrator.allowed_tools", kind: kText, def: "", only: "the orchestrator answers from its prompt and runs no tools", narrow: harmless, doc: "Tools of the orchestrator.", read: "config"},
	{path: "orchestrator.system_prompt_file", kind: kText, def: "{workspace}/prompts/orchestrator.system.txt", max: 300, check: inRepo, narrow: harmless, doc: "A file that replaces relay's system prompt for the orchestrator, if it exists.", read: "prompts"},
	{path: "orchestrator.user_prompt_file", kind: kText, def: "{workspace}/prompts/orchestrator.user.txt", max: 300, check: inRepo, narrow: harmless, doc: "A file that replaces relay's user prompt for the orchestrator, if it exists.", read: "prompts"},
	{path: "orchestrator.task_schema_file", kind: kText, def: "{workspace}/schemas/task.schema.json", max: 300, check: inRepo, narrow: harmless, doc: "A JSON Schema that tasks must satisfy in addition to relay's own, if the file exists.", read: "tick"},
	{path: "orchestrator.max_parse_retries_per_tick", kind: kWhole, def: 1, min: 0, max: 1, narrow: fewest, doc: "How many times the orchestrator is asked again if its proposal is not a valid task.", read: "tick"},
	{path: "orchestrator.max_budget_usd", kind: kNumber, def: 0.4, min: 0, max: 10000, narrow: atMost, why: "lets one call or build cost more", doc: "Maximum cost of one orchestrator call, in US dollars; 0 for no limit.", read: "tick, ledger"},
	{path: "orchestrator.timeout_seconds", kind: kWhole, def: 300, min: 1, max: 86400, narrow: atMost, doc: "Time limit of one orchestrator call, in seconds.", read: "tick"},
	{path: "orchestrator.idle_timeout_seconds", kind: kWhole, def: 300, min: 1, max: 86400, narrow: atMost, doc: "Maximum silence of the provider during a call, in seconds. Within this time, relay gives up on a silent API and asks it again.", read: "tick"},

	{path: "budgets.per_milestone.max_ticks", kind: kWhole, def: 200, min: 1, max: 1e6, narrow: atMost, why: "lets a milestone use more", doc: "Maximum number of ticks of one milestone.", read: "ledger"},
	{path: "budgets.per_milestone.max_orchestrator_calls", kind: kWhole, def: 260, min: 1, max: 1e6, narrow: atMost, why: "lets a milestone use more", doc: "Maximum number of orchestrator calls of one milestone.", read: "ledger"},
	{path: "budgets.per_milestone.max_builder_calls", kind: kWhole, def: 200, min: 1, max: 1e6, narrow: atMost, why: "lets a milestone use more", doc: "Maximum number of builds of one milestone.", read: "ledger"},
	{path: "budgets.per_milestone.max_verify_runs", kind: kWhole, def: 600, min: 1, max: 1e6, narrow: atMost, why: "lets a milestone use more", doc: "Maximum number of verification runs of one milestone.", read: "ledger"},
	{path: "budgets.per_milestone.max_estimated_cost_usd", kind: kNumber, def: 0.0, min: 0, max: 1e6, narrow: atMost, doc: "Maximum cost of one milestone, in US dollars; 0 for no cap. A call of unknown cost counts as the average of its provider's calls; unlike in budgets.per_day, a build that reports neither tokens nor cost counts as nothing.", read: "ledger"},
	{path: "budgets.prices_file", kind: kText, def: "", max: 300, check: ownFile, narrow: owners, doc: "Your own price table, absolute or below the home (\"~/…\"), in the form of relay's (host/internal/ledger/prices.json). For each model in it, it takes precedence over relay's.", read: "ledger"},
	{path: "budgets.warn_at_fraction", kind: kNumber, def: 0.8, min: 0.01, max: 1, narrow: atMost, why: "tells you later how much of a cap is used", doc: "Fraction of a milestone's cap at which relay warns and a loop ends.", read: "ledger"},
	{path: "budgets.alert_at_fraction", kind: kNumber, def: 0.5, min: 0.01, max: 1, narrow: atMost, why: "tells you later how much of a cap is used", doc: "Fraction of a cap on a run, cycle or day at which relay warns; work continues up to the cap.", read: "ledger"},
	{path: "budgets.shared", kind: kBool, def: false, narrow: users, why: "has its calls counted with those of your other repositories", doc: "Whether per_day and per_provider count the calls of all repositories on this machine that set this.", read: "ledger"},
	{path: "budgets.per_provider", kind: kMap, def: map[string]any{}, check: pluginNames, narrow: harmless, doc: "Caps on the calls of one provider or builder in a day, by name.", read: "ledger"},

	{path: "budgets.per_run.max_cost_usd", kind: kNumber, def: 0.0, min: 0, max: 1e6, narrow: atMost, doc: "Maximum cost of one run, in US dollars; 0 for no cap. The maximum cost of a call is reserved before the call.", read: "ledger"},
	{path: "budgets.per_run.max_calls", kind: kWhole, def: 0, min: 0, max: 1e6, narrow: atMost, doc: "Maximum number of calls of one run; 0 for no cap.", read: "ledger"},
	{path: "budgets.per_run.max_tokens", kind: kWhole, def: 0, min: 0, max: 1e12, narrow: atMost, doc: "Maximum number of tokens of one run, as reported: no call is made once they are used; 0 for no cap.", read: "ledger"},
	{path: "budgets.per_cycle.max_cost_usd", kind: kNumber, def: 0.0, min: 0, max: 1e6, narrow: atMost, doc: "Maximum cost of one audit cycle, in US dollars; 0 for no cap. The maximum cost of a call is reserved before the call.", read: "ledger"},
	{path: "budgets.per_cycle.max_calls", kind: kWhole, def: 0, min: 0, max: 1e6, narrow: atMost, doc: "Maximum number of calls of one audit cycle; 0 for no cap.", read: "ledger"},
	{path: "budgets.per_cycle.max_tokens", kind: kWhole, def: 0, min: 0, max: 1e12, narrow: atMost, doc: "Maximum number of tokens of one audit cycle, as reported: no call is made once they are used; 0 for no cap.", read: "ledger"},
	{path: "budgets.per_day.max_cost_usd", kind: kNumber, def: 0.0, min: 0, max: 1e6, narrow: atMost, doc: "Maximum cost of one day, in US dollars; 0 for no cap. The maximum cost of a call is reserved before the call.", read: "ledger"},
	{path: "budgets.per_day.max_calls", kind: kWhole, def: 0, min: 0, max: 1e6, narrow: atMost, doc: "Maximum number of calls of one day; 0 for no cap.", read: "ledger"},
	{path: "budgets.per_day.max_tokens", kind: kWhole, def: 0, min: 0, max: 1e12, narrow: atMost, doc: "Maximum number of tokens of one day, as reported: no call is made once they are used; 0 for no cap.", read: "ledger"},
	{path: "budgets.per_provider.*.max_cost_usd", kind: kNumber, min: 0, max: 1e6, narrow: atMost, doc: "Maximum cost of one provider in a day, in US dollars; 0 for no cap. The maximum cost of a call is reserved before the call.", read: "ledger"},
	{path: "budgets.per_provider.*.max_calls", kind: kWhole, min: 0, max: 1e6, narrow: atMost, doc: "Maximum number of calls of one provider in a day; 0 for no cap.", read: "ledger"},
	{path: "budgets.per_provider.*.max_tokens", kind: kWhole, min: 0, max: 1e12, narrow: atMost, doc: "Maximum number of tokens of one provider in a day, as reported: no call is made once they are used; 0 for no cap.", read: "ledger"},

	{path: "fallback.orchestrator", kind: kTexts, def: []string{}, max: 10, check: fallbacks, narrow: consent, doc: "Providers to ask, in this order, when the orchestrator's vendor has reached a limit or is down: \"codex/gpt-5.5\", or \"codex\" for the provider's own model.", read: "tick"},
	{path: "fallback.builder", kind: kTexts, def: []string{}, max: 10, check: fallbacks, narrow: consent, doc: "Builders to use, in this order, when the vendor of the task's builder has reached a limit or is down: \"codex-exec/gpt-5.5\". They get the same task and a fresh box.", read: "tick"},
	{path: "limits.max_wait", kind: kText, def: "16h", max: 20, check: longWait, narrow: fewest, doc: "How long a loop waits for vendors' limits and outages, such as \"16h\" or \"90m\"; with \"0s\" it does not wait. `relay wake` or `relay stop` ends a wait.", read: "loop"},
	{path: "providers", kind: kMap, def: map[string]any{}, check: pluginNames, narrow: harmless, doc: "Accounts at vendors, by plugin name.", read: "tick"},
	{path: "providers.*.account", kind: kText, max: 64, check: pluginName, narrow: owners, doc: "Name of the account that the plugin uses; plugins with the same account share its rate in all repositories of the machine. By default, each provider has an account of its own name, and claude-code, codex-exec and gemini-cli use those of claude, codex and gemini.", read: "tick"},
	{path: "providers.*.calls_per_minute", kind: kNumber, min: 0, max: 1e6, narrow: atMost, doc: "Maximum number of calls per minute that this machine makes on the account, in all its runs; 0 for no limit.", read: "tick"},
	{path: "providers.*.burst", kind: kWhole, def: 1, min: 1, max: 1000, narrow: atMost, doc: "How many calls may be made at once before calls_per_minute applies; 1 if absent.", read: "tick"},

	{path: "history.enabled", kind: kBool, def: true, narrow: kept, why: "keeps less of what happened", doc: "Whether the report, patch and logs of each run are kept; if not, one line is kept for each run.", read: "change"},
	{path: "history.dir", kind: kText, def: "{workspace}/history", only: "the history has to be in the workspace, where it never makes the repository dirty", narrow: harmless, doc: "Folder of the history.", read: "config"},
	{path: "history.max_mb", kind: kWhole, def: 500, min: 1, max: 1e6, narrow: atMost, why: "takes more of your disk", doc: "Size of the history, in megabytes (1,000,000 bytes), above which no tick starts until runs are pruned.", read: "history"},
	{path: "history.include_diff_patch", kind: kBool, def: true, narrow: kept, why: "keeps less of what happened", doc: "Whether a run's patch is kept.", read: "change"},
	{path: "history.include_verify_log", kind: kBool, def: true, narrow: kept, why: "keeps less of what happened", doc: "Whether the output of a run's checks is kept.", read: "change"},
}

// productName holds for a name: it is put into system prompts as it is.
func productName(v any) string {
	for i, r := range v.(string) {
		letter := unicode.IsLetter(r) || unicode.IsDigit(r)
		if !letter && (i == 0 || !strings.ContainsRune(" -_.", r)) {
			return "must be a name of letters, digits, spaces and \"-_.\""
		}
	}
	return ""
}
