package config

import (
	"slices"
	"testing"
)

func TestProtectedPrograms(t *testing.T) {
	t.Parallel()
	v := Verification{ProtectedGlobs: []string{"ci/**"}, Templates: []Template{
		{Cmd: "tools/check"}, {Cmd: "./gradlew", Args: []string{"test"}}, {Cmd: "tools/check", Args: []string{"-v"}},
		{Cmd: "sh", Args: []string{"-eu", "scripts/test.sh", "src/a"}}, {Cmd: "/bin/bash", Args: []string{"run.sh"}},
		{Cmd: "bash", Args: []string{"-ec", "exit 0"}}, {Cmd: "make", Args: []string{"check"}}, {Cmd: "/bin/true"},
		{Cmd: "node", Args: []string{"src/main.js"}}, {Cmd: "../outside/x"}, {Cmd: "sh", Args: []string{"{{script}}"}},
	}}
	want := []string{"ci/**", "tools/check", "gradlew", "scripts/test.sh", "run.sh"}
	if got := v.Protected([]string{"**", "*/**", "**/check"}); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	want = []string{"ci/**", "gradlew", "run.sh"}
	if got := v.Protected([]string{"tools/**", "scripts/test.sh"}); !slices.Equal(got, want) {
		t.Errorf("where the scope leads to some: %q, want %q", got, want)
	}
	if len(v.ProtectedGlobs) != 1 {
		t.Errorf("the key was changed: %q", v.ProtectedGlobs)
	}
}
