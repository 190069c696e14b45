package isolation

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/paxiom/relay/judge/box"
	_ "github.com/paxiom/relay/judge/box/copies"
)

func TestMain(m *testing.M) {
	box.Init()
	m.Run()
}

func TestChoose(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, c := range []struct{ means, required, want, why string }{
		{"", "", box.Overlay, ""}, {box.Auto, box.Landlock, box.Overlay, ""}, {box.Landlock, box.Copy, box.Landlock, ""}, {box.Copy, "", box.Copy, ""},
		{box.Copy, box.Landlock, "", "box.means is copy, which is weaker than what box.required asks for, landlock"},
		{box.Landlock, box.Overlay, "", "weaker"},
	} {
		got, err := Choose(t.Context(), Wish{Means: c.means, Required: c.required, StateDir: dir})
		e, _ := errors.AsType[*box.Error](err)
		if got != c.want || (err != nil) != (c.why != "") || e != nil && (!strings.Contains(e.Why, c.why) || e.Fix == "") {
			t.Errorf("%+v: %s %v", c, got, err)
		}
	}
	// What was found is remembered, for this boot and these namespaces only.
	remember(dir, box.Copy)
	if got, _ := Choose(t.Context(), Wish{StateDir: dir}); got != box.Copy {
		t.Errorf("remembered: %s", got)
	}
	if got, _ := Choose(t.Context(), Wish{StateDir: dir, Required: box.Landlock}); got != box.Overlay {
		t.Errorf("too weak to be enough: %s", got)
	}
	text, _ := json.Marshal(known{"another boot", box.Copy})
	if err := os.WriteFile(knownFile(dir), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, _ := Choose(t.Context(), Wish{StateDir: dir}); got != box.Overlay {
		t.Errorf("of another boot: %s", got)
	}
}

func TestProbe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := Probe(t.Context(), dir)
	if err != nil || s.Means != box.Overlay || len(s.Trials) != 3 || !s.Trials[1].OK || !s.Trials[2].OK || len(s.Trials[0].Gaps) == 0 {
		t.Errorf("%+v %v", s, err)
	}
	if list, _ := os.ReadDir(dir); len(list) > 0 {
		t.Errorf("left: %v", list)
	}
	if _, err := Probe(t.Context(), "/proc/nowhere"); err == nil {
		t.Error("a folder that can't be made is no error")
	}
}
