package release

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/program"
)

// schemeGo is in front of a plugin's package in a Go module, "go:PATH@VERSION".
const schemeGo = "go:"

// IsModule says that a source is a Go module.
func IsModule(source string) bool { return strings.HasPrefix(source, schemeGo) }

// Newest is the source without a version that it names: where upgrades are.
func Newest(source string) string {
	if IsModule(source) {
		source, _, _ = strings.Cut(source, "@")
	}
	return source
}

// buildPlatforms are those that a module is built for when nobody says which, besides this
// machine's: without cgo the same source and toolchain make the same bytes wherever they run.
var buildPlatforms = []string{"linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64"}

const moduleTime = 30 * time.Minute

// Workshop is where a plugin is built from source.
type Workshop struct {
	// Cache is a folder for what the toolchain has compiled; it is kept.
	Cache string
	// Run runs the toolchain in a box that has no network and may write the folders of
	// work only, in the first of them.
	Run func(ctx context.Context, argv, env, work []string) error
}

// Module takes a plugin from a Go module and builds it, for these platforms and always for
// this machine's; with none of them for all that are usual. What is downloaded is held to
// the module checksum database, whatever the user's settings of Go say; nothing of the
// module runs, and it is compiled without cgo and without the network.
func Module(ctx context.Context, source, scratch string, platforms []string, w Workshop) (*Release, error) {
	m, err := parseModule(source)
	if err == nil {
		err = m.findGo()
	}
	if err != nil {
		return nil, refuseModule(source, err)
	}
	r, err := newRelease(scratch)
	if err != nil {
		return nil, err
	}
	m.dir, m.cache = r.dir, w.Cache
	ctx, cancel := context.WithTimeout(ctx, moduleTime)
	defer cancel()
	if err = m.download(ctx); err == nil {
		err = m.build(ctx, r, platforms, w)
	}
	if err != nil {
		r.Close()
		return nil, refuseModule(source, err)
	}
	r.Name, r.Module, r.Toolchain = m.name, m.sum, m.toolchain
	r.From = schemeGo + m.pkg + "@" + m.version
	if !module.IsPseudoVersion(m.version) {
		r.Version = m.version
	}
	return r, nil
}

// ModuleVersion is the version of a Go module in a pin's From; "" for any other source.
func ModuleVersion(from string) string {
	if !IsModule(from) {
		return ""
	}
	_, version, _ := strings.Cut(from, "@")
	return version
}

// source is a plugin's package and what is known of it.
type source struct {
	pkg, version string // the package, and the version as it was asked for, then as it is
	name         string // the plugin's
	sum          string // of the module, "h1:…"
	tool         string // the go program
	toolchain    string
	proxy, sumdb string
	dir, cache   string
}

var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

func parseModule(from string) (*source, error) {
	pkg, version, _ := strings.Cut(strings.TrimPrefix(from, schemeGo), "@")
	if err := module.CheckImportPath(pkg); err != nil || !strings.Contains(pkg, "/") {
		return nil, bad(fmt.Sprintf("%.200q is not a path of a Go package", pkg))
	}
	version = cmp.Or(version, "latest")
	if version != "latest" && semver.Canonical(version) != version {
		return nil, bad(fmt.Sprintf("%.100q is not a version such as v1.2.3; a branch or a commit can mean something else tomorrow", version))
	}
	base := path.Base(pkg)
	if majorVersion.MatchString(base) {
		base = path.Base(path.Dir(pkg))
	}
	f, ok := parseFile(base)
	if !ok || f.platform != "" || f.version != "" {
		return nil, bad("a plugin's package is named relay-plugin-NAME, and this one is " + base)
	}
	m := &source{pkg: pkg, version: version, name: f.name}
	return m, m.readSettings(os.Getenv)
}

// readSettings takes the proxy and the checksum database of the user's environment, and
// refuses settings by which this module would not be held to the database.
func (m *source) readSettings(get func(string) string) error {
	refuse := func(name string) error {
		return diag.New(judge.BlockedPlugin, name+" takes this module out of the module checksum database",
			"a plugin from a module has no signature; all that vouches for it is that everybody gets the same source",
			"`env -u "+name+" relay plugin install "+diag.Word(schemeGo+m.pkg+"@"+m.version)+"`, or take a signed release of the plugin")
	}
	for _, name := range []string{"GONOSUMDB", "GOPRIVATE"} {
		if module.MatchPrefixPatterns(get(name), m.pkg) {
			return refuse(name)
		}
	}
	for _, name := range []string{"GONOSUMCHECK", "GOINSECURE"} {
		if get(name) != "" {
			return refuse(name)
		}
	}
	if flags := get("GOFLAGS"); strings.Contains(flags, "-insecure") {
		return refuse("GOFLAGS")
	}
	if m.sumdb = get("GOSUMDB"); m.sumdb == "off" {
		return refuse("GOSUMDB")
	} else if m.sumdb == "" {
		m.sumdb = "sum.golang.org"
	}
	var proxies []string
	for _, p := range strings.FieldsFunc(get("GOPROXY"), func(r rune) bool { return r == ',' || r == '|' }) {
		if p = strings.TrimSpace(p); strings.HasPrefix(p, "https://") || strings.HasPrefix(p, "file://") || strings.HasPrefix(p, "http://127.0.0.1:") {
			proxies = append(proxies, p) // the rest would start programs such as git
		}
	}
	if m.proxy = strings.Join(proxies, ","); m.proxy == "" {
		m.proxy = "https://proxy.golang.org"
	}
	return nil
}

// findGo finds the toolchain that is there; no other is fetched.
func (m *source) findGo() error {
	found, err := program.Find("go", os.Getenv("PATH"), program.Tree("."))
	if err != nil {
		return diag.Wrap(err, judge.BlockedPlugin, "a plugin from a Go module is built here, and there is no Go",
			"`go version` has to work: install it from https://go.dev/dl, or take a release of the plugin")
	}
	m.tool = found.Name
	return nil
}

// env is all of the toolchain's environment: nothing of the user's settings counts. It has
// no home: in a new one the toolchain's telemetry, which no variable turns off, would leave
// a process behind that writes there while the home is removed.
func (m *source) env(more ...string) []string {
	env := []string{"PATH=" + filepath.Dir(m.tool) + ":/usr/bin:/bin", "TMPDIR=" + filepath.Join(m.dir, "tmp"), "LANG=C",
		"GOENV=off", "GOWORK=off", "GO111MODULE=on", "GOTOOLCHAIN=local", "CGO_ENABLED=0", "GOVCS=*:off", "GOAUTH=off",
		"GOPATH=" + filepath.Join(m.dir, "go"), "GOMODCACHE=" + filepath.Join(m.dir, "go", "mod"), "GOCACHE=" + m.cache}
	for _, name := range []string{"HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return append(env, more...)
}

// work is the folder of the module that has the plugin for its only requirement.
func (m *source) work() string { return filepath.Join(m.dir, "work") }

// download takes the module and all that it needs, each held to the checksum database.
func (m *source) download(ctx context.Context) error {
	for _, dir := range []string{m.work(), filepath.Join(m.dir, "tmp"), m.cache} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(m.work(), "go.mod"), []byte("module relay.invalid/plugin\n\ngo 1.21\n"), 0o600); err != nil {
		return err
	}
	net := m.env("GOPROXY="+m.proxy, "GOSUMDB="+m.sumdb, "GOFLAGS=-mod=mod -modcacherw")
	if _, err := m.run(ctx, net, "get", m.pkg+"@"+m.version); err != nil {
		return err
	}
	out, err := m.run(ctx, net, "list", "-f", "{{.Name}} {{with .Module}}{{.Path}} {{.Version}}{{end}}", m.pkg)
	if err != nil {
		return err
	}
	words := strings.Fields(out)
	if len(words) != 3 || words[0] != "main" {
		return bad(m.pkg + " is not a program")
	}
	if out, err = m.run(ctx, net, "env", "GOVERSION"); err != nil {
		return err
	}
	m.version, m.toolchain = words[2], strings.TrimSpace(out)
	m.sum, err = sumOf(filepath.Join(m.work(), "go.sum"), words[1], words[2])
	return err
}

// sumOf finds the checksum of a module in go.sum.
func sumOf(file, path, version string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	for in := bufio.NewScanner(f); in.Scan(); {
		if words := strings.Fields(in.Text()); len(words) == 3 && words[0] == path && words[1] == version {
			return words[2], nil
		}
	}
	return "", bad("nothing vouches for " + path + " " + version)
}

// build compiles the plugin for each platform, in the workshop.
func (m *source) build(ctx context.Context, r *Release, platforms []string, w Workshop) error {
	r.Hashes = map[string]string{}
	if len(platforms) == 0 {
		platforms = buildPlatforms
	}
	if !slices.Contains(platforms, catalog.Platform) {
		platforms = append(platforms[:len(platforms):len(platforms)], catalog.Platform)
	}
	for _, at := range platforms {
		system, arch, _ := strings.Cut(at, "_")
		out := filepath.Join(m.work(), prefix+m.name+"_"+at)
		env := m.env("GOPROXY=off", "GOSUMDB=off", "GOFLAGS=-mod=readonly", "GOOS="+system, "GOARCH="+arch)
		argv := []string{m.tool, "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", out, m.pkg}
		if err := w.Run(ctx, argv, env, []string{m.work(), m.cache, filepath.Join(m.dir, "tmp")}); err != nil {
			return err
		}
		hash, err := hashFile(out)
		if err != nil {
			return err
		}
		r.Hashes[at] = "sha256:" + hash
		if at == catalog.Platform {
			r.Binary, r.SHA256 = filepath.Join(r.dir, filepath.Base(out)), hash
			if err := os.Rename(out, r.Binary); err != nil {
				return err
			}
		}
	}
	return nil
}

func hashFile(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, maxBinary+1))
	if err == nil && n > maxBinary {
		err = bad(fmt.Sprintf("it is larger than %d MB", maxBinary>>20))
	}
	return hex.EncodeToString(h.Sum(nil)), err
}

// run starts the toolchain with the network, for what executes nothing of the module.
func (m *source) run(ctx context.Context, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, m.tool, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = m.work(), env, time.Second
	var out strings.Builder
	words := &tail{}
	cmd.Stdout, cmd.Stderr = &out, words
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", goSays(words.String(), err)
	}
	return out.String(), nil
}

// goSays makes an error of what the toolchain printed.
func goSays(text string, err error) error {
	switch {
	case strings.Contains(text, "SECURITY ERROR") || strings.Contains(text, "checksum mismatch"):
		return bad("its source is not what the module checksum database has: " + text)
	case text == "":
		return fmt.Errorf("go: %w", err)
	}
	return bad("go says: " + text)
}

// refuseModule says for a person why nothing was taken from a module.
func refuseModule(source string, err error) error {
	if _, ok := diag.As(err); ok || errors.Is(err, context.Canceled) {
		return err
	}
	return diag.Wrap(err, judge.BlockedPlugin, source+" can't be installed as a plugin", "`relay plugin install --help` shows the form; ask its author for a module or a release that has it")
}
