package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

// Linked programs stay in the stage, where the go command finds them again and
// does not link anew.
const stageDir = "out/stage"

var pluginName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)

func main() {
	out := flag.String("o", "bin", "folder to put the programs in")
	race := flag.Bool("race", false, "build with the race detector")
	tags := flag.String("tags", "", "build tags, with commas")
	only := flag.String("plugins", "", "folders of plugins/ to build, with commas; all when empty")
	target := flag.String("target", "", "platform to build for, such as darwin/arm64; this one when empty")
	flag.Parse()
	if err := run(*out, *race, *tags, *only, *target); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(2)
	}
}

func run(out string, race bool, tags, only, target string) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	if err := os.Chdir(root); err != nil {
		return err
	}
	b := builder{stage: filepath.Join(root, stageDir), out: out}
	if race {
		b.flags, b.stage = []string{"-race"}, b.stage+"-race"
	}
	if tags != "" {
		b.more, b.stage = []string{"-tags=" + tags}, b.stage+"-"+strings.ReplaceAll(tags, ",", "-")
	}
	if only != "" {
		b.only, b.stage = strings.Split(only, ","), b.stage+"-"+strings.ReplaceAll(only, ",", "-")
	}
	if target != "" && target != runtime.GOOS+"/"+runtime.GOARCH {
		system, arch, ok := strings.Cut(target, "/")
		if !ok || system == "" || arch == "" {
			return fmt.Errorf("%q is not a platform: it is as in linux/arm64", target)
		}
		b.cross = []string{"GOOS=" + system, "GOARCH=" + arch}
	}
	if err := errors.Join(os.MkdirAll(b.linked(), 0o755), os.MkdirAll(out, 0o755)); err != nil {
		return err
	}
	unlock, err := lock(filepath.Join(b.stage, "lock"))
	if err != nil {
		return err
	}
	defer unlock()
	if err := b.plugins(); err != nil {
		return err
	}
	return b.relay()
}

func moduleRoot() (string, error) {
	b, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(b))), nil
}

// lock lets one build at a time use the stage; test packages build in parallel.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() { f.Close() }, nil
}

type builder struct {
	stage, out string
	flags      []string // -race
	more       []string // other flags
	only       []string // folders of plugins to build; all when empty
	cross      []string // environment of a build for another platform; nil for this one
	placed     []string // the plugins' files
	asked      []string // for each of them the one of this platform
}

// linked is the folder of what is linked for the platform that is built for; the stage
// itself has this platform's, which can be asked what they are.
func (b *builder) linked() string {
	if b.cross == nil {
		return b.stage
	}
	return filepath.Join(b.stage, strings.NewReplacer("GOOS=", "", "GOARCH=", "", " ", "-").Replace(strings.Join(b.cross, " ")))
}

// plugins builds all plugins in one go and puts each under its own name.
func (b *builder) plugins() error {
	mains, err := filepath.Glob("plugins/*/main.go")
	if err != nil {
		return err
	}
	if b.only != nil {
		mains = slices.DeleteFunc(mains, func(m string) bool { return !slices.Contains(b.only, filepath.Base(filepath.Dir(m))) })
		if len(mains) != len(b.only) {
			return fmt.Errorf("of the plugins %s only %s exist", b.only, mains)
		}
	}
	var folders []string
	for _, m := range mains {
		folders = append(folders, "./"+filepath.Dir(m))
	}
	if err := b.goBuild(nil, "", append([]string{"-buildvcs=false", "-o", b.stage + "/"}, folders...)...); err != nil {
		return err
	}
	if b.cross != nil {
		if err := b.goBuild(b.cross, "", append([]string{"-buildvcs=false", "-o", b.linked() + "/"}, folders...)...); err != nil {
			return err
		}
	}
	for _, m := range mains {
		folder := filepath.Base(filepath.Dir(m))
		name, err := nameOf(filepath.Join(b.stage, folder))
		if err != nil {
			return err
		}
		to := filepath.Join(b.out, "relay-plugin-"+name)
		if err := place(filepath.Join(b.linked(), folder), to); err != nil {
			return err
		}
		b.placed = append(b.placed, to)
		b.asked = append(b.asked, filepath.Join(b.stage, folder))
	}
	return nil
}

// nameOf asks a plugin for its name.
func nameOf(path string) (string, error) {
	var stderr bytes.Buffer
	cmd := exec.Command(path, "--info")
	cmd.Stderr = &stderr
	answer, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s --info: %w: %s", path, err, stderr.Bytes())
	}
	var info struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(answer, &info); err != nil {
		return "", fmt.Errorf("%s --info: %w", path, err)
	}
	if !pluginName.MatchString(info.Name) {
		return "", fmt.Errorf("%s --info: %q is not a plugin name", path, info.Name)
	}
	return info.Name, nil
}

// relay links the program with the manifest of the plugins beside it.
func (b *builder) relay() error {
	manifest, err := b.manifest()
	if err != nil {
		return err
	}
	staged := filepath.Join(b.linked(), "relay")
	if err := b.goBuild(b.cross, "-X "+manifestVar+"="+manifest, "-o", staged, "./cmd/relay"); err != nil {
		return err
	}
	return place(staged, filepath.Join(b.out, "relay"))
}

// manifestVar is the variable that holds the manifest in relay.
const manifestVar = "github.com/paxiom/relay/host/internal/catalog.manifest"

// manifest describes the plugins that were placed: their hashes and what they say
// about themselves.
func (b *builder) manifest() (string, error) {
	tool := filepath.Join(b.stage, "mkmanifest")
	if err := b.goBuild(nil, "", "-o", tool, "./host/internal/catalog/mkmanifest"); err != nil {
		return "", err
	}
	files := b.placed
	if b.cross != nil {
		files = append([]string{"-ask", strings.Join(b.asked, ",")}, files...)
	}
	cmd := exec.Command(tool, files...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("mkmanifest: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// goBuild calls go build. platform is the environment of a build for another one; nil is
// this one's.
func (b builder) goBuild(platform []string, ldflags string, args ...string) error {
	args = append([]string{"build", "-trimpath", "-ldflags=" + strings.TrimSpace("-s -w "+ldflags)}, append(slices.Concat(b.flags, b.more), args...)...)
	cmd := exec.Command("go", args...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	cmd.Env = append(os.Environ(), platform...)
	cgo := "CGO_ENABLED=0" // programs are static, and start sooner
	if len(b.flags) > 0 {
		cgo = "CGO_ENABLED=1" // the race detector needs it
	}
	cmd.Env = append(cmd.Env, cgo)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// place copies a program to its final name in one step: a running one is
// replaced and never written into.
func place(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	tmp, err := os.CreateTemp(filepath.Dir(to), ".build-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = io.Copy(tmp, in)
	if err := errors.Join(err, tmp.Chmod(0o755), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), to)
}
