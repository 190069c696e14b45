package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/plugintest"
)

func with(text string) func(string) error {
	return func(dir string) error { return os.WriteFile(filepath.Join(dir, "a.go"), []byte(text), 0o644) }
}

func TestConformance(t *testing.T) {
	plugintest.Both(t, info, builder, plugintest.Config{Cases: []plugintest.Case{
		{Name: "formats", Build: &sdk.BuildRequest{}, Workspace: with("package  a\n"), WantFiles: map[string]string{"a.go": "package a\n"}},
		{Name: "broken", Build: &sdk.BuildRequest{}, Workspace: with("no go\n"), WantReason: sdk.BadRequest},
	}})
}
