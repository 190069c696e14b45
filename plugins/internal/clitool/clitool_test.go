package clitool

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/sdk"
)

func TestFind(t *testing.T) {
	dir := t.TempDir()
	tool := filepath.Join(dir, "tool")
	if err := os.WriteFile(tool, []byte("#!/bin/sh\necho 'tool v1.22.333-beta (x)'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "flat"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":/bin:/usr/bin")
	for command, want := range map[string]sdk.Reason{
		"tool": 0, tool: 0, "./tool": sdk.BadConfig, "sub/tool": sdk.BadConfig,
		"flat": sdk.ToolMissing, "no-such-program": sdk.ToolMissing, "/no/such/program": sdk.ToolMissing, "": sdk.ToolMissing,
	} {
		got, err := Find(command, "install it")
		var f *sdk.Failure
		switch {
		case want == 0 && (err != nil || got != tool):
			t.Errorf("%q: %s %v", command, got, err)
		case want != 0 && (!errors.As(err, &f) || f.Reason != want || f.Fix == ""):
			t.Errorf("%q: got %v, want %v with a fix", command, err, want)
		}
	}
	if v, err := ReadVersion(t.Context(), tool, nil); err != nil || v != (Version{1, 22, 333}) {
		t.Errorf("version %v %v", v, err)
	}
}

// One too many is told as one; what fits is nobody's business. Characters are no bytes.
func TestInput(t *testing.T) {
	for _, tc := range []struct {
		in     Input
		prompt string
		says   string
	}{
		{Input{Bytes: 4}, "four", ""}, {Input{Bytes: 4}, "fives", "by 1 bytes"}, {Input{Bytes: 4}, "ééé", "by 2 bytes"},
		{Input{Characters: 4}, "éééé", ""}, {Input{Characters: 4}, "ééééééé", "by 3 characters"}, {Input{}, "anything", ""},
		{Input{Bytes: 4, Characters: 3}, "four", "by 1 characters"}, {Input{Bytes: 4, Characters: 3}, "ééé", "by 2 bytes"}, {Input{Bytes: 4, Characters: 3}, "éé", ""},
	} {
		err := tc.in.Fits("x", tc.prompt)
		f := sdk.AsFailure(err)
		if (f == nil) != (tc.says == "") || f != nil && (f.Reason != sdk.TooLarge || f.Effect != sdk.EffectNone || f.Fix == "" || !strings.Contains(f.Summary, tc.says)) {
			t.Errorf("%+v %q: %v", tc.in, tc.prompt, err)
		}
	}
}

func TestVersions(t *testing.T) {
	for in, want := range map[string]string{
		"2.1.329 (Claude Code)": "2.1.329", "codex-cli 0.169.0": "0.169.0", "v1.2.3-rc1": "1.2.3", "a 1.2 b": "", "": "",
		"9999999.1.1": "",
	} {
		v, ok := ParseVersion(in)
		if ok != (want != "") || ok && v.String() != want {
			t.Errorf("%q: %v %v", in, v, ok)
		}
	}
	r := Tested{Version{2, 1, 9}, Version{2, 1, 10}}
	for v, warns := range map[Version]bool{{2, 1, 9}: false, {2, 1, 10}: false, {2, 1, 8}: true, {2, 1, 11}: true, {10, 0, 0}: true, {2, 0, 99}: true} {
		if (r.Warning("x", v) != "") != warns {
			t.Errorf("%v: %q", v, r.Warning("x", v))
		}
	}
}
