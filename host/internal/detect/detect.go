package detect

import (
	"context"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/paxiom/relay/judge"
)

// maxRead is how much of a manifest file is read; a larger one is passed over.
const maxRead = 1 << 20

// Check is a command that looks fit to be a verification template.
type Check struct {
	ID   string   `json:"id"` // "test", "lint", "typecheck"
	Cmd  string   `json:"cmd"`
	Args []string `json:"args"`
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
	// Branch is the default branch; "" when it can't be told.
	Branch string `json:"default_branch"`
}

// Program is an agent program found on PATH.
type Program struct {
	Name string `json:"name"`
	Path string `json:"path"`
}

// Repository looks at the repository. It fails only when git does.
func Repository(ctx context.Context, g *judge.Git) (Project, error) {
	p := Tree(os.DirFS(g.Root))
	branch, err := defaultBranch(ctx, g)
	p.Branch = branch
	return p, err
}

// Tree looks at the files alone.
func Tree(root fs.FS) Project {
	t := tree{root: root}
	var p Project
	for _, l := range languages {
		if !t.any(l.markers...) {
			continue
		}
		p.Languages = append(p.Languages, l.name)
		for _, c := range l.checks(t) {
			p.addCheck(c)
		}
		p.Sources = append(p.Sources, l.sources...)
	}
	for _, c := range makeChecks(t) {
		p.addCheck(c)
	}
	if len(p.Languages) == 0 && t.any("*.sh") {
		p.Languages = []string{"shell"}
		p.Sources = append(p.Sources, "*.sh")
	}
	p.Sources = append(p.Sources, t.folders()...)
	if t.any("README.md") {
		p.Sources = append(p.Sources, "README.md")
	}
	p.Sources = unique(p.Sources)
	return p
}

// addCheck keeps the first check of each id; a second language's gets a name of its own.
func (p *Project) addCheck(c Check) {
	taken := func(id string) bool {
		return slices.ContainsFunc(p.Checks, func(o Check) bool { return o.ID == id })
	}
	if taken(c.ID) {
		if c.From == "Makefile" {
			return
		}
		c.ID += "_" + p.Languages[len(p.Languages)-1]
	}
	if !taken(c.ID) {
		p.Checks = append(p.Checks, c)
	}
}

// Programs says which of the named programs are on the PATH given ("" means the
// environment's). Relative entries of PATH are passed over: the current folder is
// no place to find a program in.
func Programs(names []string, path string) []Program {
	if path == "" {
		path = os.Getenv("PATH")
	}
	var found []Program
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
func defaultBranch(ctx context.Context, g *judge.Git) (string, error) {
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
