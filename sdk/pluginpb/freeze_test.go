package pluginpb

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
)

var update = flag.Bool("update", false, "add to the golden file what the protocol has gained")

const frozen = "../../schemas/testdata/plugin_v1.json"

// describe gives one entry for each thing that the two sides of the wire must agree on:
// RPCs, fields by number with name, type and cardinality, enum values by number.
func describe() map[string]string {
	out := map[string]string{}
	for _, f := range []protoreflect.FileDescriptor{
		File_relay_plugin_v1_base_proto, File_relay_plugin_v1_provider_proto, File_relay_plugin_v1_builder_proto,
	} {
		for i := range f.Services().Len() {
			s := f.Services().Get(i)
			for j := range s.Methods().Len() {
				m := s.Methods().Get(j)
				out[fmt.Sprintf("rpc %s", m.FullName())] = stream(m.IsStreamingClient()) + string(m.Input().FullName()) +
					" -> " + stream(m.IsStreamingServer()) + string(m.Output().FullName())
			}
		}
		messages(out, f.Messages())
		enums(out, f.Enums())
	}
	return out
}

func stream(is bool) string {
	if is {
		return "stream "
	}
	return ""
}

func messages(out map[string]string, all protoreflect.MessageDescriptors) {
	for i := range all.Len() {
		m := all.Get(i)
		out["message "+string(m.FullName())] = "message"
		for j := range m.Fields().Len() {
			f := m.Fields().Get(j)
			kind := f.Kind().String()
			switch {
			case f.Message() != nil:
				kind += " " + string(f.Message().FullName())
			case f.Enum() != nil:
				kind += " " + string(f.Enum().FullName())
			}
			text := fmt.Sprintf("%s %s %s", f.Name(), f.Cardinality(), kind)
			if o := f.ContainingOneof(); o != nil {
				text += " in " + string(o.Name())
			}
			out[fmt.Sprintf("field %s %d", m.FullName(), f.Number())] = text
		}
		messages(out, m.Messages())
		enums(out, m.Enums())
	}
}

func enums(out map[string]string, all protoreflect.EnumDescriptors) {
	for i := range all.Len() {
		e := all.Get(i)
		for j := range e.Values().Len() {
			v := e.Values().Get(j)
			out[fmt.Sprintf("enum %s %d", e.FullName(), v.Number())] = string(v.Name())
		}
	}
}

// compare says what of a protocol is gone or changed, and what is new.
func compare(was, is map[string]string) (broken, added []string) {
	for key, text := range was {
		if now, ok := is[key]; !ok {
			broken = append(broken, fmt.Sprintf("%s (%s) is gone", key, text))
		} else if now != text {
			broken = append(broken, fmt.Sprintf("%s was %q and is %q", key, text, now))
		}
	}
	for key := range is {
		if _, ok := was[key]; !ok {
			added = append(added, key)
		}
	}
	slices.Sort(broken)
	slices.Sort(added)
	return broken, added
}

// Plugins that were built against an older version 1 must keep working.
func TestProtocolIsFrozen(t *testing.T) {
	is := describe()
	was := map[string]string{}
	raw, err := os.ReadFile(frozen)
	if err == nil {
		err = json.Unmarshal(raw, &was)
	}
	if err != nil && !*update {
		t.Fatal(err)
	}
	broken, added := compare(was, is)
	if len(broken) > 0 {
		t.Fatalf("relay.plugin.v1 is released and only grows. What breaks it belongs into a new package relay.plugin.v2:\n  %s",
			strings.Join(broken, "\n  "))
	}
	if len(added) == 0 {
		return
	}
	if !*update {
		t.Fatalf("the protocol has grown; if that is meant, run `go test ./sdk/pluginpb -update`:\n  %s", strings.Join(added, "\n  "))
	}
	raw, err = json.MarshalIndent(is, "", "  ")
	if err == nil {
		err = os.WriteFile(frozen, append(raw, '\n'), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// The freeze itself notices each kind of break.
func TestFreezeNoticesBreaks(t *testing.T) {
	for _, key := range []string{
		"rpc relay.plugin.v1.Provider.Complete", "message relay.plugin.v1.Failure",
		"field relay.plugin.v1.Failure 2", "enum relay.plugin.v1.Failure.Reason 6",
	} {
		is := describe()
		if is[key] == "" {
			t.Fatalf("there is no %s", key)
		}
		is[key] += " changed"
		if broken, _ := compare(describe(), is); len(broken) != 1 {
			t.Errorf("changed %s: %v", key, broken)
		}
		delete(is, key)
		if broken, added := compare(describe(), is); len(broken) != 1 || len(added) != 0 {
			t.Errorf("removed %s: %v %v", key, broken, added)
		}
		if broken, added := compare(is, describe()); len(broken) != 0 || len(added) != 1 {
			t.Errorf("added %s: %v %v", key, broken, added)
		}
	}
}
