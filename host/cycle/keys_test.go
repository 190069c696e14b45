package cycle

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/internal/sampling"
	"github.com/paxiom/relay/schemas"
)

// property is what a schema says of one key.
type property struct {
	Properties map[string]property `json:"properties"`
	Enum       []any               `json:"enum"`
	Minimum    *float64            `json:"minimum"`
	Maximum    *float64            `json:"maximum"`
}

// at follows a dotted key.
func (p property) at(key string) property {
	for _, name := range strings.Split(key, ".") {
		p = p.Properties[name]
	}
	return p
}

// others are values that a key might take instead of its present one.
func (p property) others(now any) []string {
	var out []string
	add := func(values ...any) {
		for _, v := range values {
			b, _ := json.Marshal(v)
			if is, _ := json.Marshal(now); !bytes.Equal(b, is) {
				out = append(out, strings.Trim(string(b), `"`))
			}
		}
	}
	add(p.Enum...)
	switch v := now.(type) {
	case bool:
		add(!v)
	case float64, int, int64:
		if p.Minimum != nil && p.Maximum != nil {
			add(*p.Minimum, *p.Maximum)
		}
		add(1)
	case []any:
		add([]string{"x"}, []string{"**"}, []string{"codex"}, []string{})
	default:
		add("x", "codex", "1h", "x/y.txt", map[string]any{}, []any{}, []string{"true"})
	}
	return out
}

// otherwise gives KEY=VALUE for every key that can have another value than it has, and
// the keys that can't.
func otherwise(t *testing.T, schema string, values []config.Value, accepted func(kv string) bool) (set, none []string) {
	t.Helper()
	var top property
	must(t, json.Unmarshal(schemas.Bytes(schema), &top))
	for _, v := range values {
		all := top.at(v.Key).others(v.Value)
		if i := slices.IndexFunc(all, func(o string) bool { return accepted(v.Key + "=" + o) }); i >= 0 {
			set = append(set, v.Key+"="+all[i])
		} else {
			none = append(none, v.Key)
		}
	}
	return set, none
}

// groups puts each key into two groups whose other members differ, so that no key can
// hide behind another; without -short every key is alone.
func groups(keys []string, loads func(set ...string) bool) [][]string {
	var out [][]string
	if !testing.Short() {
		for _, k := range keys {
			out = append(out, []string{k})
		}
		return out
	}
	const size = 12
	n := (len(keys) + size - 1) / size
	for g := range n {
		var row, column []string
		for i, k := range keys {
			if i/size == g {
				row = append(row, k)
			}
			if i%n == g {
				column = append(column, k)
			}
		}
		out = append(out, row, column)
	}
	for i := 0; i < len(out); i++ {
		for len(out[i]) > 1 && !loads(out[i]...) { // keys that do not go together
			half := len(out[i]) / 2
			out, out[i] = append(out, out[i][half:]), out[i][:half]
		}
	}
	return out
}

// No key of the configuration passes a gate, whatever it is set to.
func TestNoKeyPassesAGate(t *testing.T) {
	sampling.Rare(t)
	t.Parallel()
	w := newWorld(t)
	id := w.start().UUID
	loaded, err := config.Load(config.Options{Root: w.Root, UserDir: filepath.Join(w.Home, "none")})
	must(t, err)
	loads := func(set ...string) bool { _, err := w.config(set...); return err == nil }
	keys, none := otherwise(t, "config", loaded.Values(), func(kv string) bool { return loads(kv) })
	if len(keys) < 80 || len(none) > 20 {
		t.Fatalf("%d keys, and %d that take no other value: %v", len(keys), len(none), none)
	}
	tried := groups(keys, loads)
	for _, state := range []State{AwaitingReview, AwaitingAcceptance} {
		stood := w.stand(id)
		log, usage := w.bytes(w.file(id, "log.jsonl")), w.bytes(w.Path(".relay/usage.jsonl"))
		for _, set := range tried {
			e := w.env()
			e.Config, err = w.config(set...)
			must(t, err)
			_, err := Resume(t.Context(), e, id, nil)
			if !bytes.Equal(log, w.bytes(w.file(id, "log.jsonl"))) || !bytes.Equal(usage, w.bytes(w.Path(".relay/usage.jsonl"))) {
				t.Fatalf("%v in %s moved the cycle: %v", set, state, err)
			}
		}
		if r, err := ReadRecord(w.env().WS, id); err != nil || r.State != state || w.stand(id) != stood {
			t.Fatalf("after all keys in %s: %+v %v", state, w.stand(id), err)
		}
		if state == AwaitingReview {
			must(t, commands["continue"](t.Context(), w, id))
		}
	}
	t.Logf("%d keys in %d trials, none of %v", len(keys), len(tried), none)
}

func (w *world) bytes(path string) []byte {
	w.T.Helper()
	b, err := os.ReadFile(path)
	must(w.T, err)
	return b
}

// No key of a service passes one either: a cycle that is begun with it stops at the first
// gate, or has a problem before.
func TestNoServiceKeyPassesAGate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	opts := config.Options{Root: w.Root}
	loads := func(set ...string) bool { _, err := config.LoadService(opts, "S", set); return err == nil }
	if loads("cycle.acceptance_required=false") {
		t.Error("acceptance can be turned off")
	}
	keys, none := otherwise(t, "service", w.service("S").Values(), func(kv string) bool { return loads(kv) })
	who := func(kv string) bool { return strings.HasPrefix(kv, "models.") && !strings.Contains(kv, "enabled") }
	keys = slices.DeleteFunc(keys, who) // another vendor is another account, and no way past a gate
	tried := groups(keys, loads)
	if testing.Short() {
		tried = tried[:2]
	}
	for _, set := range tried {
		e := w.env()
		r, err := Start(t.Context(), e, StartOptions{Service: w.service("S", set...), Force: true}, nil)
		all, lerr := List(e.WS)
		must(t, lerr)
		if r == nil {
			r = all[0]
		}
		if r.State != AwaitingReview && (err == nil || !r.Waits()) || r.Approval != nil || r.Revision != nil {
			t.Errorf("%v: %s %v", set, r.State, err)
		}
		_, _ = Abort(t.Context(), e, r.UUID, "")
	}
	t.Logf("%d keys in %d trials, none of %v", len(keys), len(tried), none)
}
