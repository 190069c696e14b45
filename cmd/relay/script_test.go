package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/paxiom/relay/internal/sampling"
	"github.com/paxiom/relay/judge/box"
)

// binDir holds relay and its plugins, built once by the same steps as `make build`.
var binDir string

func TestMain(m *testing.M) {
	box.Init()
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "relay-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	cmd := exec.Command("go", "run", "./internal/build", "-o", dir)
	cmd.Dir = "../.."
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "building relay for the script tests:", err)
		return 2
	}
	binDir = dir
	return m.Run()
}

// TestScripts runs testdata/script/*.txtar: the built relay, real git, a scripted
// provider and a real builder process. testdata/script/README.md describes the
// commands that are added to testscript's own. With -short it takes a twelfth of the
// stories in CI and fewer elsewhere, unless -run names some.
func TestScripts(t *testing.T) {
	t.Parallel()
	p := scriptParams()
	if testing.Short() && !strings.Contains(flag.Lookup("test.run").Value.String(), "/") {
		all, err := filepath.Glob(filepath.Join(p.Dir, "*.txtar"))
		if err != nil {
			t.Fatal(err)
		}
		p.Dir, p.Files = "", sampling.Every(12, all)
		fmt.Printf("stories: %d of %d with -short, others with each ROTATE; make test SHORT= plays all\n", len(p.Files), len(all))
	}
	testscript.Run(t, p)
}

func scriptParams() testscript.Params {
	return testscript.Params{
		Dir:                 "../../testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Setup:               setupScript,
		Condition:           scriptCondition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"tick":            cmdTick,
			"evening":         cmdEvening,
			"cycle":           cmdCycle,
			"exits":           cmdExits,
			"json":            cmdJSON,
			"counters":        cmdCounters,
			"snapshot":        cmdSnapshot,
			"unchanged":       cmdUnchanged,
			"schema":          cmdSchema,
			"waitfor":         cmdWaitFor,
			"signal":          cmdSignal,
			"noprocess":       cmdNoProcess,
			"make-file":       cmdMakeFile,
			"clock":           cmdClock,
			"stranger":        cmdStranger,
			"vendor":          cmdVendor,
			"collector":       cmdCollector,
			"spans":           cmdSpans,
			"checkout":        cmdCheckout,
			"go-tests-before": cmdGoTestsBefore,
			"mend":            cmdMend,
			"modules":         cmdModules,
			"publish":         cmdPublish,
		},
	}
}

// setupScript gives each script a home, a git identity and the built programs,
// and nothing of the machine's own configuration.
func setupScript(e *testscript.Env) error {
	home := filepath.Join(e.WorkDir, "home")
	for _, d := range []string{home, filepath.Join(e.WorkDir, "repo")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	gitconfig := "[user]\n\tname = A. Person\n\temail = person@example.org\n[init]\n\tdefaultBranch = main\n[commit]\n\tgpgsign = false\n" +
		"[maintenance]\n\tauto = false\n" // or each commit starts git once more, to see whether it should tidy up
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(gitconfig), 0o644); err != nil {
		return err
	}
	fixture, err := filepath.Abs("../../testdata/fixture")
	if err != nil {
		return err
	}
	e.Setenv("HOME", home)
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "RELAY_TRUST", "CLAUDE_CONFIG_DIR", "ANTHROPIC_API_KEY", "NO_COLOR", "CLICOLOR_FORCE", "CI"} {
		e.Setenv(name, "")
	}
	e.Setenv("PATH", binDir+string(os.PathListSeparator)+os.Getenv("PATH"))
	e.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	seed, err := filepath.Abs("../../host/internal/config/testdata/relais.config.json")
	if err != nil {
		return err
	}
	e.Setenv("SEED_CONFIG", seed)
	docs, err := filepath.Abs("../../docs")
	if err != nil {
		return err
	}
	e.Setenv("DOCS", docs)
	e.Setenv("FIXTURE", fixture)
	e.Setenv("BIN", binDir)
	e.Setenv("PLATFORM", runtime.GOOS+"_"+runtime.GOARCH) // as relay.lock.json names this machine's
	e.Setenv("TERM", "dumb")
	return nil
}

func scriptCondition(cond string) (bool, error) {
	switch cond {
	case "root":
		return os.Geteuid() == 0, nil
	case "strace": // and ptrace is allowed
		return exec.Command("strace", "--pidns-translation", "-o", "/dev/null", "true").Run() == nil, nil
	}
	return false, fmt.Errorf("unknown condition %q", cond)
}
