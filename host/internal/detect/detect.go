package detect

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/paxiom/relay/host/internal/beneath"
	"github.com/paxiom/relay/judge/git"
)

// maxRead is how much of a manifest file is read; a larger one is passed over.
const maxRead = 1 << 20

// Check is a command that looks fit to be a verification template.
type Check struct {
	ID   string   `json:"id"` // "test", "lint", "typecheck"
	Cmd  string   `json:"cmd"`
	Args []string `json:"args"`
	// Dir is the folder in which it runs, "" for the root; Env its variables, NAME=value.
	Dir string   `json:"dir,omitempty"`
	Env []string `json:"env,omitempty"`
	// Limit is the time that it needs, in seconds; 0 where the built-in limit is enough.
	// Fails is how it ended on the last commit, "" when it passed or was not run.
	Limit int    `json:"timeout_seconds,omitempty"`
	Fails string `json:"fails,omitempty"` // how it ended on the last commit; empty when it passed or was not run
	// Fast: meant for the fast phase.
	Fast bool `json:"fast"`
	// From names the file that says so, for example "package.json".
	From string `json:"from"`
}

// Project is what was found in the repository.
type Project struct {
	Languages []string `json:"languages"` // "go", "javascript", …; the one with most evidence first
	Checks    []Check  `json:"checks"`
	// Sources are globs that cover the code, tests and documentation.
	Sources []string `json:"sources"`
	// Registries are the hosts of the package registries of these languages.
	Registries []string `json:"registries"`
	// Unsure is what a person had better look at, since the files do not say it.
	Unsure []string `json:"unsure,omitempty"`
	// Branch is the default branch; "" when it can't be told.
	Branch string `json:"default_branch"`
}

// Program is an agent program found on PATH.
type Program struct {
	Name string `json:"name"`
	Path string `json:"path"` // absolute
}

// Repository looks at the repository. It fails only when git does.
func Repository(ctx context.Context, g *git.Repo) (Project, error) {
	out, err := g.Run(ctx, nil, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return Project{}, err
	}
	p := Tree(beneath.FS(g.Root), strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 }))
	p.Branch, err = defaultBranch(ctx, g)
	return p, err
}

// Tree looks at the files alone; names are all of them.
func Tree(root fs.FS, names []string) Project {
	t := tree{root: root}
	p := Project{Registries: Registries(root)}
	shares, all := census(names)
	for _, c := range ciChecks(t) {
		p.addCheck(c)
	}
	for _, l := range ordered(shares) {
		i := slices.IndexFunc(shares, func(s share) bool { return s.language == l.name })
		marked := t.any(l.markers...) || l.name == "python" && t.any(pythonTests...)
		switch {
		case i < 0 && (!marked || all > 0 && l.name != "deno"):
			continue
		case i >= 0 && shares[i].aside(all):
			if marked && l.name != "c++" { // which has the files of C
				p.Unsure = append(p.Unsure, shares[i].of(all)+": its checks are not proposed")
			}
			continue
		case marked:
			p.addLanguage(l.name, l.checks(t))
		default:
			p.nested(t, l, names)
		}
	}
	if all == 0 {
		for _, ext := range slices.Sorted(maps.Keys(extensions)) {
			if slices.Contains(p.Languages, extensions[ext]) {
				p.Sources = append(p.Sources, "**/*"+ext)
			}
		}
	}
	for _, s := range shares {
		if s.aside(all) {
			continue
		}
		if !slices.Contains(p.Languages, s.language) {
			p.Languages = append(p.Languages, s.language)
		}
		for _, ext := range s.exts {
			p.Sources = append(p.Sources, "**/*"+ext)
		}
	}
	for _, c := range makeChecks(t) {
		p.addCheck(c)
	}
	if len(p.Checks) == 0 {
		for _, c := range anyChecks(t) {
			p.addCheck(c)
		}
	}
	p.importSource(t)
	p.doubts(shares, all)
	p.Sources = append(p.Sources, t.folders()...)
	if t.any("README.md") {
		p.Sources = append(p.Sources, "README.md")
	}
	p.Sources = unique(p.Sources)
	p.Registries = unique(p.Registries)
	return p
}

// ordered are the languages, those with the most files first.
func ordered(shares []share) []language {
	place := func(l language) int {
		if i := slices.IndexFunc(shares, func(s share) bool { return s.language == l.name }); i >= 0 {
			return i
		}
		return len(shares)
	}
	all := slices.Clone(languages)
	slices.SortStableFunc(all, func(a, b language) int { return place(a) - place(b) })
	return all
}

// addLanguage takes a language and its checks.
func (p *Project) addLanguage(name string, checks []Check) {
	p.Languages = append(p.Languages, name)
	p.Registries = append(p.Registries, registries[name]...)
	for _, c := range checks {
		p.addCheck(c)
	}
}

// Bounds of what is taken of the folders of a repository of several projects.
const (
	maxNested = 4
	maxDepth  = 3
)

// nested takes the checks of a language that has no project at the root, but some below it.
func (p *Project) nested(t tree, l language, names []string) {
	var dirs []string
	for _, name := range names {
		dir, base := path.Split(name)
		dir = path.Clean(dir)
		parts := strings.Split(dir, "/")
		if dir == "." || len(parts) > maxDepth || slices.Contains(dirs, dir) || slices.ContainsFunc(parts, func(d string) bool { return slices.Contains(foreign, d) }) {
			continue
		}
		if slices.ContainsFunc(l.markers, func(m string) bool { ok, _ := path.Match(m, base); return ok }) &&
			!slices.ContainsFunc(dirs, func(d string) bool { return strings.HasPrefix(dir, d+"/") }) {
			dirs = append(dirs, dir)
		}
	}
	if len(dirs) == 0 {
		return
	}
	p.addLanguage(l.name, nil)
	if len(dirs) > maxNested {
		p.Unsure = append(p.Unsure, fmt.Sprintf("%s has %d projects below the root; the checks of %s are proposed", l.name, len(dirs), strings.Join(dirs[:maxNested], ", ")))
		dirs = dirs[:maxNested]
	}
	for _, dir := range dirs {
		below, err := fs.Sub(t.root, dir)
		if err != nil {
			continue
		}
		for _, c := range l.checks(tree{root: below}) {
			c.Dir, c.From = dir, c.From+" in "+dir
			p.addCheck(c)
		}
	}
}

// addCheck keeps the first check of each id and folder; another language's, or another
// folder's, gets a name of its own.
func (p *Project) addCheck(c Check) {
	taken := func(id string) bool {
		return slices.ContainsFunc(p.Checks, func(o Check) bool { return o.ID == id })
	}
	same := func(o Check) bool { return o.Dir == c.Dir && slices.Equal(o.Args, c.Args) && o.Cmd == c.Cmd }
	fromCI := func(o Check) bool { return o.ID == c.ID && o.Dir == c.Dir && strings.HasPrefix(o.From, ".") }
	if slices.ContainsFunc(p.Checks, same) || taken(c.ID) && (c.From == "Makefile" || slices.ContainsFunc(p.Checks, fromCI)) {
		return
	}
	if taken(c.ID) && c.Dir != "" {
		c.ID += "_" + noID.ReplaceAllString(path.Base(c.Dir), "_")
	} else if taken(c.ID) && len(p.Languages) > 0 {
		c.ID += "_" + noID.ReplaceAllString(p.Languages[len(p.Languages)-1], "_")
	}
	if !taken(c.ID) && len(c.ID) <= 64 {
		p.Checks = append(p.Checks, c)
	}
}

var noID = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// tools are programs that are about one language.
var tools = map[string][]string{
	"go": {"go", "golangci-lint", "staticcheck"}, "javascript": {"npm", "pnpm", "yarn", "bun", "npx", "deno", "node"}, "rust": {"cargo"},
	"python": {"python", "python3", "pytest", "tox", "nox", "ruff", "mypy", "flake8", "black", "pyright", "hatch"},
	"java":   {"mvn", "mvnw", "gradle", "gradlew", "sbt"}, "ruby": {"bundle", "rake", "rspec", "rails"}, "php": {"composer", "phpunit", "phpstan"},
	"dotnet": {"dotnet"}, "elixir": {"mix"}, "swift": {"swift"}, "dart": {"dart", "flutter"}, "zig": {"zig"}, "haskell": {"cabal", "stack"}, "perl": {"prove"}, "shell": {"bats", "shellcheck"},
}

// words are those of the program and its arguments, and of a line for a shell.
func (c Check) words() []string {
	return strings.Fields(strings.Join(append([]string{c.Cmd}, c.Args...), " "))
}

// about is the language that a check is about; "" when it can be any.
func (c Check) about() string {
	for _, word := range c.words() {
		for language, names := range tools {
			if slices.Contains(names, path.Base(word)) {
				return language
			}
		}
	}
	return ""
}

// doubts says of which languages no check is known. A Makefile's test, or a script that CI
// runs, may be about any of them.
func (p *Project) doubts(shares []share, all int) {
	about := map[string]bool{}
	for _, c := range p.Checks {
		about[c.about()] = true
	}
	for _, s := range shares {
		if !s.aside(all) && len(about) > 0 && !about[""] && !about[s.language] {
			p.Unsure = append(p.Unsure, "no check is known for "+s.of(all))
		}
	}
}

// Programs says which of the named programs are on the PATH given ("" means the
// environment's). Relative entries of PATH are passed over: the current folder is
// no place to find a program in.
func Programs(names []string, path string) []Program {
	path = cmp.Or(path, os.Getenv("PATH"))
	found := []Program{}
	for _, name := range names {
		if p := look(name, path); p != "" {
			found = append(found, Program{Name: name, Path: p})
		}
	}
	return found
}

func look(name, path string) string {
	for _, dir := range strings.Split(path, string(os.PathListSeparator)) {
		if !strings.HasPrefix(dir, "/") {
			continue
		}
		p := dir + "/" + name
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return p
		}
	}
	return ""
}

// defaultBranch asks the remote's recorded head, then the usual names, then takes
// the branch that is checked out.
func defaultBranch(ctx context.Context, g *git.Repo) (string, error) {
	if out, err := g.Run(ctx, nil, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"); err == nil {
		if name := strings.TrimPrefix(strings.TrimSpace(string(out)), "origin/"); name != "" {
			return name, nil
		}
	}
	out, err := g.Run(ctx, nil, "for-each-ref", "--format=%(refname:short)", "refs/heads/main", "refs/heads/master", "refs/heads/trunk")
	if err != nil {
		return "", err
	}
	if names := strings.Fields(string(out)); len(names) > 0 {
		return names[0], nil
	}
	// The branch that is checked out; it works without a commit. A detached HEAD has none.
	if out, err := g.Run(ctx, nil, "symbolic-ref", "--quiet", "--short", "HEAD"); err == nil {
		return strings.TrimSpace(string(out)), nil
	}
	return "", nil
}

func unique(items []string) []string {
	var out []string
	for _, s := range items {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
