package config

import (
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/verify"
)

// Programs are the files of the repository that the checks run by name. Whoever may
// rewrite a check has passed it.
func (v *Verification) Programs() (all []string) {
	for i := range v.Templates {
		for _, name := range v.Templates[i].programs() {
			if name = path.Clean(name); !path.IsAbs(name) {
				name = path.Join(v.Templates[i].Dir, name)
			}
			named := !strings.ContainsAny(name, "*?") && judge.ValidGlob(name) == nil
			if named && !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// Plannable are the templates as package verify knows them.
func (v *Verification) Plannable() (all []verify.Template) {
	for _, t := range v.Templates {
		params := map[string]string{}
		for name, p := range t.Params {
			params[name] = p.Kind
		}
		all = append(all, verify.Template{ID: t.ID, Cmd: t.Cmd, Args: t.Args, Params: params, Results: t.Results})
	}
	return all
}

// Setting is what a check runs with besides its arguments: its folder, variables and limit.
func (v *Verification) Setting(id string) (dir string, env []string, limit time.Duration) {
	i := slices.IndexFunc(v.Templates, func(t Template) bool { return t.ID == id })
	if i < 0 {
		return "", nil, 0
	}
	t := &v.Templates[i]
	for _, kv := range t.Env {
		if !strings.Contains(kv, "=") {
			value, there := os.LookupEnv(kv)
			if !there {
				continue
			}
			kv += "=" + value
		}
		env = append(env, kv)
	}
	return t.Dir, env, time.Duration(t.TimeoutSeconds) * time.Second
}

// WithRequired are the ids of fast checks with those that every change has to pass and
// that neither list has.
func (v *Verification) WithRequired(fast, slow []string) []string {
	all := slices.Clone(fast)
	for _, id := range v.Required {
		if !slices.Contains(all, id) && !slices.Contains(slow, id) {
			all = append(all, id)
		}
	}
	return all
}

// RequiredChecks are the commands of the checks that every change has to pass. Load has
// seen to it that they are there and take no parameters.
func (v *Verification) RequiredChecks() (all []verify.Command) {
	for _, id := range v.Required {
		i := slices.IndexFunc(v.Templates, func(t Template) bool { return t.ID == id })
		if i < 0 {
			all = append(all, verify.Command{ID: id}) // has no argv, and so fails
			continue
		}
		t := &v.Templates[i]
		all = append(all, verify.Command{ID: id, Argv: append([]string{t.Cmd}, t.Args...), Results: t.Results})
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
