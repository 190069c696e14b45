package arch

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// core is what must be right for no forbidden change to land. It stands on the standard
// library, doublestar and x/sys.
var core = []string{"judge", "judge/git", "judge/program", "judge/box", "judge/box/internal/tree", "verify",
	"host/change", "host/change/fault", "host/internal/checkout", "host/internal/beneath", "host/internal/journal"}

func TestCore(t *testing.T) {
	byPath := map[string]listed{}
	for _, p := range list(t) {
		byPath[strings.TrimPrefix(p.ImportPath, module+"/")] = p
	}
	outside := map[string][]string{} // import → what of the core leads to it
	for _, name := range core {
		p, ok := byPath[name]
		if !ok {
			t.Fatalf("%s of the core is not there", name)
		}
		for _, imp := range p.Deps {
			imp = strings.TrimPrefix(imp, module+"/")
			if dep := byPath[imp]; dep.Standard || slices.Contains(core, imp) || (rule{outside: coreStack}).allows(imp) {
				continue
			}
			outside[imp] = append(outside[imp], name)
		}
	}
	for _, imp := range slices.Sorted(maps.Keys(outside)) {
		t.Errorf("the core may not import %s: %s does", imp, strings.Join(outside[imp], ", "))
	}
}

// The weaker means can be left out, and what they stand on goes with them.
func TestWeakerMeansCanBeLeftOut(t *testing.T) {
	const weaker = module + "/judge/box/copies"
	for tags, want := range map[string]bool{"": true, "overlayonly": false} {
		cmd := exec.Command("go", "list", "-deps", "-tags", tags, "./cmd/relay")
		cmd.Dir, cmd.Stderr = moduleRoot(t), os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		deps := strings.Fields(string(out))
		if slices.Contains(deps, weaker) != want {
			t.Errorf("with the tags %q, relay has the weaker means: not %t", tags, want)
		}
		if !want && strings.Contains(string(out), "landlock-lsm") {
			t.Errorf("with the tags %q, relay has Landlock's module without the means that uses it", tags)
		}
	}
}

// The packages that the design names are direct requirements, and each is imported by the
// room that it is for.
func TestNamedPackages(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join(moduleRoot(t), "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	imports := map[string][]string{}
	for _, p := range list(t) {
		imports[strings.TrimPrefix(p.ImportPath, module+"/")] = p.Imports
	}
	for path, room := range map[string]string{
		"github.com/hashicorp/go-plugin":           "sdk",
		"github.com/hashicorp/go-hclog":            "sdk",
		"google.golang.org/grpc":                   "sdk",
		"github.com/spf13/cobra":                   "cmd/relay",
		"github.com/spf13/viper":                   "host/internal/config",
		"github.com/bmatcuk/doublestar/v4":         "judge",
		"github.com/santhosh-tekuri/jsonschema/v6": "schemas",
	} {
		if !regexp.MustCompile(`(?m)^\t` + regexp.QuoteMeta(path) + ` v[^ ]+$`).Match(mod) {
			t.Errorf("%s is no direct requirement of go.mod", path)
		}
		if !slices.Contains(imports[room], path) {
			t.Errorf("%s does not import %s", room, path)
		}
	}
}
