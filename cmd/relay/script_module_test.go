package main

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/paxiom/relay/testdata/modproxy"
)

// sdkDir is this checkout's SDK, as an author gets it: a module by itself.
const sdkDir = "../../sdk"

// proxies are those of all scripts, by their address.
var proxies sync.Map

// compiled is one package as the go command has compiled it.
type compiled struct {
	export, action string // its file in the build cache, and the start of its entry's name
	own            string // its folder, if it is of this module
}

// sdkCompiled are the SDK and all that it needs, the standard library included, compiled as
// relay's workshop does it. What is not in this machine's build cache is compiled now.
var sdkCompiled = sync.OnceValues(func() (all []compiled, err error) {
	cmd := exec.Command("go", "list", "-deps", "-export", "-trimpath", "-f",
		"{{.Export}}\t{{.BuildID}}\t{{with .Module}}{{if .Main}}{{$.Dir}}{{end}}{{end}}", ".")
	cmd.Dir = sdkDir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		action, _, _ := strings.Cut(f[1], "/")
		id, err := base64.RawURLEncoding.DecodeString(action)
		if err != nil {
			return nil, err
		}
		all = append(all, compiled{export: f[0], action: hex.EncodeToString(id), own: f[2]})
	}
	return all, nil
})

// cmdModules begins a module proxy with a checksum database of its own, for the go command
// of the script; nothing that it gets there reaches this machine's module cache. With "sdk"
// it has this checkout's SDK and what that needs, and relay's workshop finds compiled what
// this machine has compiled of these: from nothing that would take a minute.
//
//	modules [sdk]
func cmdModules(ts *testscript.TestScript, neg bool, args []string) {
	sdk := len(args) == 1 && args[0] == "sdk"
	if neg || len(args) != 0 && !sdk {
		ts.Fatalf("usage: modules [sdk]")
	}
	proxy, err := modproxy.Start()
	ts.Check(err)
	ts.Defer(proxy.Close)
	env, err := goEnv()
	ts.Check(err)
	if sdk {
		packages, err := sdkCompiled()
		ts.Check(err)
		ts.Check(proxy.Lend(env["GOMODCACHE"], sdkDir+"/go.sum"))
		ts.Check(publishSDK(proxy, packages))
		ts.Check(lendCompiled(filepath.Join(ts.Getenv("HOME"), ".cache", "relay", "go-build"), env["GOCACHE"], packages))
	}
	proxies.Store(proxy.URL, proxy)
	for name, value := range map[string]string{"GOPROXY": proxy.URL, "GOSUMDB": proxy.Verifier, "GOCACHE": env["GOCACHE"],
		"GOMODCACHE": ts.MkAbs("gomod"), "GOFLAGS": "-modcacherw", "GOTOOLCHAIN": "local"} {
		ts.Setenv(name, value)
	}
	ts.Setenv("PATH", binDir+":"+filepath.Join(env["GOROOT"], "bin")+":"+os.Getenv("PATH")) // the compiler, and no program in front of it
}

// publishSDK publishes the SDK's packages that plugins import.
func publishSDK(proxy *modproxy.Proxy, packages []compiled) error {
	root, err := filepath.Abs(sdkDir)
	if err != nil {
		return err
	}
	files := map[string][]byte{}
	if files["go.mod"], err = os.ReadFile(filepath.Join(root, "go.mod")); err != nil {
		return err
	}
	for _, p := range packages {
		if p.own == "" {
			continue
		}
		below, err := filepath.Rel(root, p.own)
		if err != nil {
			return err
		}
		sources, err := filepath.Glob(filepath.Join(p.own, "*.go"))
		if err != nil {
			return err
		}
		for _, at := range sources {
			if files[filepath.ToSlash(filepath.Join(below, filepath.Base(at)))], err = os.ReadFile(at); err != nil {
				return err
			}
		}
	}
	return proxy.Publish("github.com/paxiom/relay/sdk", "v0.1.0", files)
}

// lendCompiled copies from one build cache into another what there is of these packages: a
// result, named by its hash, and an entry that says what it is the result of. What is
// missing is compiled later, and only takes longer.
func lendCompiled(to, cache string, packages []compiled) error {
	for _, p := range packages {
		if p.export == "" { // unsafe
			continue
		}
		entries, err := filepath.Glob(filepath.Join(cache, p.action[:2], p.action+"*-a"))
		if err != nil {
			return err
		}
		for _, from := range append(entries, p.export) {
			if err := copyInto(to, cache, from); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

func copyInto(to, root, from string) error {
	below, err := filepath.Rel(root, from)
	if err != nil {
		return err
	}
	at := filepath.Join(to, below)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	defer out.Close()
	_, err = io.Copy(out, in)
	return err
}

// cmdPublish publishes a folder as a version of a module. A second time it is served, and
// the database continues to vouch for the first.
//
//	publish PATH@VERSION DIR
func cmdPublish(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: publish PATH@VERSION DIR")
	}
	proxy, ok := proxies.Load(ts.Getenv("GOPROXY"))
	if !ok {
		ts.Fatalf("no proxy was begun: modules does it")
	}
	path, version, _ := strings.Cut(args[0], "@")
	dir, files := ts.MkAbs(args[1]), map[string][]byte{}
	ts.Check(filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		below, err := filepath.Rel(dir, at)
		if err == nil {
			files[filepath.ToSlash(below)], err = os.ReadFile(at)
		}
		return err
	}))
	ts.Check(proxy.(*modproxy.Proxy).Publish(path, version, files))
}
