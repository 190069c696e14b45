package arch

import (
	"bytes"
	"encoding/json"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/paxiom/relay"

// rule says what the packages below a path may import. Paths are relative to the
// module; a trailing /... covers what lies below. The longest match decides.
type rule struct {
	pkg string
	// own are packages of this module; outside are import paths of others, each
	// with everything below it. The standard library is always allowed.
	own, outside []string
	// deep: what it imports indirectly is held to the same lists.
	deep bool
}

var (
	pluginStack = []string{"github.com/hashicorp/go-plugin", "github.com/hashicorp/go-hclog", "google.golang.org/grpc", "google.golang.org/protobuf"}
	coreStack   = []string{"github.com/bmatcuk/doublestar", "golang.org/x/sys"}
	landlock    = []string{"github.com/landlock-lsm/go-landlock", "kernel.org/pub/linux/libs/security/libcap/psx"}
	hostStack   = append(slices.Clone(pluginStack),
		"github.com/santhosh-tekuri/jsonschema",
		"github.com/pelletier/go-toml", "go.yaml.in/yaml", "golang.org/x/sys", "golang.org/x/time",
		"golang.org/x/mod", "aead.dev/minisign")
)

// belowHost is what host itself stands on, and with it each room that commands call.
var belowHost = []string{"host/health", "host/templates", "host/attempt", "host/checks", "host/change", "host/newtests", "host/tick", "host/loop", "host/cycle/...", "host/pipeline/...", "host/durable",
	"host/diag", "host/internal/...", "judge/...", "verify", "verify/evidence", "verify/examine", "schemas", "prompts", "sdk/..."}

// commandRooms are what commands call.
var commandRooms = []string{"host", "host/views", "host/runs", "host/cycles", "host/pipelines", "host/checkcmd", "host/proof", "host/setup", "host/plugins", "host/health"}

// room is what a room above host may import: besides host, those that are named.
func room(beside ...string) []string { return slices.Concat(belowHost, []string{"host"}, beside) }

// rules is DESIGN section 2 as data.
var rules = []rule{
	// The weaker means. The module of Landlock comes with one that calls the kernel on every thread.
	{pkg: "judge/box/copies", own: []string{"judge/..."}, outside: append(slices.Clone(landlock), coreStack...), deep: true},
	{pkg: "judge", outside: coreStack, deep: true}, // no git, no box: it only decides
	{pkg: "judge/...", own: []string{"judge/..."}, outside: coreStack, deep: true},
	{pkg: "verify/...", own: []string{"verify/...", "judge/..."}, outside: coreStack, deep: true},
	{pkg: "prompts", deep: true},
	{pkg: "schemas", own: []string{"schemas"}, outside: []string{"github.com/santhosh-tekuri/jsonschema"}},

	{pkg: "sdk/pluginpb", outside: []string{"google.golang.org/grpc", "google.golang.org/protobuf"}},
	{pkg: "sdk/script", own: []string{"sdk/pluginpb"}, outside: []string{"google.golang.org/protobuf"}},
	{pkg: "sdk/plugintest", own: []string{"sdk/..."}, outside: append(slices.Clone(pluginStack), "golang.org/x/sys", "github.com/santhosh-tekuri/jsonschema")},
	{pkg: "sdk/mtls"},
	{pkg: "sdk/socket", outside: []string{"golang.org/x/sys"}},
	{pkg: "sdk", own: []string{"sdk/pluginpb", "sdk/mtls", "sdk/internal/..."}, outside: append(slices.Clone(pluginStack), "golang.org/x/sys")},
	{pkg: "sdk/...", own: []string{"sdk/..."}, outside: append(slices.Clone(pluginStack), "golang.org/x/sys")},
	{pkg: "plugins/internal/drift", own: []string{"sdk", "plugins/internal/vendortest", "testdata/e2e", "testdata/fakemodel"}}, // for tests
	{pkg: "plugins/...", own: []string{"sdk/...", "plugins/internal/..."}, outside: append(slices.Clone(pluginStack), "golang.org/x/sys",
		"github.com/santhosh-tekuri/jsonschema", "github.com/openai/openai-go", "github.com/anthropics/anthropic-sdk-go", "google.golang.org/genai", "cloud.google.com/go/auth", "github.com/coder/acp-go-sdk",
		"github.com/aws/aws-sdk-go-v2", "golang.org/x/oauth2")},

	{pkg: "host/diag", own: []string{"judge", "judge/git", "host/change/fault"}},
	{pkg: "host/durable", own: []string{"host/diag", "host/internal/...", "judge"}, outside: hostStack},
	{pkg: "host/internal/root", deep: true},
	{pkg: "host/internal/telemetry", own: []string{"host/internal/...", "judge"}, outside: []string{"go.opentelemetry.io/otel", "github.com/go-logr/logr"}},
	{pkg: "host/internal/attest", own: []string{"host/internal/...", "host/diag", "judge/...", "verify", "schemas"}, outside: append(slices.Clone(hostStack), "golang.org/x/crypto")},
	{pkg: "host/internal/policy", own: []string{"host/internal/...", "host/diag", "judge", "judge/git"}, outside: []string{"github.com/google/cel-go"}},
	{pkg: "host/internal/config", own: []string{"host/internal/...", "host/diag", "judge", "judge/git", "judge/program/...", "verify"}, outside: append(slices.Clone(hostStack), "github.com/tidwall/sjson", "github.com/spf13/viper")},
	{pkg: "host/internal/...", own: []string{"host/internal/...", "host/diag", "judge/...", "verify", "schemas", "prompts", "sdk/..."}, outside: hostStack},
	{pkg: "host/change/fault", own: []string{"judge"}},
	{pkg: "host/change", own: []string{"host/change/fault", "host/internal/journal", "host/internal/checkout", "host/internal/beneath", "judge/..."}, outside: coreStack},
	{pkg: "host/checks", own: []string{"host/change", "host/internal/workspace", "judge/...", "verify/..."}, outside: coreStack},
	{pkg: "host/internal/journal", deep: true},
	{pkg: "host/newtests", own: []string{"host/internal/...", "host/change", "host/checks", "judge/...", "verify"}},
	{pkg: "host/attempt", own: []string{"host/internal/...", "host/change", "host/checks", "host/newtests", "judge/...", "verify", "sdk/..."}, outside: hostStack},
	{pkg: "host/tick", own: []string{"host/internal/...", "host/attempt", "host/change", "host/checks", "host/diag", "host/durable", "judge/...", "verify", "schemas", "prompts", "sdk/..."}, outside: hostStack},
	{pkg: "host/loop", own: []string{"host/internal/...", "host/tick", "host/change", "host/diag", "host/durable", "judge/..."}, outside: hostStack},
	{pkg: "host/cycle/audit", deep: true},
	{pkg: "host/cycle", own: []string{"host/cycle/...", "host/internal/...", "host/attempt", "host/change", "host/checks", "host/diag", "host/durable", "judge/...", "verify", "schemas", "prompts", "sdk/..."}, outside: hostStack},
	{pkg: "host/pipeline", own: []string{"host/pipeline/...", "host/internal/...", "host/attempt", "host/change", "host/change/fault", "host/checks", "host/diag", "host/durable", "judge/...", "verify", "schemas", "prompts", "sdk/..."}, outside: hostStack},
	{pkg: "host/pipeline/prd", own: []string{"host/internal/strictjson", "host/internal/workspace", "host/diag", "judge"}, outside: append(slices.Clone(hostStack), "github.com/tidwall/sjson")},
	{pkg: "host/pipeline/answer", own: []string{"host/pipeline/prd", "host/internal/strictjson", "schemas"}, outside: hostStack},
	{pkg: "host/pipeline/memory", own: []string{"host/internal/strictjson", "host/internal/format", "host/internal/workspace", "host/diag", "judge"}, outside: append(slices.Clone(hostStack), "github.com/tidwall/sjson")},
	{pkg: "host/templates", deep: true},
	{pkg: "host/health", own: []string{"host/internal/...", "host/diag", "judge", "judge/git", "sdk/pluginpb"}, outside: hostStack},
	{pkg: "host", own: belowHost, outside: hostStack},
	// The rooms that commands call, each about one thing. Two of them stand on others: calls go down.
	{pkg: "host/views", own: room(), outside: hostStack},
	{pkg: "host/runs", own: room("host/views"), outside: hostStack},
	{pkg: "host/cycles", own: room("host/views"), outside: hostStack},
	{pkg: "host/pipelines", own: room("host/views"), outside: hostStack},
	{pkg: "host/checkcmd", own: room(), outside: hostStack},
	{pkg: "host/proof", own: room(), outside: hostStack},
	{pkg: "host/setup", own: room("host/checkcmd"), outside: hostStack},
	{pkg: "host/plugins", own: room("host/runs"), outside: hostStack},

	// main enters the box before anything else, hence judge/box.
	{pkg: "cmd/relay/internal/termtest"},
	{pkg: "cmd/relay/internal/screen", own: []string{"host", "host/views", "host/pipelines", "host/health", "host/diag"}, outside: []string{"charm.land/bubbletea", "github.com/charmbracelet/x/ansi", "github.com/charmbracelet/colorprofile", "golang.org/x/sys"}},
	{pkg: "cmd/relay", own: slices.Concat(commandRooms, []string{"cmd/relay/internal/screen", "host/diag", "judge/box", "sdk/plugintest"}), outside: []string{"github.com/spf13/cobra", "github.com/spf13/pflag"}},
	// Tools of the repository itself.
	{pkg: "internal/...", own: []string{"..."}, outside: append(slices.Clone(hostStack), "github.com/spf13/cobra")},
	{pkg: "testdata/collector", outside: []string{"go.opentelemetry.io/proto/otlp", "google.golang.org/protobuf"}},
	{pkg: "testdata/...", own: []string{"..."}, outside: hostStack},
}

type listed struct {
	ImportPath string
	Dir        string
	Imports    []string
	Deps       []string
	Standard   bool
	GoFiles    []string
	CgoFiles   []string
	Module     *struct{ Main bool }
}

func (p listed) own() bool { return p.Module != nil && p.Module.Main }

func TestImports(t *testing.T) {
	all := list(t)
	byPath := map[string]listed{}
	for _, p := range all {
		byPath[p.ImportPath] = p
	}
	used := map[string]bool{}
	for _, p := range all {
		if !p.own() {
			continue
		}
		rel := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		r, ok := ruleFor(rel)
		if !ok {
			t.Errorf("%s is in no room: give it a rule in internal/arch", rel)
			continue
		}
		used[r.pkg] = true
		imports := p.Imports
		if r.deep {
			imports = p.Deps
		}
		for _, imp := range imports {
			if dep, ok := byPath[imp]; ok && !dep.Standard && !r.allows(imp) {
				t.Errorf("%s may not import %s", rel, strings.TrimPrefix(imp, module+"/"))
			}
		}
	}
	for _, pkg := range []string{"judge/...", "prompts"} {
		if !used[pkg] {
			t.Errorf("the rule for %s holds for no package: the test looks at the wrong tree", pkg)
		}
	}
}

// The rules themselves refuse what they are there to refuse.
func TestRulesBite(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     bool
	}{
		{"judge", "golang.org/x/sys/unix", true},
		{"judge", "github.com/pelletier/go-toml/v2", false},
		{"judge", "google.golang.org/grpc", false},
		{"judge/box", module + "/judge", true},
		{"judge", module + "/host/diag", false},
		{"sdk", module + "/judge", false},
		{"sdk/plugintest", module + "/sdk", true},
		{"plugins/claude", module + "/host/internal/config", false},
		{"plugins/claude", module + "/sdk", true},
		{"cmd/relay", module + "/host/internal/config", false},
		{"cmd/relay", module + "/host", true},
		{"cmd/relay", module + "/host/views", true},
		{"cmd/relay", module + "/host/cycle", false},
		{"host", module + "/host/views", false},
		{"host/views", module + "/host/runs", false},
		{"host/runs", module + "/host/views", true},
		{"host/internal/lock", "github.com/spf13/cobra", false},
		{"host/internal/lock", module + "/host/tick", false},
	} {
		r, ok := ruleFor(c.from)
		if !ok || r.allows(c.to) != c.want {
			t.Errorf("%s importing %s: allowed is not %v", c.from, c.to, c.want)
		}
	}
}

func ruleFor(rel string) (rule, bool) {
	var best rule
	found := false
	for _, r := range rules {
		if covers(r.pkg, rel) && (!found || len(r.pkg) > len(best.pkg) || r.pkg == rel) {
			best, found = r, true
		}
		if r.pkg == rel {
			return r, true
		}
	}
	return best, found
}

func (r rule) allows(imp string) bool {
	if rel, ok := strings.CutPrefix(imp, module+"/"); ok {
		return slices.ContainsFunc(r.own, func(pattern string) bool { return covers(pattern, rel) })
	}
	return slices.ContainsFunc(r.outside, func(path string) bool { return imp == path || strings.HasPrefix(imp, path+"/") })
}

// covers reports whether a pattern names the path: equal, or below a trailing /...
func covers(pattern, rel string) bool {
	if pattern == "..." {
		return true
	}
	base, below := strings.CutSuffix(pattern, "/...")
	return rel == base || below && strings.HasPrefix(rel, base+"/")
}

func TestEveryPackageHasDoc(t *testing.T) {
	for _, p := range list(t) {
		if !p.own() || len(p.GoFiles)+len(p.CgoFiles) == 0 || strings.Contains(p.Dir, "/testdata/") {
			continue
		}
		path := filepath.Join(p.Dir, "doc.go")
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Errorf("%s: %v", p.ImportPath, err)
			continue
		}
		if f.Doc == nil || len(strings.Fields(f.Doc.Text())) < 15 {
			t.Errorf("%s: doc.go does not say what the package does, what it does not do and who calls it", p.ImportPath)
		}
	}
}

// No file is longer than 400 lines; tests, suites of tests (packages named …test)
// and generated code may be.
func TestFileLength(t *testing.T) {
	const limit = 400
	root := moduleRoot(t)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "bin" || name == "out" || name == "dist") {
			return filepath.SkipDir
		}
		if filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, ".pb.go") || strings.HasSuffix(filepath.Dir(path), "test") {
			return nil
		}
		b, err := os.ReadFile(path)
		if n := bytes.Count(b, []byte("\n")); n > limit {
			t.Errorf("%s has %d lines, more than %d: is it still one thing?", strings.TrimPrefix(path, root+"/"), n, limit)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(strings.TrimSpace(string(out)))
}

func list(t *testing.T) []listed {
	t.Helper()
	all, err := listOnce()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var listOnce = sync.OnceValues(func() (all []listed, err error) {
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,Imports,Deps,Standard,GoFiles,CgoFiles,Module", "work")
	cmd.Dir = "../.."
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var p listed
		if err := dec.Decode(&p); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
})
