package config

var coreKeys = []key{
	{path: "$schema", kind: kText, doc: "Address of this file's JSON Schema, for editors.", read: "nothing in relay"},
	{path: "version", kind: kText, def: "1.0", only: "there is one version of this file so far", doc: "Version of the configuration's format.", read: "config"},
	{path: "product_name", kind: kText, def: "relay", max: 80, check: oneLine, doc: "Name shown in the prompts.", read: "prompts"},
	{path: "workspace_dir", kind: kText, def: ".relay", max: 200, check: workspaceDir, doc: "Folder of relay's own files, relative to the repository's root.", read: "workspace"},

	{path: "runner.require_git", kind: kBool, def: true, only: "what a builder did is judged against a git repository; there is no judging without one", doc: "Whether a git repository is required.", read: "config"},
	{path: "runner.max_tick_seconds", kind: kWhole, def: 900, min: 1, max: 86400, doc: "Wall clock of one whole tick, in seconds.", read: "tick"},
	{path: "runner.lockfile", kind: kText, def: "{workspace}/lock.json", only: "the lock lies in the workspace, so that it can't be outside of what relay ignores and owns", doc: "The lock file.", read: "config"},
	{path: "runner.runner_owned_globs", kind: kTexts, def: []string{"{workspace}/**"}, check: globs, doc: "More paths that only relay may write. The workspace and the configuration files are always among them.", read: "change"},
	{path: "runner.stuck_after", kind: kWhole, def: 2, min: 1, max: 100, doc: "A task that ended in a STOP is not built again on the same commit under the same configuration. After it was asked for that many more times, the operator is asked.", read: "tick"},
	{path: "runner.crash_cleanup.delete_tmp_glob", kind: kText, def: "{workspace}/*.tmp", max: 200, check: glob, doc: "Stale temporary files that preflight removes; below the workspace and ending in \".tmp\".", read: "workspace"},
	{path: "runner.crash_cleanup.validate_runner_json_files", kind: kBool, def: true, doc: "Whether preflight checks STATE.json, TASK.json, REPORT.json and BLOCKED.json against their schemas.", read: "tick"},
	{path: "runner.render_report_md.enabled", kind: kBool, def: true, doc: "Whether REPORT.md is written.", read: "tick"},
	{path: "runner.render_report_md.max_chars", kind: kWhole, def: 6000, min: 500, max: 1e6, doc: "Longest REPORT.md, in characters.", read: "report"},

	{path: "claude_code_cli.command", kind: kText, def: "claude", max: 300, check: program, narrow: users, doc: "Program of the Claude Code command line, for the plugins claude and claude-code.", read: "plugins claude, claude-code"},
	{path: "claude_code_cli.output_format", kind: kText, def: "json", enum: []string{"json", "stream-json"}, doc: "Accepted for seed files. relay always asks for stream-json, whose last object is what json prints.", read: "config"},
	{path: "claude_code_cli.no_session_persistence", kind: kBool, def: true, only: "a run that leaves sessions behind could be continued by the next one", doc: "Whether Claude Code keeps no session.", read: "config"},

	{path: "models.orchestrator_model", kind: kText, def: "opus", max: 200, check: model, doc: "Model of the orchestrator: a name or alias of its provider; \"\" takes the provider's default.", read: "tick"},
	{path: "models.orchestrator_fallback_model", kind: kText, def: "sonnet", max: 200, check: model, doc: "Model that the provider turns to when the first is overloaded; \"\" for none.", read: "tick"},
	{path: "models.builder_model", kind: kText, def: "sonnet", max: 200, check: model, doc: "Model of a builder that has one.", read: "change"},
	{path: "models.builder_fallback_model", kind: kText, def: "haiku", max: 200, check: model, doc: "Model that the builder turns to when the first is overloaded; \"\" for none.", read: "change"},

	{path: "orchestrator.provider", kind: kText, def: "claude", max: 64, check: pluginName, doc: "Provider plugin that proposes the task: a name or alias of an installed one.", read: "tick"},
	{path: "orchestrator.max_turns", kind: kWhole, def: 1, min: 1, max: 40, doc: "Turns that a command-line provider may take for one proposal.", read: "tick"},
	{path: "orchestrator.permission_mode", kind: kText, def: "plan", only: "the orchestrator proposes and never edits", doc: "Permission mode of the orchestrator.", read: "config"},
	{path: "orchestrator.allowed_tools", kind: kText, def: "", only: "the orchestrator answers from its prompt and runs no tools", doc: "Tools of the orchestrator.", read: "config"},
	{path: "orchestrator.system_prompt_file", kind: kText, def: "{workspace}/prompts/orchestrator.system.txt", max: 300, check: inRepo, doc: "Replaces relay's system prompt of the orchestrator when the file exists.", read: "prompts"},
	{path: "orchestrator.user_prompt_file", kind: kText, def: "{workspace}/prompts/orchestrator.user.txt", max: 300, check: inRepo, doc: "Replaces relay's user prompt of the orchestrator when the file exists.", read: "prompts"},
	{path: "orchestrator.task_schema_file", kind: kText, def: "{workspace}/schemas/task.schema.json", max: 300, check: inRepo, doc: "A JSON Schema that a task must satisfy besides relay's own, when the file exists.", read: "tick"},
	{path: "orchestrator.max_parse_retries_per_tick", kind: kWhole, def: 1, min: 0, max: 1, doc: "Second tries when the first proposal is no valid task.", read: "tick"},
	{path: "orchestrator.max_budget_usd", kind: kNumber, def: 0.4, min: 0, max: 10000, narrow: atMost, doc: "Most that one orchestrator call may cost, in US dollars; 0 for no limit.", read: "tick, ledger"},
	{path: "orchestrator.timeout_seconds", kind: kWhole, def: 300, min: 1, max: 86400, doc: "Wall clock of one orchestrator call, in seconds.", read: "tick"},

	{path: "budgets.per_milestone.max_ticks", kind: kWhole, def: 200, min: 1, max: 1e6, narrow: atMost, doc: "Ticks of one milestone.", read: "ledger"},
	{path: "budgets.per_milestone.max_orchestrator_calls", kind: kWhole, def: 260, min: 1, max: 1e6, narrow: atMost, doc: "Orchestrator calls of one milestone.", read: "ledger"},
	{path: "budgets.per_milestone.max_builder_calls", kind: kWhole, def: 200, min: 1, max: 1e6, narrow: atMost, doc: "Builds of one milestone.", read: "ledger"},
	{path: "budgets.per_milestone.max_verify_runs", kind: kWhole, def: 600, min: 1, max: 1e6, narrow: atMost, doc: "Verification runs of one milestone.", read: "ledger"},
	{path: "budgets.per_milestone.max_estimated_cost_usd", kind: kNumber, def: 0.0, min: 0, max: 1e6, narrow: atMost, doc: "Dollars of one milestone, as far as they are known; 0 for no cap.", read: "ledger"},
	{path: "budgets.warn_at_fraction", kind: kNumber, def: 0.8, min: 0.01, max: 1, doc: "Part of a cap from which on relay warns.", read: "ledger"},

	{path: "history.enabled", kind: kBool, def: true, doc: "Whether each run is kept.", read: "change"},
	{path: "history.dir", kind: kText, def: "{workspace}/history", only: "history lies in the workspace, so that it never makes the repository dirty", doc: "Folder of the history.", read: "config"},
	{path: "history.max_mb", kind: kWhole, def: 500, min: 1, max: 1e6, doc: "Size from which on no tick starts until runs are pruned, in megabytes (1,000,000 bytes).", read: "history"},
	{path: "history.include_diff_patch", kind: kBool, def: true, doc: "Whether a run's patch is kept.", read: "change"},
	{path: "history.include_verify_log", kind: kBool, def: true, doc: "Whether the output of a run's checks is kept.", read: "change"},
}
