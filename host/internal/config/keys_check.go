package config

var defaultForbidden = []string{".git/**", "**/.env*", "**/*secret*", "**/*token*", "**/node_modules/**"}

// What runs and tests of a program leave beside its source: nobody asks a builder for it.
var defaultScratch = []string{
	"**/__pycache__/**", "**/.pytest_cache/**", "**/.mypy_cache/**", "**/.ruff_cache/**", "**/.tox/**", "**/*.egg-info/**", "**/.cache/**",
	"**/.gradle/**", "**/.turbo/**", "**/.next/**", "**/.nyc_output/**", "**/*.tsbuildinfo", "**/.DS_Store",
}

var defaultLockfiles = []string{
	"pnpm-lock.yaml", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "bun.lockb", "bun.lock", "deno.lock",
	"go.sum", "Cargo.lock", "poetry.lock", "uv.lock", "Pipfile.lock", "pdm.lock", "Gemfile.lock", "composer.lock", "mix.lock",
	"Podfile.lock", "pubspec.lock", "flake.lock", "gradle.lockfile", "packages.lock.json", "MODULE.bazel.lock",
}

var defaultProtected = []string{
	".github/**", ".gitlab-ci.yml", ".circleci/**", "Jenkinsfile", "azure-pipelines.yml", ".pre-commit-config.yaml",
	"**/conftest.py", "**/pytest.ini", "**/tox.ini", "**/noxfile.py", "**/jest.config.*", "**/vitest.config.*", "**/playwright.config.*",
	"**/cypress.config.*", "**/karma.conf.*", "**/.mocharc.*", "**/phpunit.xml*", "**/.rspec", "**/codecov.yml",
	// What makes a runner run something else than it seems to, and is read by itself.
	"**/.pytest.ini", "**/sitecustomize.py", "**/usercustomize.py", "**/GNUmakefile", "**/.npmrc", "**/.yarnrc", "**/.yarnrc.yml", "**/.pnpmfile.cjs",
	"**/bunfig.toml", "**/.cargo/config", "**/.cargo/config.toml", "**/.config/nextest.toml", "**/.mvn/**", "**/.bazelrc",
}

var defaultTests = []string{
	"**/*_test.go", "**/test_*.py", "**/*_test.py", "**/*.test.*", "**/*.spec.*", "**/__tests__/**", "**/__snapshots__/**",
	"**/*_spec.rb", "**/*_test.rb", "**/*Test.java", "**/*Tests.java", "**/*Test.kt", "**/*Test.php", "**/*Tests.cs", "**/*_test.exs", "**/*_test.sh", "**/*.bats",
}

var checkKeys = []key{
	{path: "scope.default_allowed_globs", kind: kTexts, def: []string{"**"}, max: 64, check: someGlobs, doc: "Paths that the orchestrator is told to stay in when it draws a task's scope, and the scope of a task that names none.", read: "tick, prompts"},
	{path: "scope.default_forbidden_globs", kind: kTexts, def: defaultForbidden, max: 500, check: globs, doc: "Paths that no builder may touch, and what is in them where they are folders. A task can add to them and never take away.", read: "change"},
	{path: "scope.scratch_globs", kind: kTexts, def: defaultScratch, max: 500, check: globs, doc: "Caches. What matches is thrown away, in a task's scope too, where git ignores it. Other files that git ignores are thrown away unless a pattern of the scope leads to them: \"src/**\" does, \"**\" does not.", read: "change"},
	{path: "scope.default_allow_new_files", kind: kBool, def: false, doc: "Whether new files are allowed where a task does not say.", read: "tick, prompts"},
	{path: "scope.default_allow_lockfile_changes", kind: kBool, def: false, doc: "Whether lockfiles may change where a task does not say.", read: "tick, prompts"},
	{path: "scope.lockfiles", kind: kTexts, def: defaultLockfiles, max: 500, check: baseNames, doc: "Base names of files that count as lockfiles, in any folder.", read: "change"},
	{path: "diff_limits.default_max_files_touched", kind: kWhole, def: 12, min: 1, max: 500, doc: "Files of one change where a task does not say.", read: "tick, prompts"},
	{path: "diff_limits.default_max_lines_changed", kind: kWhole, def: 400, min: 1, max: 20000, doc: "Lines of one change where a task does not say.", read: "tick, prompts"},

	{path: "verification.execution_mode", kind: kText, def: "argv_no_shell", only: "a check is a program and its arguments; a shell would read parameters as code", doc: "How checks are run.", read: "config"},
	{path: "verification.max_param_len", kind: kWhole, def: 128, min: 1, max: 1000, doc: "Longest parameter, in bytes.", read: "verify"},
	{path: "verification.reject_whitespace_in_params", kind: kBool, def: true, only: "parameters are made of an allow-list of characters that has no white space", doc: "Whether white space in parameters is refused.", read: "config"},
	{path: "verification.reject_dotdot", kind: kBool, def: true, only: "a parameter with \"..\" could leave the repository", doc: "Whether \"..\" in parameters is refused.", read: "config"},
	{path: "verification.reject_metachars_regex", kind: kText, def: "[;&|$\\\\><(){}\\[\\]`\\n\\r\\t\\x00]", max: 1000, check: regex, doc: "Parameters that match this are refused, besides what the allow-list refuses. \"\" for nothing more.", read: "verify"},
	{path: "verification.timeout_fast_seconds", kind: kWhole, def: 90, min: 1, max: 86400, doc: "Wall clock of one fast check, in seconds.", read: "change"},
	{path: "verification.timeout_slow_seconds", kind: kWhole, def: 600, min: 1, max: 86400, doc: "Wall clock of one slow check, in seconds.", read: "change"},
	{path: "verification.protected_globs", kind: kTexts, def: defaultProtected, max: 500, check: globs, doc: "Files that decide what \"verified\" means, such as test configuration and CI: judged like forbidden ones unless the task's scope has the same pattern or the path itself. So are the programs and shell scripts of the repository that a check runs by name, unless a pattern of the scope leads to them: \"tools/**\" does, \"**\" does not.", read: "change"},
	{path: "verification.test_globs", kind: kTexts, def: defaultTests, max: 500, check: globs, doc: "The tests. One that exists is protected like that, so that no builder passes by changing or deleting it; new ones may be added.", read: "change"},
	{path: "verification.baseline", kind: kBool, def: false, doc: "Whether the checks are run on the base before anything is built, so that only new failures count. A check that failed there twice in the same way is reported and not blamed.", read: "tick, verify"},
	{path: "verification.templates", kind: kObjects, def: []any{}, max: 200, check: uniqueIDs, doc: "The checks that a task may ask for.", read: "verify"},
	{path: "verification.templates[].id", kind: kText, need: true, max: 64, check: templateID, doc: "Name by which a task asks for the check.", read: "verify"},
	{path: "verification.templates[].cmd", kind: kText, need: true, max: 120, check: program, doc: "Program, started without a shell.", read: "verify"},
	{path: "verification.templates[].args", kind: kTexts, max: 40, doc: "Its arguments. \"{{name}}\" is replaced by the parameter of that name.", read: "verify"},
	{path: "verification.templates[].results", kind: kText, def: "", enum: []string{"", "go-test-json", "tap"}, doc: "Form in which the check names its tests on its output. With verification.baseline, failures are then compared test by test; without it by exit code alone.", read: "verify"},
	{path: "verification.templates[].params", kind: kMap, doc: "The parameters that the arguments name.", read: "verify"},
	{path: "verification.templates[].params.*.kind", kind: kText, need: true, enum: []string{"string_token", "path"}, doc: "string_token: a word of letters, digits and \"_@+.,/-\". path: the same, and inside the repository.", read: "verify"},
}
