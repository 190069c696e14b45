package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/keys"
	"github.com/paxiom/relay/judge"
)

var toEnv = strings.NewReplacer(".", "_", "$", "")

// envName is the variable of a key: RELAY_RUNNER_MAX_TICK_SECONDS.
func envName(path string) string { return "RELAY_" + strings.ToUpper(toEnv.Replace(path)) }

func envLayer(keys []*key, env []string) *node {
	var out *node
	for _, k := range keys {
		if !k.top() || k.kind == kMap {
			continue
		}
		name := envName(k.path)
		text := getenv(env, name)
		if text == "" {
			continue
		}
		at := Origin{Layer: LayerEnv, Name: name}
		if out == nil {
			out = newMap(Origin{Layer: LayerEnv})
		}
		out.set(fromText(k, text, at), strings.Split(k.path, ".")...)
	}
	return out
}

// namedByUser refuses variables of what stands below a key with names of the user's own, such
// as plugins: "_" would stand for "." and for itself, so nobody could tell what is meant.
func namedByUser(env []string) error {
	for _, k := range table {
		if k.kind != kMap || !k.top() {
			continue
		}
		for _, e := range env {
			name, value, _ := strings.Cut(e, "=")
			if value != "" && (name == envName(k.path) || strings.HasPrefix(name, envName(k.path)+"_")) {
				return diag.New(judge.BlockedMissingConfig, printable(name)+" is refused", "what is in "+k.path+" has names of your own, so no variable can set it",
					"`unset "+printable(name)+"`, and write "+k.path+".NAME.KEY in a configuration or after --set")
			}
		}
	}
	return nil
}

// misspelt notices variables that nearly have the name of a key. Others that begin
// with RELAY_ are none of the configuration's business.
func (l *Loaded) misspelt(env []string) {
	known := map[string]bool{}
	for _, k := range slices.Concat(table, serviceTable) {
		if k.top() && k.kind != kMap {
			known[envName(k.path)] = true
		}
	}
	var names []string
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		if !strings.HasPrefix(name, "RELAY_") || known[name] {
			continue
		}
		if names == nil {
			names = slices.Sorted(maps.Keys(known))
		}
		for _, n := range names {
			if distance(name, n) <= 2 {
				l.Notices = append(l.Notices, printable(name)+" is not a key of the configuration; did you mean "+n+"?")
				break
			}
		}
	}
}

// fromText reads a value from the environment or a flag by the key's type. What
// can't be read stays a text, which the check then refuses with the right words.
func fromText(k *key, text string, at Origin) *node {
	if k.kind == kTexts && !strings.HasPrefix(strings.TrimSpace(text), "[") {
		list := []string{}
		for s := range strings.SplitSeq(text, ",") {
			if s = strings.TrimSpace(s); s != "" {
				list = append(list, s)
			}
		}
		return fromPlain(list, at)
	}
	if k.kind != kText {
		if n, err := parseJSON([]byte(text), at); err == nil {
			return n.sameLine()
		}
	}
	return &node{v: text, at: at}
}

// sameLine takes the line numbers out of a value that did not come from a file.
func (n *node) sameLine() *node {
	n.at.Line = 0
	for _, c := range n.fields() {
		c.sameLine()
	}
	l, _ := n.list()
	for _, c := range l {
		c.sameLine()
	}
	return n
}

// withoutKey quotes key=value for a message; what may be a key is left out.
func withoutKey(s string) string {
	if name, _, _ := strings.Cut(s, "="); keys.LooksLike(s) != "" || strings.Contains(name, ".keys.") {
		return printable(name) + "=…"
	}
	return clipQuote(s)
}

// setLayerOf makes a layer of one key=value, which a flag or a command has.
func setLayerOf(flag, s string, keys []*key, root *spec, fix string) (*node, error) {
	refuse := func(why string) error {
		return diag.New(judge.BlockedMissingConfig, flag+" "+withoutKey(s)+" is refused", why, fix)
	}
	path, text, ok := strings.Cut(s, "=")
	path = strings.TrimSpace(path)
	if !ok || path == "" {
		return nil, refuse("it is not of the form key=value")
	}
	at := Origin{Layer: LayerFlag, Name: flag}
	out, parts := newMap(at), strings.Split(path, ".")
	sp := root.find(path)
	switch {
	case sp != nil && sp.key != nil:
		out.set(fromText(sp.key, text, at), parts...)
	case sp != nil || parts[0] == "plugins" && len(parts) > 2:
		n, err := parseJSON([]byte(text), at)
		if err != nil {
			n = &node{v: text, at: at}
		}
		out.set(n.sameLine(), parts...)
	default: // the check names the nearest key
		out.set(&node{v: text, at: at}, parts...)
	}
	if p := inspectAs(out, keys, root); len(p) > 0 {
		f := refuse(strings.TrimPrefix(p[0].String(), flag+", "))
		return nil, f
	}
	return out, nil
}
