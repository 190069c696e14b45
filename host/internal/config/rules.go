package config

import (
	"slices"
	"strings"

	"github.com/paxiom/relay/host/internal/workspace"
)

// rules checks what concerns several keys or several layers, and fills in what
// depends on them.
func (l *Loaded) rules() error {
	ws := l.tree.lookup("workspace_dir").text()
	l.tree = withWorkspace(l.tree, ws)
	l.modelNames()
	if err := l.workspaceRules(ws); err != nil {
		return err
	}
	if err := l.external(); err != nil {
		return err
	}
	if err := l.required(); err != nil {
		return err
	}
	mode := l.tree.lookup("builder", "default_mode")
	patch := l.tree.lookup("builder", "allow_patch_mode")
	switch name := mode.text(); {
	case (name == "external" || name == "cursor") && l.tree.lookup("builder", "external") == nil && l.tree.lookup("builder", "cursor") == nil:
		return l.refuse(mode, "builder.default_mode", "is "+name+", but there is no section builder."+name+" with a command")
	case name == "patch" && patch.v == false:
		return l.refuse(mode, "builder.default_mode", "is patch, but builder.allow_patch_mode is false")
	}
	return nil
}

// required holds verification.required to the templates: a check that is not there would
// never be passed, and one with a parameter can't be run for every change.
func (l *Loaded) required() error {
	templates, _ := l.tree.lookup("verification", "templates").list()
	names, _ := l.tree.lookup("verification", "required").list()
	for _, n := range names {
		i := slices.IndexFunc(templates, func(t *node) bool { return t.lookup("id").text() == n.text() })
		switch {
		case i < 0:
			return l.refuse(n, "verification.required", clipQuote(n.text())+" is the id of no check in verification.templates")
		case len(templates[i].lookup("params").fieldsOrNil()) > 0:
			return l.refuse(n, "verification.required", "the check "+clipQuote(n.text())+" takes parameters, which only a task can give")
		}
	}
	return nil
}

// modelNames takes the built-in models away where another plugin than Claude's is to work:
// they are Claude's own short names, and others have a default of their own, as have plugins
// that are set up for a model or a server. What is replayed is asked as it was recorded.
func (l *Loaded) modelNames() {
	for _, role := range []struct {
		who   []string
		names []string
		keys  []string
	}{
		{[]string{"orchestrator", "provider"}, []string{"claude", "anthropic", "replay"}, []string{"models.orchestrator_model", "models.orchestrator_fallback_model"}},
		{[]string{"builder", "default_mode"}, []string{"claude-code", "claude_code"}, []string{"models.builder_model", "models.builder_fallback_model"}},
		{[]string{"pipeline", "plan", "provider"}, []string{"claude", "anthropic"}, []string{"pipeline.plan.model"}},
		{[]string{"pipeline", "cleanup", "builder"}, []string{"claude-code", "claude_code"}, []string{"pipeline.cleanup.model"}},
	} {
		name := l.tree.lookup(role.who...).text()
		if slices.Contains(role.names, name) && (role.who[0] != "pipeline" || !l.modelled(name)) {
			continue
		}
		for _, key := range role.keys {
			if n := l.tree.lookup(strings.Split(key, ".")...); n.at.Layer == LayerBuiltin {
				l.tree.set(&node{v: "", at: n.at}, strings.Split(key, ".")...)
			}
		}
	}
}

// modelled says that a plugin is set up for a model or a server of its own.
func (l *Loaded) modelled(plugin string) bool {
	return slices.ContainsFunc([]string{"model", "base_url", "backend"}, func(key string) bool { return l.tree.lookup("plugins", plugin, key) != nil })
}

// workspaceRules holds keys to the workspace that the layers agreed on.
func (l *Loaded) workspaceRules(ws string) error {
	for _, k := range table {
		def, ok := k.def.(string)
		if k.only == "" || !ok || !strings.Contains(def, "{workspace}") {
			continue
		}
		n := l.tree.lookup(strings.Split(k.path, ".")...)
		if want := strings.ReplaceAll(def, "{workspace}", ws); n.v != want {
			return l.refuse(n, k.path, "must be "+clipQuote(want)+", since workspace_dir is "+clipQuote(ws)+": "+k.only)
		}
	}
	n := l.tree.lookup("runner", "crash_cleanup", "delete_tmp_glob")
	if text := n.text(); workspace.ValidTmpGlob(ws, text) != nil {
		return l.refuse(n, "runner.crash_cleanup.delete_tmp_glob", clipQuote(text)+" is refused: "+workspace.ValidTmpGlob(ws, text).Error())
	}
	return nil
}

// external makes one section of the two names that it has, with its defaults.
func (l *Loaded) external() error {
	ext, cur := l.tree.lookup("builder", "external"), l.tree.lookup("builder", "cursor")
	if ext != nil && cur != nil {
		return l.refuse(cur, "builder.cursor", "is another name of builder.external; keep one of the two")
	}
	for name, n := range map[string]*node{"external": ext, "cursor": cur} {
		if n == nil {
			continue
		}
		if n.lookup("command") == nil {
			return l.refuse(n, "builder."+name, "the key \"command\" is missing")
		}
		n.put("args", &node{v: []*node{}, at: n.at})
		n.put("timeout_seconds", l.tree.lookup("builder", "timeout_seconds"))
	}
	return nil
}

// refuse is the error for a value of the merged configuration.
func (l *Loaded) refuse(n *node, path, why string) error {
	f := badInput(source(n.at), []problem{{n.at, path, why}})
	if n.at.File != "" {
		file := n.at.File
		if n.at.Layer == LayerRepo {
			file = l.File
		}
		f.Fix = edit(file, n.at.Line)
	}
	return f
}

// source names a layer for a message.
func source(at Origin) string {
	switch {
	case at.File != "":
		return at.File
	case at.Layer == LayerEnv:
		return "the environment"
	case at.Layer == LayerFlag:
		return "the command line"
	default:
		return "the built-in configuration"
	}
}

// withWorkspace gives a copy in which the built-in texts name the workspace.
func withWorkspace(n *node, ws string) *node {
	out := &node{v: n.v, at: n.at, order: n.order}
	switch v := n.v.(type) {
	case map[string]*node:
		m := make(map[string]*node, len(v))
		for k, c := range v {
			m[k] = withWorkspace(c, ws)
		}
		out.v = m
	case []*node:
		l := make([]*node, len(v))
		for i, c := range v {
			l[i] = withWorkspace(c, ws)
		}
		out.v = l
	case string:
		if n.at.Layer == LayerBuiltin {
			out.v = strings.ReplaceAll(v, "{workspace}", ws)
		}
	}
	return out
}
