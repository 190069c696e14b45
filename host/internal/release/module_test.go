package release

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/sumdb/note"
	modzip "golang.org/x/mod/zip"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/judge"
)

// goWorld is a module proxy with a checksum database, on loopback.
type goWorld struct {
	files map[string][]byte // of the proxy
	sums  map[string]string // "path@version" → lines of go.sum
}

// newGoWorld serves it, and makes it what the environment says.
func newGoWorld(t *testing.T) *goWorld {
	t.Helper()
	w := &goWorld{files: map[string][]byte{}, sums: map[string]string{}}
	signer, verifier, err := note.GenerateKey(nil, "sum.example.org")
	if err != nil {
		t.Fatal(err)
	}
	db := sumdb.NewServer(sumdb.NewTestServer(signer, func(path, vers string) ([]byte, error) {
		if lines, ok := w.sums[path+"@"+vers]; ok {
			return []byte(lines), nil
		}
		return nil, os.ErrNotExist
	}))
	mux := http.NewServeMux()
	mux.HandleFunc("/sumdb/sum.example.org/supported", func(http.ResponseWriter, *http.Request) {})
	mux.Handle("/sumdb/sum.example.org/", http.StripPrefix("/sumdb/sum.example.org", db))
	mux.HandleFunc("/", func(rw http.ResponseWriter, r *http.Request) {
		if b, ok := w.files[r.URL.Path]; ok {
			rw.Write(b)
			return
		}
		http.NotFound(rw, r)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	for _, name := range []string{"GONOSUMDB", "GOPRIVATE", "GONOSUMCHECK", "GOINSECURE", "GOFLAGS"} {
		t.Setenv(name, "")
	}
	t.Setenv("GOPROXY", "direct,"+s.URL+",off")
	t.Setenv("GOSUMDB", verifier)
	return w
}

// publish puts a module with these files into the proxy, and into the database unless
// the version is in it: what is published twice is tampered with.
func (w *goWorld) publish(t *testing.T, mod, version string, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	gomod := "module " + mod + "\n\ngo 1.21\n"
	files["go.mod"] = gomod
	for name, text := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	v := module.Version{Path: mod, Version: version}
	var b bytes.Buffer
	if err := modzip.CreateFromDir(&b, v, dir); err != nil {
		t.Fatal(err)
	}
	at := "/" + mod + "/@v/" + version
	w.files[at+".zip"], w.files[at+".mod"] = b.Bytes(), []byte(gomod)
	w.files[at+".info"] = fmt.Appendf(nil, `{"Version":%q,"Time":"2026-01-02T03:04:05Z"}`, version)
	w.files["/"+mod+"/@latest"] = w.files[at+".info"]
	w.files["/"+mod+"/@v/list"] = append(w.files["/"+mod+"/@v/list"], version+"\n"...)
	if w.sums[v.String()] != "" {
		return
	}
	zipped := filepath.Join(dir, "..", path.Base(mod)+".zip")
	if err := os.WriteFile(zipped, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	whole, err := dirhash.HashZip(zipped, dirhash.Hash1)
	if err != nil {
		t.Fatal(err)
	}
	one := sha256.Sum256([]byte(gomod))
	two := sha256.Sum256(fmt.Appendf(nil, "%x  go.mod\n", one))
	w.sums[v.String()] = fmt.Sprintf("%s %s %s\n%s %s/go.mod h1:%s\n", mod, version, whole, mod, version, base64.StdEncoding.EncodeToString(two[:]))
}

// workshop builds without a box: what that holds is tried in package crew.
func workshop(t *testing.T) Workshop {
	t.Helper()
	platforms := buildPlatforms
	buildPlatforms = []string{catalog.Platform}
	t.Cleanup(func() { buildPlatforms = platforms })
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
	r, err := Module(t.Context(), "go:example.com/foo/cmd/relay-plugin-foo", scratch, shop)
	if err != nil {
		t.Fatal(err)
	}
	if r.Name != "foo" || r.From != "go:example.com/foo/cmd/relay-plugin-foo@v1.2.3" || !strings.HasPrefix(r.Module, "h1:") || !strings.Contains(w.sums["example.com/foo@v1.2.3"], " "+r.Module+"\n") ||
		!strings.HasPrefix(r.Toolchain, "go1.") || r.Hashes[catalog.Platform] != "sha256:"+r.SHA256 {
		t.Errorf("%+v", r)
	}
	if got := Source(r.From, r.Name); got != "example.com/foo/cmd/relay-plugin-foo" || Newest(r.From) != "go:example.com/foo/cmd/relay-plugin-foo" {
		t.Errorf("%s %s", got, Newest(r.From))
	}
	if hash, err := hashFile(r.Binary); err != nil || hash != r.SHA256 {
		t.Errorf("%s %v", hash, err)
	}
	again, err := Module(t.Context(), r.From, scratch, shop)
	if err != nil || again.SHA256 != r.SHA256 {
		t.Fatalf("built again it is another: %v", err)
	}
	again.Close()
	r.Close()
	if left, _ := os.ReadDir(scratch); len(left) > 0 {
		t.Errorf("left: %v", left)
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
	delete(w.sums, "example.com/new@v1.0.0")
	for from, says := range map[string]string{
		"go:example.com/foo/cmd/relay-plugin-foo@v1.0.0": "not what the module checksum database has",
		"go:example.com/bar/cmd/relay-plugin-bar@v1.0.0": "not what the module checksum database has",
		"go:example.com/new/relay-plugin-new@v1.0.0":     "go says",
		"go:example.com/foo/cmd/relay-plugin-foo@v1.0.1": "go says",
	} {
		scratch := t.TempDir()
		_, err := Module(t.Context(), from, scratch, shop)
		if f, ok := fault.As(err); !ok || f.Code != judge.BlockedPlugin || f.Fix == "" || !strings.Contains(err.Error(), says) {
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
		"a branch":     {"", "", "go:example.com/foo/cmd/relay-plugin-foo@main", "no version"},
		"half":         {"", "", "go:example.com/foo/cmd/relay-plugin-foo@v1", "no version"},
		"another name": {"", "", "go:example.com/foo@v1.0.0", "named relay-plugin-NAME"},
		"a path":       {"", "", "go:../relay-plugin-foo@v1.0.0", "no path of a Go package"},
		"a flag":       {"", "", "go:-x/relay-plugin-foo@v1.0.0", "no path of a Go package"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.variable != "" {
				t.Setenv(c.variable, c.value)
			}
			_, err := Module(t.Context(), c.from, t.TempDir(), Workshop{})
			if f, ok := fault.As(err); !ok || f.Code != judge.BlockedPlugin || !strings.Contains(err.Error()+f.Fix, c.says) {
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
