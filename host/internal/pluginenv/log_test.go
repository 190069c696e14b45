package pluginenv

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/pluginhost"
)

// Several plugins share the log file, so each line is whole and has its plugin before it,
// however the words come.
func TestLogOfPlugins(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plugins.log")
	t.Setenv(logVariable, path)
	t.Setenv(levelVariable, "")
	var kept bytes.Buffer
	var all []*Plugin
	var specs []pluginhost.Spec
	for _, name := range []string{"a", "b"} {
		p, spec := &Plugin{Entry: catalog.Entry{Name: name, Version: "1.0.0"}}, pluginhost.Spec{Stderr: &kept}
		p.newPart()
		if err := p.openLog(&spec); err != nil {
			t.Fatal(err)
		}
		if strings.Join(spec.Env, " ") != levelVariable+"=debug" {
			t.Errorf("environment %q", spec.Env)
		}
		all, specs = append(all, p), append(specs, spec)
	}
	for i, words := range []string{"one ", "two\nthree ", "line\nno", "\n", " end"} { // a and b in turn
		if _, err := specs[i%2].Stderr.Write([]byte(words)); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range all {
		p.Close(context.Background())
	}
	got, err := os.ReadFile(path)
	if want := "b 1.0.0: two\na 1.0.0: one line\nb 1.0.0: three \na 1.0.0: no end\n"; err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
	if kept.String() != "one two\nthree line\nno\n end" {
		t.Errorf("the run's own file has %q", kept.String())
	}
	t.Setenv(logVariable, filepath.Join(path, "below a file"))
	if err := all[0].openLog(&specs[0]); err == nil || !strings.Contains(err.Error(), "can't be written") {
		t.Error(err)
	}
}
