package config

// serviceKeys are the keys of config/default.yaml and config/services/<id>.yaml.
var serviceKeys = []key{
	{path: "$schema", kind: kText, doc: "Address of this file's JSON Schema, for editors.", read: "nothing in relay"},
	{path: "service.id", kind: kText, max: 64, check: serviceID, doc: "Name of the service: the file's own name when absent, and never another.", read: "cycle"},
	{path: "service.name", kind: kText, def: "", max: 120, check: oneLine, doc: "What people call it, in prompts and commits.", read: "cycle"},
	{path: "service.branch_prefix", kind: kText, def: "", max: 120, check: branchPrefix, doc: "A cycle's branch is this, \"-\" and the beginning of its id; \"\" takes \"relay/\" and the service's id.", read: "cycle"},
	{path: "service.spec", kind: kText, def: "", max: 300, check: inRepoOrNone, doc: "File with the service's specification, read from HEAD like a reference; \"\" when the references are the specification.", read: "cycle"},

	{path: "references", kind: kTexts, def: []string{}, max: 200, check: referencePaths, doc: "Files, folders or patterns that auditors read beside the code. They come from HEAD of your checkout; one that is not there is an error. What lies in references/<id>/ is always among them.", read: "cycle"},
	{path: "code", kind: kTexts, def: []string{"**"}, max: 200, check: globs, doc: "Which files of the branch are audited.", read: "cycle"},
	{path: "code_exclude", kind: kTexts, def: []string{}, max: 200, check: globs, doc: "Which of those are left out. Forbidden paths, references, lockfiles, binary files and LFS pointers always are.", read: "cycle"},

	{path: "models.audit_a.provider", kind: kText, def: "claude", max: 64, check: pluginName, doc: "Provider of the first audit: a name or alias of an installed one.", read: "cycle"},
	{path: "models.audit_a.model", kind: kText, def: "", max: 200, check: model, doc: "Its model; \"\" takes the provider's default.", read: "cycle"},
	{path: "models.audit_a.fallback", kind: kTexts, def: []string{}, max: 10, check: fallbacks, doc: "Providers to ask instead, in this order, while it meets a limit or an outage of its vendor: \"codex/gpt-5.5\", or \"codex\" for the provider's own model.", read: "cycle"},
	{path: "models.audit_a.enabled", kind: kBool, def: true, doc: "Whether this audit is made.", read: "cycle"},
	{path: "models.audit_b.provider", kind: kText, def: "codex", max: 64, check: pluginName, doc: "Provider of the second audit.", read: "cycle"},
	{path: "models.audit_b.model", kind: kText, def: "", max: 200, check: model, doc: "Its model; \"\" takes the provider's default.", read: "cycle"},
	{path: "models.audit_b.fallback", kind: kTexts, def: []string{}, max: 10, check: fallbacks, doc: "Providers to ask instead, in this order, while it meets a limit or an outage of its vendor: \"codex/gpt-5.5\", or \"codex\" for the provider's own model.", read: "cycle"},
	{path: "models.audit_b.enabled", kind: kBool, def: true, doc: "Whether this audit is made.", read: "cycle"},
	{path: "models.audits", kind: kObjects, def: []any{}, max: 16, doc: "More audits, named audit_c, audit_d and so on.", read: "cycle"},
	{path: "models.audits[].provider", kind: kText, need: true, max: 64, check: pluginName, doc: "Provider of this audit.", read: "cycle"},
	{path: "models.audits[].model", kind: kText, max: 200, check: model, doc: "Its model; \"\" takes the provider's default.", read: "cycle"},
	{path: "models.audits[].fallback", kind: kTexts, max: 10, check: fallbacks, doc: "Providers to ask instead, in this order, while it meets a limit or an outage of its vendor: \"codex/gpt-5.5\", or \"codex\" for the provider's own model.", read: "cycle"},
	{path: "models.refinement.provider", kind: kText, def: "gemini", max: 64, check: pluginName, doc: "Provider that makes one plan of all audits.", read: "cycle"},
	{path: "models.refinement.model", kind: kText, def: "", max: 200, check: model, doc: "Its model; \"\" takes the provider's default.", read: "cycle"},
	{path: "models.refinement.fallback", kind: kTexts, def: []string{}, max: 10, check: fallbacks, doc: "Providers to ask instead, in this order, while it meets a limit or an outage of its vendor: \"codex/gpt-5.5\", or \"codex\" for the provider's own model.", read: "cycle"},
	{path: "models.refinement.enabled", kind: kBool, def: false, doc: "Whether a model makes the plan. Otherwise relay puts the audits together.", read: "cycle"},
	{path: "models.revision.rotation", kind: kTexts, def: []string{}, max: 16, check: pluginList, doc: "Who revises: providers, or builders such as claude-code, one a cycle in turn. Empty takes the providers of the audits.", read: "cycle"},
	{path: "models.revision.models", kind: kMap, def: map[string]any{}, check: pluginNames, doc: "Model for each of them, by name. One that is not named takes the model of its audit.", read: "cycle"},
	{path: "models.revision.models.*", kind: kText, max: 200, check: model, doc: "Model of this provider or builder.", read: "cycle"},
	{path: "models.revision.fallback", kind: kTexts, def: []string{}, max: 10, check: fallbacks, doc: "Who revises instead, in this order, while the one whose turn it is meets a limit or an outage of its vendor: providers for a provider, builders for a builder.", read: "cycle"},

	{path: "cycle.max_iterations", kind: kWhole, def: 5, min: 1, max: 50, doc: "Rounds of audit and revision in one cycle.", read: "cycle"},
	{path: "cycle.test_command", kind: kCommand, check: testCommand, doc: "Run after each revision, without a shell: an argv, or a text that is split at spaces and quotes. Nothing is run when it is absent.", read: "cycle"},
	{path: "cycle.test_timeout_seconds", kind: kWhole, def: 1800, min: 1, max: 86400, doc: "Wall clock of the tests, in seconds.", read: "cycle"},
	{path: "cycle.acceptance_required", kind: kBool, def: true, only: "nothing passes the two gates of a cycle but the operator", doc: "Whether the operator accepts the result.", read: "config"},
	{path: "cycle.auto_iterate_on_test_failure", kind: kBool, def: false, doc: "Whether failed tests begin the next round of audits at once. It ends at the next plan's gate.", read: "cycle"},
	{path: "cycle.timeout_seconds", kind: kWhole, def: 1200, min: 1, max: 86400, doc: "Wall clock of one model call, in seconds.", read: "cycle"},
	{path: "cycle.max_call_usd", kind: kNumber, def: 5.0, min: 0, max: 10000, doc: "Most that one call may cost, in US dollars; 0 for no limit.", read: "cycle, ledger"},
	{path: "cycle.max_cost_usd", kind: kNumber, def: 0.0, min: 0, max: 1e6, doc: "Most that a whole cycle may cost, in US dollars; 0 for no cap.", read: "cycle, ledger"},

	{path: "scope.allowed_globs", kind: kTexts, def: []string{"**"}, max: 64, check: globs, doc: "Files that a revision may touch.", read: "judge"},
	{path: "scope.forbidden_globs", kind: kTexts, def: []string{}, max: 200, check: globs, doc: "Files that it may not, besides scope.default_forbidden_globs of the configuration.", read: "judge"},
	{path: "scope.allow_new_files", kind: kBool, def: true, doc: "Whether a revision may make new files.", read: "judge"},
	{path: "scope.allow_lockfile_changes", kind: kBool, def: false, doc: "Whether it may change lockfiles.", read: "judge"},
	{path: "scope.max_files_touched", kind: kWhole, def: 60, min: 1, max: 500, doc: "Files of one revision.", read: "judge"},
	{path: "scope.max_lines_changed", kind: kWhole, def: 6000, min: 1, max: 20000, doc: "Lines of one revision, added and deleted together.", read: "judge"},

	{path: "input.max_reference_kb", kind: kWhole, def: 512, min: 1, max: 10000, doc: "Largest reference, in units of 1,000 bytes. A larger one is an error.", read: "cycle"},
	{path: "input.max_file_kb", kind: kWhole, def: 256, min: 1, max: 10000, doc: "Largest file of the code. A larger one is left out and named.", read: "cycle"},
	{path: "input.max_total_kb", kind: kWhole, def: 2000, min: 1, max: 20000, doc: "Size of code and references together. More is an error that lists the largest.", read: "cycle"},
}

const serviceHead = `# Service files

<!-- Made from the table in host/internal/config by its test; do not edit. -->

An audit cycle works on a *service*. ` + "`config/services/<id>.yaml`" + ` describes one, ` + "`config/default.yaml`" + ` holds what all have in
common, and both may be ` + "`.yml`, `.json` or `.toml`" + `. Every key is optional; the file's name is the service's id.

The highest layer wins: built-in, ` + "`config/default.yaml`" + `, the service's file, the environment (` + "`RELAY_CYCLE_MAX_ITERATIONS=3`" + `),
` + "`relay audit start --with KEY=VALUE`" + `. ` + "`relay audit service show ID`" + ` says where each value came from, ` + "`relay audit service check`" + ` what is wrong. A
cycle keeps the values that it began with.

A service file of a repository names programs and plugins. Before the first cycle a person agrees to them: ` + "`relay trust`" + `.

No key, variable or flag passes one of the two gates.
`
