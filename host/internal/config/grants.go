package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Grant is one thing that the repository's own file sets and that a person must
// have agreed to: it names a command, a driver or a plugin, or it widens rights.
type Grant struct {
	Key   string
	Value string // canonical JSON
	Why   string // what it can do
	File  string
	Line  int
}

// Grants lists what of the repository's own file needs a person's yes, in the order
// of the reference. Values that are the built-in ones need none, unless the user's own
// configuration says otherwise.
func (l *Loaded) Grants() []Grant {
	var out []Grant
	add := func(n *node, key, why string) {
		out = append(out, Grant{key, canonical(n), why, n.at.File, n.at.Line})
	}
	if l.repo == nil {
		return nil
	}
	own := builtin()
	// takesBack reports whether the user has chosen something else.
	takesBack := func(n *node, path []string) bool {
		says := l.user.lookup(path...)
		return says != nil && !equalPlain(n, says)
	}
	for _, g := range []struct {
		path []string
		why  string
	}{
		{[]string{"claude_code_cli", "command"}, "is the program that is started as Claude Code"},
		{[]string{"orchestrator", "provider"}, "chooses the plugin that gets your prompts"},
		{[]string{"builder", "default_mode"}, "chooses the plugin that works on your files"},
		{[]string{"builder", "claude_code", "permission_mode"}, "says what Claude Code may do unasked inside the box"},
		{[]string{"builder", "claude_code", "allowed_tools"}, "says which tools Claude Code has inside the box"},
		{[]string{"fallback", "orchestrator"}, "chooses plugins that get your prompts when a limit is met"},
		{[]string{"fallback", "builder"}, "chooses plugins that work on your files when a limit is met"},
		{[]string{"pipeline", "plan"}, "chooses plugins that get your prompts"},
		{[]string{"pipeline", "code"}, "chooses plugins that work on your files"},
		{[]string{"pipeline", "review"}, "chooses plugins that get your prompts and your changes"},
		{[]string{"pipeline", "cleanup"}, "chooses plugins that work on your files"},
		{[]string{"pipeline", "criteria"}, "chooses plugins that get your prompts and your changes"},
		{[]string{"pipeline", "push"}, "is where your commits are pushed to when you say --push"},
		{[]string{"builder", "external"}, "is a program that works on your files"},
		{[]string{"builder", "cursor"}, "is a program that works on your files"},
		{[]string{"notify", "command"}, "is a program that is started when a cycle waits for you"},
		{[]string{"box", "means"}, "chooses how builders are contained"},
		{[]string{"box", "network", "hosts"}, "are what boxes with a narrowed network may reach"},
		{[]string{"box", "network", "verification"}, "says what a check, which runs the builder's code, may reach"},
		{[]string{"box", "persist_dirs"}, "are folders of your home that a builder may write"},
	} {
		n := l.repo.lookup(g.path...)
		def := own.lookup(g.path...)
		if n == nil || def != nil && equalPlain(n, def) && !takesBack(n, g.path) {
			continue
		}
		add(n, joinAll(g.path), g.why)
	}
	if limits := l.repo.lookup("box", "limits"); limits != nil && wideLimits(limits, own.lookup("box", "limits")) {
		add(limits, "box.limits", "lets boxes take more of your machine")
	}
	plugins := l.repo.lookup("plugins")
	for _, name := range slices.Sorted(maps.Keys(plugins.fieldsOrNil())) {
		add(plugins.fields()[name], "plugins."+name, "sets up a plugin, which can include what it runs and where it sends your prompts and keys")
	}
	templates, _ := l.repo.lookup("verification", "templates").list()
	for i, t := range templates {
		id := t.lookup("id").text()
		add(t, fmt.Sprintf("verification.templates[%d]", i), "is a program that is run to check a change (id "+id+")"+passedThrough(t))
	}
	hidden, _ := l.repo.lookup("verification", "hidden").list()
	for i, t := range hidden {
		add(t, fmt.Sprintf("verification.hidden[%d]", i), "is a program that is run to check a change (id "+t.lookup("id").text()+")")
	}
	for _, k := range table { // what nothing above is about
		for _, path := range l.repo.paths(strings.Split(k.path, ".")) {
			n, key := l.repo.lookup(path...), joinAll(path)
			about := func(g Grant) bool {
				return g.Key == key || strings.HasPrefix(key, g.Key+".") || strings.HasPrefix(g.Key, key+".") || strings.HasPrefix(g.Key, key+"[")
			}
			why := ""
			if k.needsYes(n, saysOf(own, path)) {
				why = "is looser than what relay has built in"
			} else if k.narrow == consent && takesBack(n, path) {
				why = "is another choice than that of your own configuration"
			}
			if why != "" && !slices.ContainsFunc(out, about) {
				add(n, key, cmp.Or(k.why, why))
			}
		}
	}
	return out
}

// needsYes reports whether a repository's value of a key is more than relay's own, so that a
// person has to agree to it.
func (k *key) needsYes(n, def *node) bool {
	if def == nil && k.def != nil {
		def = fromPlain(k.def, n.at)
	}
	if def == nil && (k.narrow == kept || k.narrow == closed) { // absent is the stricter one
		def = fromPlain(k.narrow == kept, n.at)
	}
	switch k.narrow {
	case harmless, owners, subset: // the last two are refused
		return false
	case undecided, consent, users, within:
		return def == nil || !equalPlain(n, def)
	}
	return def != nil && !holds[k.path] && looser(k.narrow, n, def)
}

// passedThrough says which variables of the user's environment a check gets.
func passedThrough(t *node) string {
	var names []string
	list, _ := t.lookup("env").list()
	for _, n := range list {
		if !strings.Contains(n.text(), "=") {
			names = append(names, n.text())
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " and gets " + strings.Join(names, ", ") + " of your environment"
}

// wideLimits reports whether limits of boxes let them have more than the built-in ones do.
// How much memory that is depends on the machine.
func wideLimits(limits, builtin *node) bool {
	for _, name := range slices.Sorted(maps.Keys(limits.fieldsOrNil())) {
		own := builtin.lookup(name)
		if own != nil && looser(atMost, limits.fields()[name], own) || name == "memory_mb" {
			return true
		}
	}
	return false
}

func joinAll(path []string) string {
	s := ""
	for _, p := range path {
		s = join(s, p)
	}
	return s
}
