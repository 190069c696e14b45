package config

import (
	"path"
	"slices"
	"strings"

	"github.com/paxiom/relay/judge"
)

// Protected are the globs of what decides what "verified" means: those of the key, and
// the files of the repository that the checks run by name. Whoever may rewrite a check
// has passed it. A scope that leads to such a file, as "tools/**" does and "**" does not,
// lets it be changed.
func (v *Verification) Protected(allowed []string) []string {
	all := slices.Clone(v.ProtectedGlobs)
	for i := range v.Templates {
		for _, name := range v.Templates[i].programs() {
			name = path.Clean(name)
			named := !strings.ContainsAny(name, "*?") && judge.ValidGlob(name) == nil
			if named && !judge.Leads(allowed, name) && !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// shells are the programs whose first argument is a program, unless it is an option.
var shells = []string{"sh", "bash", "dash", "zsh", "ksh"}

// programs are the files that a check runs by name, where they can lie in the repository:
// its command, unless that is looked for in PATH, and the script that a shell is given.
func (t *Template) programs() []string {
	var names []string
	if strings.Contains(t.Cmd, "/") {
		names = append(names, t.Cmd)
	}
	if !slices.Contains(shells, path.Base(t.Cmd)) {
		return names
	}
	for _, arg := range t.Args {
		switch {
		case !strings.HasPrefix(arg, "-"):
			return append(names, arg)
		case !strings.HasPrefix(arg, "--") && strings.Contains(arg, "c"):
			return names // what follows is a line of the shell's
		}
	}
	return names
}
