package config

import (
	"reflect"
	"strings"
	"testing"

	"github.com/paxiom/relay/host/diag"
)

// Names of the user's own keep their spelling, whatever it is, and their place in every layer.
func TestLayersKeepNames(t *testing.T) {
	t.Parallel()
	parse := func(text string, layer Layer) *node {
		n, err := parseJSON([]byte(text), Origin{Layer: layer})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	low := `{"a.b": 1, "A": {"b": [{"C": 1}], "": {}, "é": 1}, "É": null, "x\u0000y": {"\u0001": 1, "\u0002": {}}, "kind": {"deep": {"er": 1}}, "\u0002": {"K": 1, "\u212a": 2}}`
	if got, want := newLayers(parse(low, LayerBuiltin)).tree(), parse(low, LayerBuiltin); !reflect.DeepEqual(got.plain(), want.plain()) {
		t.Fatalf("one layer: %v, want %v", got.plain(), want.plain())
	}
	l := newLayers(parse(low, LayerBuiltin))
	l.over(parse(`{"a": {"b": 2}, "A": {"é": 2}, "kind": {"deep": "shallow"}}`, LayerUser))
	l.over(nil)
	l.over(parse(`{"A": {"": {"Path": 1, "PATH": 2}}, "kind": {"more": true}}`, LayerRepo))
	l.set(parse(`{"A": {"": {"PATH": 3}}}`, LayerFlag))
	l.set(parse(`{"É": {"path": 4}}`, LayerFlag))
	want := parse(`{"a.b": 1, "a": {"b": 2}, "A": {"b": [{"C": 1}], "": {"Path": 1, "PATH": 3}, "é": 2}, "É": {"path": 4},
		"x\u0000y": {"\u0001": 1, "\u0002": {}}, "kind": {"deep": "shallow", "more": true}, "\u0002": {"K": 1, "\u212a": 2}}`, "")
	got := l.tree()
	if !reflect.DeepEqual(got.plain(), want.plain()) {
		t.Errorf("four layers: %v, want %v", got.plain(), want.plain())
	}
	for layer, path := range map[Layer][]string{
		LayerBuiltin: {"A", "b"}, LayerUser: {"A", "é"}, LayerRepo: {"A", "", "Path"}, LayerFlag: {"A", "", "PATH"},
	} {
		if at := got.lookup(path...).at; at.Layer != layer {
			t.Errorf("%q is from %s, want %s", path, at.Layer, layer)
		}
	}
}

// What stands below a key with names of the user's own has no variable.
func TestNamedByUser(t *testing.T) {
	for _, name := range []string{"RELAY_PLUGINS_CLAUDE_MODEL", "RELAY_PROVIDERS_CODEX_BURST", "RELAY_BUDGETS_PER_PROVIDER_CLAUDE_MAX_CALLS", "RELAY_PLUGINS"} {
		_, err := Load(Options{Root: t.TempDir(), UserDir: t.TempDir(), AllowMissing: true, Env: []string{name + "=3"}})
		if f, ok := diag.As(err); !ok || f.What != name+" is refused" || !strings.Contains(f.Fix, "unset "+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Load(Options{Root: t.TempDir(), UserDir: t.TempDir(), AllowMissing: true, Env: []string{"RELAY_PLUGINS_CLAUDE_MODEL=", "RELAY_PLUGIN_LOG=x"}}); err != nil {
		t.Error(err)
	}
}
