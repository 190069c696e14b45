package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// allPlatforms are those that have archives.
const allPlatforms = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64"

// options are the command's.
type options struct {
	out       string
	platforms []string
	plugins   string // folders of plugins/, with commas; "" for all
	check     bool
	warm      bool // the second build uses what the first has compiled
}

func main() {
	var o options
	flag.StringVar(&o.out, "o", "dist", "folder to put the files in; what it has of earlier releases is removed")
	platforms := flag.String("platforms", allPlatforms, "platforms, with commas")
	flag.StringVar(&o.plugins, "plugins", "", "folders of plugins/ to pack, with commas; all when empty")
	flag.BoolVar(&o.check, "check", false, "make all of it twice and compare")
	flag.BoolVar(&o.warm, "warm", false, "with -check: the second time with the same build cache, so that only linking and packing are done twice")
	flag.Parse()
	o.platforms = strings.FieldsFunc(*platforms, func(r rune) bool { return r == ',' || r == ' ' })
	if err := o.run(); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(2)
	}
}

func (o options) run() error {
	if len(o.platforms) == 0 {
		return errors.New("no platform is given: -platforms " + allPlatforms)
	}
	repo, err := output("", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	if dirty, err := output(repo, "git", "status", "--porcelain"); err != nil || dirty != "" {
		fmt.Fprintln(os.Stderr, "release: what is not committed is not part of it")
	}
	scratch, err := os.MkdirTemp("", "relay-release-")
	if err != nil {
		return err
	}
	defer remove(scratch)
	// The folders' names differ in length, too: a path that got into a file would show.
	fmt.Fprintln(os.Stderr, "release: from a fresh clone of the last commit")
	first, err := build(o, repo, filepath.Join(scratch, "first"), os.Getenv("GOCACHE"))
	if err != nil {
		return err
	}
	if o.check {
		cache := filepath.Join(scratch, "cache")
		if o.warm {
			cache = os.Getenv("GOCACHE")
		}
		fmt.Fprintln(os.Stderr, "release: once more, in another folder")
		second, err := build(o, repo, filepath.Join(scratch, "and", "the-second"), cache)
		if err != nil {
			return err
		}
		if err := same(first, second); err != nil {
			return err
		}
	}
	if err := take(o.out, first); err != nil {
		return err
	}
	sums, err := os.ReadFile(filepath.Join(o.out, sumsFile))
	fmt.Print(string(sums))
	if o.check {
		fmt.Println("release: made twice, in two folders: the same bytes")
	}
	return err
}

// build makes a release in a clone below dir and gives the folder of its files.
func build(o options, repo, dir, cache string) (string, error) {
	src, files := filepath.Join(dir, "src"), filepath.Join(dir, "files")
	if err := os.MkdirAll(files, 0o755); err != nil {
		return "", err
	}
	if _, err := output("", "git", "clone", "-q", repo, src); err != nil {
		return "", err
	}
	seconds, err := output(src, "git", "show", "-s", "--format=%ct", "HEAD")
	if err != nil {
		return "", err
	}
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return "", err
	}
	r := release{src: src, pages: filepath.Join(dir, "pages"), files: files, cache: cache, plugins: o.plugins, at: time.Unix(unix, 0).UTC()}
	if err := r.writePages(); err != nil {
		return "", fmt.Errorf("man pages and completions: %w", err)
	}
	for i, p := range o.platforms {
		fmt.Fprintf(os.Stderr, "release: %s, %d of %d\n", p, i+1, len(o.platforms)) // minutes each
		if err := r.platform(p); err != nil {
			return "", fmt.Errorf("%s: %w", p, err)
		}
	}
	return files, writeSums(files)
}

// release is one that is being made.
type release struct {
	src, files, cache, plugins string
	pages                      string    // a prefix with man pages and completions
	at                         time.Time // of the commit: the only time that gets into a file
}

// build makes relay and its plugins for a platform, "" for this one, and gives their folder.
func (r release) build(platform string) (string, error) {
	bin := filepath.Join(filepath.Dir(r.files), "bin-"+strings.ReplaceAll(platform, "/", "-"))
	cmd := exec.Command("go", "run", "./internal/build", "-o", bin, "-target", platform, "-plugins", r.plugins)
	cmd.Dir, cmd.Stdout, cmd.Stderr = r.src, os.Stderr, os.Stderr
	// What the person's own environment says about building is not for others; the version
	// has to be git's.
	cmd.Env = append(os.Environ(), "GOFLAGS=-buildvcs=true", "GOWORK="+filepath.Join(r.src, "go.work"), "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0", "GOFIPS140=off", "GODEBUG=")
	if r.cache != "" {
		cmd.Env = append(cmd.Env, "GOCACHE="+r.cache)
	}
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("building: %w", err)
	}
	return bin, nil
}

// writePages has this machine's relay write what is the same for every platform, and puts the SDK beside it.
func (r release) writePages() error {
	bin, err := r.build("")
	if err != nil {
		return err
	}
	if err := os.CopyFS(filepath.Join(r.pages, "share", "relay", "sdk"), os.DirFS(filepath.Join(r.src, "sdk"))); err != nil {
		return err
	}
	_, err = output(r.src, filepath.Join(bin, "relay"), "man", "--prefix", r.pages)
	return err
}

// platform makes archive and SBOM for one platform.
func (r release) platform(platform string) error {
	bin, err := r.build(platform)
	if err != nil {
		return err
	}
	programs, err := readPrograms(bin)
	if err != nil {
		return err
	}
	version := strings.TrimPrefix(programs[0].version(), "v")
	name := "relay_" + version + "_" + strings.ReplaceAll(platform, "/", "_")
	sbom, err := bill(programs, version, platform, r.at, filepath.Join(r.src, "go.sum"))
	if err != nil {
		return err
	}
	if err := conforms(sbom); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.files, name+".cdx.json"), sbom, 0o644); err != nil {
		return err
	}
	members := []member{{"LICENSE", filepath.Join(r.src, "LICENSE"), 0o644}, {"README.md", filepath.Join(r.src, "README.md"), 0o644}}
	for _, p := range programs {
		to := "libexec/relay/" + p.name
		if p.name == "relay" {
			to = "bin/relay"
		}
		members = append(members, member{to, p.path, 0o755})
	}
	pages, err := below(r.pages)
	if err != nil {
		return err
	}
	members = append(members, pages...)
	if err := pack(filepath.Join(r.files, name+".tar.gz"), "relay-"+version, members, r.at); err != nil {
		return err
	}
	if err := r.packages(name, version, platform, members); err != nil {
		return fmt.Errorf("packages: %w", err)
	}
	return r.definitions(version)
}

// output runs a program in a folder and gives what it printed.
func output(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	b, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(b)), nil
}

// remove takes a folder away, with what Go has made read-only in it.
func remove(dir string) {
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o755)
		}
		return nil
	})
	_ = os.RemoveAll(dir)
}
