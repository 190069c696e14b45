package judge

import (
	"path"
	"slices"
)

// outputs are what compilers, runners and package managers make beside the source and make
// again when it is gone. The names in them are chosen by others: a type cache has a
// "token.meta.json" of the standard library, and a report of coverage a page for each
// source file. Installed packages are not among them, but for what tools put beside them.
var outputs = compile([]string{
	"**/node_modules/.vite/**", "**/node_modules/.vite-temp/**", "**/node_modules/.vitest/**", "**/node_modules/.cache/**", "**/node_modules/.tmp/**",
	"**/node_modules/.prisma/**", "**/node_modules/.package-lock.json", "**/node_modules/.yarn-integrity", "**/node_modules/.yarn-state.yml",
	"**/node_modules/.modules.yaml", "**/node_modules/.pnpm-workspace-state*.json",
	"**/.cache/**", "**/.parcel-cache/**", "**/.turbo/**", "**/.nx/**", "**/.swc/**", "**/.vite/**", "**/.vitest/**", "**/.eslintcache", "**/.prettiercache", "**/.stylelintcache", "**/*.tsbuildinfo",
	"**/.next/**", "**/.nuxt/**", "**/.output/**", "**/.svelte-kit/**", "**/.astro/**", "**/.angular/**", "**/.docusaurus/**", "**/storybook-static/**",
	"**/dist/**", "**/build/**", "**/out/**", "**/target/**", "**/obj/**", "**/_build/**", "**/cmake-build-*/**", "**/CMakeFiles/**", "**/bazel-*/**", "**/.gradle/**", "**/.kotlin/**", "**/.dart_tool/**",
	"**/coverage/**", "**/.nyc_output/**", "**/htmlcov/**", "**/.coverage", "**/.coverage.*", "**/test-results/**", "**/playwright-report/**", "**/blob-report/**",
	"**/__pycache__/*.pyc*", "**/.pytest_cache/**", "**/.mypy_cache/**", "**/.ruff_cache/**", "**/.hypothesis/**", "**/.pytype/**", "**/.tox/**", "**/.nox/**", "**/.eggs/**", "**/*.egg-info/**", "**/.ipynb_checkpoints/**",
})

// installs are the folders in which package managers keep other people's files.
var installs = map[string]bool{"node_modules": true, ".pnpm-store": true, "bower_components": true, ".venv": true, "venv": true, "Pods": true, "vendor": true, ".bundle": true}

// ignoreThemselves are folders that tools make with a .gitignore of their own in them, for
// which a repository's has no line.
var ignoreThemselves = map[string]bool{".pytest_cache": true, ".mypy_cache": true, ".ruff_cache": true, ".hypothesis": true, ".venv": true, "venv": true, ".tox": true, ".nox": true,
	"htmlcov": true, "builddir": true, ".pdm-build": true, ".pixi": true}

// waste reports whether a change that git ignores, and that is thrown away, is scratch by
// its nature: such a path is not what a forbidden glob means. What was there before, and
// is none of that, stays forbidden: a .env, or an installed program that was replaced.
func (j *trial) waste(c *Change) bool {
	if _, ok := outputs.first(c.Path); ok {
		return true
	}
	// A package that comes is thrown away again. A program beside npm's names for programs
	// is none of npm's, which makes links there.
	program := path.Base(path.Dir(c.Path)) == ".bin" && !isLink(c.NewMode)
	return c.Kind == Added && !program && partOf(c.Path, installs) != ""
}

// partOf gives the topmost folder of a path that has one of these names; "" when none has.
func partOf(p string, names map[string]bool) string {
	for i := range len(p) {
		if p[i] == '/' && names[path.Base(p[:i])] {
			return p[:i]
		}
	}
	return ""
}

// bytecode is what Python makes beside the modules that it runs.
var bytecode = compile([]string{"**/__pycache__/*.pyc"})

// selfIgnored reports whether a path is ignored by its nature, whatever git says: a new one by
// what came with it, and Python's bytecode, which runs in the place of the source that is read.
func (j *trial) selfIgnored(c *Change) bool {
	if _, ok := bytecode.first(c.Path); ok {
		return true
	}
	if c.Kind != Added || c.Ignored {
		return false
	}
	dir := partOf(c.Path, ignoreThemselves)
	return dir != "" && slices.ContainsFunc(j.changes, func(o Change) bool { return o.Kind == Added && o.Path == dir+"/.gitignore" })
}
