package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/paxiom/relay/plugins/internal/conformance"
	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/plugintest"
)

func TestConformance(t *testing.T) {
	fill := func(dir string) error {
		return os.WriteFile(filepath.Join(dir, "a.txt"), []byte("a 1\na 2\na 3\n"), 0o644)
	}
	conformance.Run(t, conformance.Plugin{
		Info: info(), Part: func() sdk.Part { return builder() },
		Cases: []plugintest.Case{
			{Name: "applies", Workspace: fill, Build: &sdk.BuildRequest{Patch: "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n a 1\n-a 2\n+A 2\n a 3\n"}},
			{Name: "does not fit", Workspace: fill, WantReason: sdk.BadRequest, Build: &sdk.BuildRequest{Patch: "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n a 1\n-b 2\n+A 2\n a 3\n"}},
			{Name: "empty", Build: &sdk.BuildRequest{}, WantReason: sdk.BadRequest},
		},
	})
}
