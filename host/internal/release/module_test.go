package release

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/testdata/modproxy"
)

// goWorld is a module proxy with a checksum database.
type goWorld struct{ *modproxy.Proxy }

// newGoWorld serves one, and makes it what the environment says.
func newGoWorld(t *testing.T) goWorld {
	t.Helper()
	p, err := modproxy.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	for _, name := range []string{"GONOSUMDB", "GOPRIVATE", "GONOSUMCHECK", "GOINSECURE", "GOFLAGS"} {
		t.Setenv(name, "")
	}
	t.Setenv("GOPROXY", "direct,"+p.URL+",off")
	t.Setenv("GOSUMDB", p.Verifier)
	return goWorld{p}
}

func (w goWorld) publish(t *testing.T, path, version string, files map[string]string) {
	t.Helper()
	raw := map[string][]byte{}
	for name, text := range files {
		raw[name] = []byte(text)
	}
	if err := w.Publish(path, version, raw); err != nil {
		t.Fatal(err)
	}
}

// workshop builds without a box: what that holds is tried in package pluginenv.
func workshop(t *testing.T) Workshop {
	t.Helper()
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	return Workshop{Cache: strings.TrimSpace(string(cache)), Run: func(ctx context.Context, argv, env, work []string) error {
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Dir, cmd.Env = work[0], env
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}}
}

// here is this machine alone.
var here = []string{catalog.Platform}

const emptyMain = "package main\n\nfunc main() {}\n"

// A module's source is what everybody else gets, or it is not taken; what was built is
// bound to it.
func TestModule(t *testing.T) {
	w := newGoWorld(t)
	shop := workshop(t)
	scratch := t.TempDir()
	w.publish(t, "example.com/foo", "v1.2.3", map[string]string{"cmd/relay-plugin-foo/main.go": "package main\n\nimport _ \"example.com/dep\"\n\nfunc main() {}\n", "cmd/other/main.go": emptyMain})
	w.publish(t, "example.com/dep", "v0.1.0", map[string]string{"dep.go": "package dep\n"})
	// Settings by which a build would run a program, or go elsewhere, do not count.
	t.Setenv("GOFLAGS", "-toolexec=/bin/false -mod=vendor")
	t.Setenv("GOENV", filepath.Join(scratch, "none"))
	t.Setenv("GOTOOLCHAIN", "go9.9.9")
	r, err := Module(t.Context(), "go:example.com/foo/cmd/relay-plugin-foo", scratch, here, shop)
	if err != nil {
		t.Fatal(err)
	}
	if r.Name != "foo" || r.From != "go:example.com/foo/cmd/relay-plugin-foo@v1.2.3" || !strings.HasPrefix(r.Module, "h1:") || !strings.Contains(w.Sums("example.com/foo", "v1.2.3"), " "+r.Module+"\n") ||
		!strings.HasPrefix(r.Toolchain, "go1.") || r.Hashes[catalog.Platform] != "sha256:"+r.SHA256 {
		t.Errorf("%+v", r)
	}
	if got := Source(r.From, r.Name); got != "example.com/foo/cmd/relay-plugin-foo" || Newest(r.From) != "go:example.com/foo/cmd/relay-plugin-foo" {
		t.Errorf("%s %s", got, Newest(r.From))
	}
	if hash, err := hashFile(r.Binary); err != nil || hash != r.SHA256 {
		t.Errorf("%s %v", hash, err)
	}
	again, err := Module(t.Context(), r.From, scratch, here, shop)
	if err != nil || again.SHA256 != r.SHA256 {
		t.Fatalf("built again it is another: %v", err)
	}
	again.Close()
	r.Close()
	if left, _ := os.ReadDir(scratch); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// A module is built for the platforms that are named, or for all that are usual, and for
// this machine in any case: it has to be asked here what it is.
func TestModulePlatforms(t *testing.T) {
	w := newGoWorld(t)
	w.publish(t, "example.com/foo", "v1.2.3", map[string]string{"relay-plugin-foo/main.go": emptyMain})
	shop := Workshop{Cache: t.TempDir(), Run: func(_ context.Context, argv, env, _ []string) error { // writes for whom it would build
		return os.WriteFile(argv[slices.Index(argv, "-o")+1], []byte(strings.Join(env, "\n")), 0o755)
	}}
	for _, c := range []struct{ asked, want []string }{
		{nil, append(slices.Clone(buildPlatforms), catalog.Platform)},
		{here, here},
		{[]string{"plan9_mips"}, []string{"plan9_mips", catalog.Platform}},
	} {
		r, err := Module(t.Context(), "go:example.com/foo/relay-plugin-foo@v1.2.3", t.TempDir(), c.asked, shop)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(c.want)
		if got := slices.Sorted(maps.Keys(r.Hashes)); !slices.Equal(got, slices.Compact(c.want)) {
			t.Errorf("asked for %v: built for %v", c.asked, got)
		}
		system, arch, _ := strings.Cut(catalog.Platform, "_")
		if text, err := os.ReadFile(r.Binary); err != nil || !strings.Contains(string(text), "\nGOOS="+system+"\nGOARCH="+arch) {
			t.Errorf("asked for %v: this machine's was built with %s %v", c.asked, text, err)
		}
		r.Close()
	}
}

// The proxy gives other source than the database has, of the plugin or of what it needs;
// or the database has never seen it: nothing is built.
func TestTamperedModule(t *testing.T) {
	w := newGoWorld(t)
	shop := Workshop{Cache: t.TempDir(), Run: func(context.Context, []string, []string, []string) error {
		t.Error("something is built")
		return errors.New("no")
	}}
	plugin := func(text string) map[string]string { return map[string]string{"cmd/relay-plugin-foo/main.go": text} }
	uses := "package main\n\nimport _ \"example.com/dep\"\n\nfunc main() {}\n"
	evil := "package main\n\nfunc main() { panic(0) }\n"
	w.publish(t, "example.com/foo", "v1.0.0", plugin(emptyMain))
	w.publish(t, "example.com/foo", "v1.0.0", plugin(evil))
	w.publish(t, "example.com/bar", "v1.0.0", map[string]string{"cmd/relay-plugin-bar/main.go": uses})
	w.publish(t, "example.com/dep", "v0.1.0", map[string]string{"dep.go": "package dep\n"})
	w.publish(t, "example.com/dep", "v0.1.0", map[string]string{"dep.go": "package dep\n\nfunc init() { panic(0) }\n"})
	w.publish(t, "example.com/new", "v1.0.0", map[string]string{"relay-plugin-new/main.go": emptyMain, "lib/lib.go": "package lib\n"})
	w.Forget("example.com/new", "v1.0.0")
	for from, says := range map[string]string{
		"go:example.com/foo/cmd/relay-plugin-foo@v1.0.0": "not what the module checksum database has",
		"go:example.com/bar/cmd/relay-plugin-bar@v1.0.0": "not what the module checksum database has",
		"go:example.com/new/relay-plugin-new@v1.0.0":     "go says",
		"go:example.com/foo/cmd/relay-plugin-foo@v1.0.1": "go says",
	} {
		scratch := t.TempDir()
		_, err := Module(t.Context(), from, scratch, nil, shop)
		if f, ok := diag.As(err); !ok || f.Code != judge.BlockedPlugin || f.Fix == "" || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", from, err)
		}
		if left, _ := os.ReadDir(scratch); len(left) > 0 {
			t.Errorf("%s left %v", from, left)
		}
	}
}

// Settings that take a module out of the database are refused, as are names that mean
// something else tomorrow.
func TestModuleSettings(t *testing.T) {
	good := "go:example.com/foo/cmd/relay-plugin-foo@v1.0.0"
	for name, c := range map[string]struct{ variable, value, from, says string }{
		"private":      {"GOPRIVATE", "corp.example,example.com/*", good, "`env -u GOPRIVATE relay plugin install " + good + "`"},
		"no database":  {"GOSUMDB", "off", good, "GOSUMDB takes"},
		"not for it":   {"GONOSUMDB", "*.com", good, "GONOSUMDB takes"},
		"no check":     {"GONOSUMCHECK", "1", good, "GONOSUMCHECK takes"},
		"insecure":     {"GOINSECURE", "x", good, "GOINSECURE takes"},
		"flags":        {"GOFLAGS", "-insecure", good, "GOFLAGS takes"},
		"a branch":     {"", "", "go:example.com/foo/cmd/relay-plugin-foo@main", "not a version"},
		"half":         {"", "", "go:example.com/foo/cmd/relay-plugin-foo@v1", "not a version"},
		"another name": {"", "", "go:example.com/foo@v1.0.0", "named relay-plugin-NAME"},
		"a path":       {"", "", "go:../relay-plugin-foo@v1.0.0", "not a path of a Go package"},
		"a flag":       {"", "", "go:-x/relay-plugin-foo@v1.0.0", "not a path of a Go package"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.variable != "" {
				t.Setenv(c.variable, c.value)
			}
			_, err := Module(t.Context(), c.from, t.TempDir(), nil, Workshop{})
			if f, ok := diag.As(err); !ok || f.Code != judge.BlockedPlugin || !strings.Contains(err.Error()+f.Fix, c.says) {
				t.Errorf("%v", err)
			}
		})
	}
	m, err := parseModule("go:example.com/foo/relay-plugin-foo/v2@v2.0.1")
	if err != nil || m.name != "foo" {
		t.Fatalf("%+v %v", m, err)
	}
	elsewhere := func(name string) string {
		return map[string]string{"GOPRIVATE": "corp.example", "GOPROXY": "direct"}[name]
	}
	if err := m.readSettings(elsewhere); err != nil || m.proxy != "https://proxy.golang.org" || m.sumdb != "sum.golang.org" {
		t.Errorf("%+v %v", m, err)
	}
}
