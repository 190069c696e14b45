package config

import "slices"

// defaultForbidden names files of secrets, not words that source has in its names, too.
var defaultForbidden = []string{".git/**", "**/.env*", "**/node_modules/**", "**/.secret", "**/.secrets", "**/.token",
	"**/secret.json", "**/secret.txt", "**/secret.y*ml", "**/secrets.json", "**/secrets.txt", "**/secrets.toml", "**/secrets.y*ml", "**/client_secret*.json",
	"**/token.json", "**/token.txt", "**/tokens.json"}

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

// defaultTests are the files that runners take for tests by their names where nothing is
// configured, and what is usual where a runner has no rule.
var defaultTests = slices.Concat(
	// Any language: go test, pytest, Deno, Bun, Dart, ExUnit, clojure.test, rebar3's EUnit, Bazel; Jest, Vitest, Mocha, Angular; Cypress.
	[]string{"**/*_test.*", "**/*_tests.*", "**/*_unittest.*", "**/*.test.*", "**/*.tests.*", "**/*.spec.*", "**/*.cy.*"},
	// node --test (nodejs.org/api/test.html), Deno, Bun, AVA, Jest, Jasmine and Karma.
	endings([]string{"*-test", "test-*", "test_*", "test", "tests", "*Test", "*_spec", "*-spec", "spec", "*Spec"}, "js", "?js", "jsx", "ts", "?ts", "tsx"),
	// pytest, unittest and Django, whose test*.py also takes names such as testimonials.py: those are left out.
	[]string{"**/test_*.py", "**/tests_*.py", "**/test.py", "**/tests.py", "**/test?.py"},
	// prove and cram; minitest, test-unit and RSpec; PHPUnit, Pest, Codeception and phpt.
	[]string{"**/*.t", "t/**", "xt/**", "**/*_spec.rb", "**/test_*.rb", "**/*Test.php", "**/*Tests.php", "**/*Cest.php", "**/*.phpt"},
	// Surefire, Failsafe and Gradle; xUnit, NUnit and MSTest; XCTest, Swift Testing; Kotest, Spock, ScalaTest, specs2, MUnit, hspec-discover.
	endings([]string{"*Test", "*Tests", "*TestCase"}, "java", "kt", "scala", "groovy", "cs", "fs", "vb", "swift", "m", "mm"),
	endings([]string{"*Spec"}, "kt", "scala", "groovy", "hs"),
	[]string{"**/Test*.java", "**/*IT.java", "**/*ITCase.java", "**/*Suite.scala", "**/Spec.hs", "**/Tests/**", "**/*UITests/**"},
	// ShellSpec, bats and shunit2; busted; Cargo's and Zig's usual modules; Common Test; Alcotest; Crystal; ERT; Pester.
	[]string{"**/*_spec.sh", "**/test_*.sh", "**/test-*.sh", "**/*.bats", "**/*_spec.lua", "**/test_*.lua", "**/tests.rs", "**/test_*.rs"},
	[]string{"**/tests.zig", "**/test_*.zig", "**/*_SUITE.erl", "**/test_*.ml", "**/*_spec.cr", "**/*-test.el", "**/*-tests.el", "**/*.Tests.ps1"},
	// testthat and RUnit; Test.jl; Unity, Check, CTest, Googletest and Catch2; testament; Robot Framework, Cucumber and its kin, Hurl, Tavern.
	[]string{"**/test-*.R", "**/test-*.r", "**/runit*.R", "**/runtests.jl", "**/test_*.jl", "**/test_*.nim", "**/*.robot", "**/*.feature", "**/*.hurl", "**/*.tavern.yaml"},
	endings([]string{"test_*", "test-*", "*Test", "*Tests"}, "c", "cc", "cpp", "cxx"),
	// What tests read and are helped by decides like the tests themselves.
	[]string{
		"**/tests/**", "**/test/**", "**/__tests__/**", "**/testdata/**", "**/spec/**", "**/specs/**", "**/__fixtures__/**", "**/__mocks__/**", "**/fixtures/**",
		"**/golden/**", "**/goldens/**", "**/*.golden", "**/*.snap", "**/__snapshots__/**", "**/snapshots/**", "**/test_data/**", "**/test-data/**",
	},
)

// endings are the globs of each name with each ending.
func endings(names []string, of ...string) (globs []string) {
	for _, name := range names {
		for _, end := range of {
			globs = append(globs, "**/"+name+"."+end)
		}
	}
	return globs
}

// Caches of compilers and of package managers, by what each file holds: its name is made from
// the inputs of what it holds, or it is a download of a version that never changes.
var defaultCaches = []string{
	".cache/go-build", "go/pkg/mod", ".cache/golangci-lint", ".cache/staticcheck", ".cargo/registry", ".cache/ccache", ".ccache", ".cache/sccache",
	".cache/pip", ".cache/uv", ".npm/_cacache", ".cache/yarn", ".yarn/berry/cache", ".local/share/pnpm/store", ".bun/install/cache", ".cache/deno",
	".gradle/caches/build-cache-1", ".gradle/caches/modules-2/files-2.1", ".gradle/wrapper/dists", ".m2/repository", ".nuget/packages", ".cache/composer",
}

var checkKeys = []key{
	{path: "scope.default_allowed_globs", kind: kTexts, def: []string{"**"}, max: 64, check: someGlobs, narrow: common, doc: "Scope of a task that names none, and the most that the planner's tasks may have: anything beyond it is cut off, unless scope.ceiling.allowed_globs allows more.", read: "tick, prompts"},
	{path: "scope.default_forbidden_globs", kind: kTexts, def: defaultForbidden, max: 500, check: globs, narrow: union, why: "lets builders touch paths that relay forbids by itself", doc: "Paths that no builder may touch, including everything in folders that match. A task can add to them but never remove any.", read: "change"},
	{path: "scope.scratch_globs", kind: kTexts, def: defaultScratch, max: 500, check: globs, narrow: common, why: "throws away files of a change that relay would keep", doc: "Caches: ignored files that match are discarded, even within a task's scope. Other ignored files are discarded unless a pattern of the scope leads to them: \"src/**\" does, \"**\" does not.", read: "change"},
	{path: "scope.default_allow_new_files", kind: kBool, def: false, narrow: closed, why: "lets new files be made", doc: "Whether new files are allowed if a task does not say. The planner may ask for them within the ceiling's paths, unless scope.ceiling.allow_new_files is false.", read: "tick, prompts"},
	{path: "scope.default_allow_lockfile_changes", kind: kBool, def: false, narrow: closed, why: "lets lockfiles change", doc: "Whether lockfiles may change if a task does not say, and whether the planner may ask for it, unless scope.ceiling.allow_lockfile_changes says otherwise. Your own tasks may always ask.", read: "tick, prompts"},
	{path: "scope.lockfiles", kind: kTexts, def: defaultLockfiles, max: 500, check: baseNames, narrow: union, why: "treats some lockfiles as ordinary files", doc: "Base names of files that count as lockfiles, in any folder.", read: "change"},
	{path: "scope.ceiling.allowed_globs", kind: kTexts, max: 64, check: someGlobs, narrow: common, doc: "The most that a task of any workflow may have; if absent, scope.default_allowed_globs, or pipeline.scope and a service's scope. A model's task is cut to it before anything is built; your own task can go beyond it only with --beyond-ceiling.", read: "tick, cycle, pipeline"},
	{path: "scope.ceiling.allow_new_files", kind: kBool, def: true, narrow: closed, doc: "Whether the planner may ask for new files.", read: "tick, prompts"},
	{path: "scope.ceiling.allow_lockfile_changes", kind: kBool, narrow: closed, why: "lets lockfiles change", doc: "Whether the planner may ask for lockfile changes; if absent, scope.default_allow_lockfile_changes.", read: "tick, prompts"},
	{path: "scope.ceiling.max_files_touched", kind: kWhole, min: 1, max: 500, narrow: atMost, why: "lets one change have more files", doc: "Maximum number of files in one change of any workflow; if absent, diff_limits.default_max_files_touched, or pipeline.scope and a service's scope.", read: "tick, cycle, pipeline"},
	{path: "scope.ceiling.max_lines_changed", kind: kWhole, min: 1, max: 20000, narrow: atMost, why: "lets one change have more lines", doc: "Maximum number of lines in one change of any workflow; if absent, diff_limits.default_max_lines_changed, or pipeline.scope and a service's scope.", read: "tick, cycle, pipeline"},
	{path: "diff_limits.default_max_files_touched", kind: kWhole, def: 12, min: 1, max: 500, narrow: atMost, why: "lets one change have more files", doc: "Maximum number of files in one change if a task does not say, and the most that a task may ask for, unless scope.ceiling.max_files_touched says otherwise.", read: "tick, prompts"},
	{path: "diff_limits.default_max_lines_changed", kind: kWhole, def: 400, min: 1, max: 20000, narrow: atMost, why: "lets one change have more lines", doc: "Maximum number of lines in one change if a task does not say, and the most that a task may ask for, unless scope.ceiling.max_lines_changed says otherwise.", read: "tick, prompts"},

	{path: "verification.execution_mode", kind: kText, def: "argv_no_shell", only: "a check is a program with arguments; a shell would interpret parameters as code", narrow: harmless, doc: "How checks are run.", read: "config"},
	{path: "verification.max_param_len", kind: kWhole, def: 128, min: 1, max: 1000, narrow: atMost, why: "changes which parameters a check may get", doc: "Maximum length of a parameter, in bytes.", read: "verify"},
	{path: "verification.reject_whitespace_in_params", kind: kBool, def: true, only: "the characters allowed in parameters never include white space", narrow: harmless, doc: "Whether white space in parameters is refused.", read: "config"},
	{path: "verification.reject_dotdot", kind: kBool, def: true, only: "a parameter with \"..\" could leave the repository", narrow: harmless, doc: "Whether \"..\" in parameters is refused.", read: "config"},
	{path: "verification.reject_metachars_regex", kind: kText, def: "[;&|$\\\\><(){}\\[\\]`\\n\\r\\t\\x00]", max: 1000, check: regex, narrow: users, why: "changes which parameters a check may get", doc: "Parameters that match this are refused, in addition to those with characters that are never allowed. \"\" refuses no others.", read: "verify"},
	{path: "verification.timeout_fast_seconds", kind: kWhole, def: 90, min: 1, max: 86400, narrow: atMost, doc: "Time limit of one fast check, in seconds.", read: "change"},
	{path: "verification.timeout_slow_seconds", kind: kWhole, def: 600, min: 1, max: 86400, narrow: atMost, doc: "Time limit of one slow check, in seconds.", read: "change"},
	{path: "verification.protected_globs", kind: kTexts, def: []string{}, max: 500, check: globs, narrow: union, doc: "More files that decide what \"verified\" means, in addition to those that tools run or obey on their own (listed in judge/triggers.txt), in every spelling that a file system may treat as the same name. They are judged like forbidden ones unless the scope of your own task contains the same pattern or the path itself. The repository's programs and scripts that a check runs are protected too, unless a pattern of that scope leads to them: \"tools/**\" does, \"**\" does not. A planner's task opens none of them.", read: "change"},
	{path: "verification.test_globs", kind: kTexts, def: defaultTests, max: 500, check: globs, narrow: union, why: "takes tests for ordinary files that relay knows as such", doc: "The tests. If a change edits them or files that they depend on (folders such as tests and testdata, snapshots, goldens), and your own task does not name those paths one by one, the checks run twice: with the edits, and with the tests of the base. A failure only with the latter is STOP_OLD_TESTS_FAIL.", read: "change"},
	{path: "verification.caches", kind: kTexts, def: defaultCaches, max: 40, check: inHome, narrow: owners, doc: "Cache folders, relative to your home (moved where GOCACHE, GOPATH, CARGO_HOME, XDG_CACHE_HOME or the like have one elsewhere in it), in which checks find what earlier checks of the base and of landed changes left. No builder sees those files, none of them is replaced, and your own folders are only read. Each must be a cache whose files never change once written. `relay gc` empties them.", read: "pluginenv"},
	{path: "verification.baseline", kind: kBool, def: false, narrow: closed, why: "lets checks fail that failed before", doc: "Whether the checks run on the base before anything is built, so that only new failures count. A check that failed there twice in the same way is reported but not held against the change.", read: "tick, verify"},
	{path: "verification.mutation", kind: kBool, narrow: kept, doc: "Whether a change's new and changed tests are examined once its checks have passed: they run on the base's source, where the test of a fixed bug must fail, and on mutants, which are small mistakes in the changed lines. The report names the tests that pass without the change and those that fail on no mutant; nothing is stopped. If absent: before each review of a pipeline, but not in ticks.", read: "tick, pipeline"},
	{path: "verification.mutation_seconds", kind: kWhole, def: 60, min: 1, max: 86400, narrow: atMost, doc: "Time limit for this examination, in seconds; never more than half of the time that the run has left.", read: "tick, pipeline"},
	{path: "verification.required", kind: kTexts, def: []string{}, max: 16, check: templateIDs, narrow: union, doc: "Ids of the checks that every change must pass, whatever its task asks for. They take no parameters.", read: "tick, cycle, pipeline"},
	{path: "verification.hidden", kind: kObjects, def: []any{}, max: 50, narrow: consent, doc: "Hidden checks: programs that every change must pass after its other checks, and whose files neither builders nor planners see. Each runs in the changed tree, in a box of its own, and has relay call the code in another one. A repository's hidden checks are added to your own.", read: "tick, cycle, pipeline"},
	{path: "verification.hidden[].id", kind: kText, need: true, max: 64, check: templateID, narrow: consent, doc: "Name of the check, for you.", read: "tick"},
	{path: "verification.hidden[].cmd", kind: kText, need: true, max: 400, check: program, narrow: consent, doc: "Program, started without a shell. Exit code 0 means that the code is right. It must compare values itself; `relay check new` writes one that calls the code in another box.", read: "tick"},
	{path: "verification.hidden[].args", kind: kTexts, max: 40, narrow: consent, doc: "Its arguments. \"{folder}\" is replaced by the check's folder.", read: "tick"},
	{path: "verification.hidden[].folder", kind: kText, need: true, max: 400, check: ownFile, narrow: consent, doc: "Folder of the check's files outside the repository, absolute or below the home: \"~/…\". No other box shows it.", read: "tick"},
	{path: "verification.hidden[].repository", kind: kText, def: "", max: 400, check: ownFile, narrow: consent, doc: "Root of the repository that the check is for; \"\" for every one.", read: "tick"},
	{path: "verification.hidden[].on_request", kind: kBool, def: false, narrow: consent, doc: "Whether it runs only by hand: `relay check run --hidden ID`.", read: "tick"},
	{path: "verification.hidden[].class", kind: kText, def: "", max: 80, check: oneLine, narrow: consent, doc: "What a model is told if it fails, and nothing else, such as \"wrong values for large inputs\".", read: "tick"},
	{path: "verification.templates", kind: kObjects, def: []any{}, max: 200, check: uniqueIDs, narrow: consent, doc: "The checks that a task may ask for. Each begins with a fresh box, so a build and the tests of what it makes are one check.", read: "verify"},
	{path: "verification.templates[].id", kind: kText, need: true, max: 64, check: templateID, narrow: consent, doc: "Name by which a task asks for the check.", read: "verify"},
	{path: "verification.templates[].cmd", kind: kText, need: true, max: 120, check: program, narrow: consent, doc: "Program, started without a shell.", read: "verify"},
	{path: "verification.templates[].args", kind: kTexts, max: 40, narrow: consent, doc: "Its arguments. \"{{name}}\" is replaced by the parameter of that name.", read: "verify"},
	{path: "verification.templates[].results", kind: kText, def: "", enum: []string{"", "go-test-json", "tap"}, narrow: consent, doc: "Format in which the check names its tests in its output, for a runner that relay does not know. It is not needed for the runners of Go, Python, Node.js, Rust, Ruby and bats, nor for a check that leaves JUnit XML reports in the repository.", read: "verify"},
	{path: "verification.templates[].dir", kind: kText, max: 400, check: inRepo, narrow: consent, doc: "Folder of the repository in which it runs; if absent, the root.", read: "tick"},
	{path: "verification.templates[].env", kind: kTexts, max: 40, check: checkEnv, narrow: consent, doc: "Variables in addition to those that every check gets: \"NAME=value\", or \"NAME\" for the value in your environment.", read: "tick"},
	{path: "verification.templates[].timeout_seconds", kind: kWhole, min: 1, max: 86400, narrow: consent, doc: "Time limit of this check, in seconds; if absent, verification.timeout_fast_seconds or verification.timeout_slow_seconds.", read: "tick"},
	{path: "verification.templates[].params", kind: kMap, narrow: consent, doc: "The parameters that appear in the arguments.", read: "verify"},
	{path: "verification.templates[].params.*.kind", kind: kText, need: true, enum: []string{"string_token", "path"}, narrow: consent, doc: "string_token: a word of letters, digits and \"_@+.,/:=-\" that sets no variable of make or env. path: the same, and inside the repository.", read: "verify"},
}
