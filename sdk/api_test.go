package sdk

import (
	"flag"
	"os"
	"os/exec"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// The public API of the packages that authors import, as `go doc` shows it: a change
// of it is seen in review, and breaks plugins that exist.
func TestPublicAPI(t *testing.T) {
	for pkg, golden := range map[string]string{".": "testdata/api.txt", "./plugintest": "testdata/api_plugintest.txt", "./httpjson": "testdata/api_httpjson.txt", "./chat": "testdata/api_chat.txt"} {
		raw, err := exec.Command("go", "doc", "-all", pkg).Output()
		if err != nil {
			t.Fatalf("go doc %s: %v", pkg, err)
		}
		if *update {
			must(os.MkdirAll("testdata", 0o755))
			must(os.WriteFile(golden, raw, 0o644))
			continue
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := string(raw), string(want); got != want {
			t.Errorf("the public API of %s differs from %s at %s\nif that is meant, run `go test ./sdk -run TestPublicAPI -update`",
				pkg, golden, firstDifference(got, want))
		}
	}
}

// firstDifference shows the first line in which two texts differ.
func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return "\n  - " + w[i] + "\n  + " + g[i]
		}
	}
	return "its end"
}
