package config

// permissionModes are those of Claude Code in which it can build without a person.
var permissionModes = []string{"default", "acceptEdits", "bypassPermissions", "dontAsk"}

// networks are what a role may reach, the widest first.
var networks = []string{"full", "needed", "hosts", "none"}

var workKeys = []key{
	{path: "builder.default_mode", kind: kText, def: "claude_code", max: 64, check: pluginName, narrow: consent, doc: "Builder that the orchestrator is told to prefer: the name or alias of an installed one.", read: "tick"},
	{path: "builder.allow_patch_mode", kind: kBool, def: true, narrow: closed, doc: "Whether a task may be a ready patch.", read: "tick"},
	{path: "builder.timeout_seconds", kind: kWhole, def: 600, min: 1, max: 86400, narrow: atMost, doc: "Time limit of one build, in seconds.", read: "change"},
	{path: "builder.idle_timeout_seconds", kind: kWhole, def: 300, min: 1, max: 86400, narrow: atMost, doc: "Maximum silence of a builder, in seconds. An external driver may be silent: only builder.timeout_seconds ends it.", read: "change"},
	{path: "builder.claude_code.max_turns", kind: kWhole, def: 8, min: 1, max: 200, narrow: atMost, doc: "Maximum number of turns of one build, whatever the task asks for.", read: "change"},
	{path: "builder.claude_code.permission_mode", kind: kText, def: "bypassPermissions", enum: permissionModes, narrow: users, doc: "Permission mode of Claude Code inside the box.", read: "plugin claude-code"},
	{path: "builder.claude_code.allowed_tools", kind: kText, def: "Read,Edit,Glob,Grep,Bash", max: 2000, check: notAFlag, narrow: users, doc: "Tools of Claude Code inside the box.", read: "plugin claude-code"},
	{path: "builder.claude_code.system_prompt_file", kind: kText, def: "{workspace}/prompts/builder.system.txt", max: 300, check: inRepo, narrow: harmless, doc: "A file that replaces relay's system prompt for the builder, if it exists.", read: "prompts"},
	{path: "builder.claude_code.user_prompt_file", kind: kText, def: "{workspace}/prompts/builder.user.txt", max: 300, check: inRepo, narrow: harmless, doc: "A file that replaces relay's user prompt for the builder, if it exists.", read: "prompts"},
	{path: "builder.claude_code.builder_result_schema_file", kind: kText, def: "{workspace}/schemas/builder_result.schema.json", max: 300, check: inRepo, narrow: harmless, doc: "A JSON Schema that a builder's result must satisfy in addition to relay's own, if the file exists.", read: "change"},
	{path: "builder.claude_code.max_budget_usd", kind: kNumber, def: 1.5, min: 0, max: 10000, narrow: atMost, why: "lets one call or build cost more", doc: "Maximum cost of one build, in US dollars; 0 for no limit.", read: "change, ledger"},
	{path: "builder.claude_code.strict_builder_json", kind: kBool, def: true, narrow: kept, why: "accepts a builder's answer that is not valid", doc: "Whether a build whose result is not valid is stopped. If false, the change is judged anyway and the report says so.", read: "change"},
	{path: "builder.patch.max_patch_attempts_per_milestone", kind: kWhole, def: 10, min: 0, max: 1e6, narrow: atMost, why: "lets a milestone use more", doc: "Maximum number of patch builds of one milestone; 0 for no limit other than max_builder_calls.", read: "ledger"},

	{path: "builder.external.command", kind: kText, max: 300, need: true, check: program, narrow: users, doc: "Program of the external builder, started without a shell.", read: "plugin external"},
	{path: "builder.external.args", kind: kTexts, narrow: consent, doc: "Its arguments.", read: "plugin external"},
	{path: "builder.external.timeout_seconds", kind: kWhole, min: 1, max: 86400, narrow: atMost, doc: "Time limit of one build, in seconds; builder.timeout_seconds if absent.", read: "change"},
	{path: "builder.external.output_file", kind: kText, max: 300, check: inRepo, narrow: consent, doc: "File for its result, relative to the repository's root; if absent, a private file outside it.", read: "plugin external"},
	{path: "builder.cursor.command", kind: kText, max: 300, need: true, check: program, narrow: users, doc: "Another name of builder.external.command. Only one of the two sections may exist.", read: "plugin external"},
	{path: "builder.cursor.args", kind: kTexts, narrow: consent, doc: "Another name of builder.external.args.", read: "plugin external"},
	{path: "builder.cursor.timeout_seconds", kind: kWhole, min: 1, max: 86400, narrow: atMost, doc: "Another name of builder.external.timeout_seconds.", read: "change"},
	{path: "builder.cursor.output_file", kind: kText, max: 300, check: inRepo, narrow: consent, doc: "Another name of builder.external.output_file.", read: "plugin external"},

	{path: "evidence.sign", kind: kText, def: "relay", enum: []string{"relay", "ssh", "off"}, narrow: owners, doc: "Who signs the attestations of landed commits. relay: its own key on this machine. ssh: your SSH key as git is configured (gpg.format, user.signingkey), an ed25519 key without a passphrase or one in an agent. off: no attestations are made.", read: "attest"},
	{path: "commit.on_success", kind: kBool, def: true, narrow: users, why: "leaves changes that were judged good uncommitted", doc: "Whether a successful change is committed. If false, it is left in the work tree, and the next tick waits until you have committed it.", read: "change"},
	{path: "commit.builder_commits", kind: kText, def: "squash", enum: []string{"squash", "stop", "keep"}, narrow: commits, why: "lets the builder's own commits into your branch", doc: "What happens to a builder's own commits: squashed into relay's one commit, refused with STOP_HEAD_MOVED, or each judged and recreated.", read: "judge"},

	{path: "worktree.dirty", kind: kText, def: "auto", enum: []string{"auto", "allow", "block"}, narrow: dirty, why: "lets work begin while your work tree has changes that are not committed", doc: "Whether work begins while the work tree has uncommitted changes. They have no part in it: boxes show the commit. auto: loops and pipelines begin, a single tick does not. Only the means overlay allows it.", read: "tick, pipeline"},

	{path: "box.means", kind: kText, def: "auto", enum: []string{"auto", "overlay", "landlock", "copy"}, narrow: users, doc: "How builders are contained; auto takes the strongest means that this machine allows.", read: "change"},
	{path: "box.required", kind: kText, def: "", enum: []string{"", "copy", "landlock", "overlay"}, narrow: notWeak, doc: "Weakest means that is accepted. From the weakest: copy, landlock, overlay. \"\" accepts what auto finds.", read: "change"},
	{path: "box.persist_dirs", kind: kTexts, def: []string{}, check: homeDirs, narrow: subset, doc: "Folders of HOME, such as \"~/.claude\", in which a builder's changes are kept. Only your own configuration can name them; a repository's can only name fewer.", read: "change"},
	{path: "box.hide", kind: kTexts, def: []string{}, check: homePaths, narrow: union, doc: "Files and folders that no box shows, absolute or below the home (\"~/…\"), with * and ?, in addition to the credentials that relay hides anyway. A repository's configuration adds to your own.", read: "pluginenv"},
	{path: "box.show", kind: kTexts, def: []string{}, check: homePaths, narrow: owners, doc: "Files and folders that boxes show although relay would hide them, such as \"~/.kube\".", read: "pluginenv"},
	{path: "box.network.builder", kind: kText, def: "needed", enum: networks, narrow: notOpen, why: "opens all of the network", doc: "What a builder can reach. needed: its vendor's servers, or those in its settings, the package registries of the repository's languages, and box.network.hosts; with a means that can't narrow the network, everything. hosts: only box.network.hosts. full: everything that you can reach; in a repository's file this needs your consent. none: nothing.", read: "confine"},
	{path: "box.network.provider", kind: kText, def: "needed", enum: networks, narrow: notOpen, why: "opens all of the network", doc: "What a provider can reach, with the same values; it needs no registries.", read: "confine"},
	{path: "box.network.verification", kind: kText, def: "auto", enum: append([]string{"auto"}, networks...), narrow: notOpen, doc: "What a check can reach. needed: only the package registries. auto: the same if the builder has needed, everything if it has full, and otherwise nothing.", read: "confine"},
	{path: "box.network.hosts", kind: kTexts, def: []string{}, check: hosts, narrow: within, doc: "Hosts for builders and providers with \"needed\", and for everything with \"hosts\": api.example.org (port 443), *.example.org, api.example.org:8443, or an address of this machine such as 127.0.0.1:8080.", read: "confine"},
	{path: "box.limits.processes", kind: kWhole, def: 4096, min: 0, max: 1e6, narrow: atMost, doc: "Maximum number of processes and threads in one box; 0 for no limit.", read: "confine"},
	{path: "box.limits.memory_mb", kind: kWhole, def: 0, min: 0, max: 1e8, narrow: atMost, doc: "Memory of one box, in megabytes (1,000,000 bytes), including files in temporary folders such as /tmp; 0 for three quarters of the machine's.", read: "confine"},
	{path: "box.limits.cpus", kind: kWhole, def: 0, min: 0, max: 4096, narrow: atMost, doc: "Number of processors that one box may use; 0 for all.", read: "confine"},
	{path: "box.limits.cpu_seconds", kind: kWhole, def: 0, min: 0, max: 1e8, narrow: atMost, doc: "Processor time of all processes of one box, in seconds; 0 for no limit.", read: "confine"},
	{path: "box.limits.open_files", kind: kWhole, def: 16384, min: 0, max: 1e6, narrow: atMost, doc: "Maximum number of files that one process may have open; 0 for the system's limit.", read: "confine"},
	{path: "box.limits.file_mb", kind: kWhole, def: 20000, min: 0, max: 1e9, narrow: atMost, doc: "Maximum size of one file written in the repository, holes included, in megabytes; 0 for no limit.", read: "confine"},
	{path: "box.limits.disk_mb", kind: kWhole, def: 20000, min: 0, max: 1e9, narrow: atMost, doc: "Disk space for everything that one box writes, in megabytes; 0 for no limit.", read: "confine"},
	{path: "box.limits.output_mb", kind: kWhole, def: 500, min: 0, max: 1e9, narrow: atMost, doc: "Maximum output of a plugin, of a program that it drives, or of a check, in megabytes; 0 for no limit.", read: "confine"},

	{path: "plugins", kind: kMap, def: map[string]any{}, check: pluginNames, narrow: consent, doc: "Settings of plugins, by plugin name.", read: "pluginhost"},
	{path: "plugins.*", kind: kAny, narrow: consent, doc: "Settings of one plugin, checked against the schema that the plugin publishes.", read: "the plugin"},
	{path: "plugins.*.secret", kind: kText, enum: []string{"environment", "broker"}, narrow: consent, doc: "How the plugin gets its keys; environment if absent. With broker, the plugin and its agent get a worthless key, and relay inserts the real one into what they send to the vendor. For API keys of Anthropic, OpenAI and the Gemini API; needs the overlay box.", read: "pluginenv, pluginhost"},
	{path: "plugins.*.keys", kind: kMap, check: variables, narrow: consent, doc: "Where the plugin's keys are, by the name of the variable in which the plugin expects each. If set, the plugin gets only these keys; if not, it gets those of the variables it asks for that are in relay's environment.", read: "pluginhost"},
	{path: "plugins.*.keys.*", kind: kRef, narrow: consent, doc: "A variable, a file that only you can read, or a program that prints the key; never the key itself.", read: "pluginhost"},
}
