package main

import (
	"testing"

	"github.com/paxiom/relay/plugins/internal/eventtest"
	"github.com/paxiom/relay/sdk"
)

// BenchmarkBuild applies a patch and its reverse in turn.
func BenchmarkBuild(b *testing.B) {
	dir := repo(b)
	patches := []string{
		"--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,3 +1,3 @@\n a 1\n-a 2\n+A 2\n a 3\n",
		"--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,3 +1,3 @@\n a 1\n-A 2\n+a 2\n a 3\n",
	}
	for i := 0; b.Loop(); i++ {
		if _, err := build(b.Context(), &sdk.BuildRequest{Workspace: dir, Patch: patches[i%2]}, &eventtest.Log{}); err != nil {
			b.Fatal(err)
		}
	}
}
