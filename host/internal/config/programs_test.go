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
		{Cmd: "./gradlew", Dir: "android"},
	}}
	want := []string{"tools/check", "gradlew", "scripts/test.sh", "run.sh", "android/gradlew"}
	if got := v.Programs(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
