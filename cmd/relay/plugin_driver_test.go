package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/plugins"
	"github.com/paxiom/relay/internal/sampling"
	"github.com/paxiom/relay/sdk/plugintest"
)

// driverBench is a folder of programs for drivers, and a home.
type driverBench struct{ dir string }

func newDriverBench(t *testing.T) *driverBench {
	t.Helper()
	b := &driverBench{dir: t.TempDir()}
	b.program(t, "agent", "#!/bin/sh\ncat >/dev/null\necho from the agent >> hello.txt\n")
	return b
}

func (b *driverBench) program(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// try holds a driver to the contract with the built relay. It gives the rules that were
// broken, each with its reason, and those that could not be tried.
func (b *driverBench) try(t *testing.T, driver string, args ...string) (failed map[string]string, skipped []string) {
	t.Helper()
	cmd := exec.Command(filepath.Join(binDir, "relay"), append([]string{"plugin", "test", "--json", "--driver", driver}, args...)...)
	cmd.Dir = b.dir
	cmd.Env = []string{"HOME=" + b.dir, "PATH=" + b.dir + ":" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.Output()
	var res plugins.Rules
	if bad := json.Unmarshal(out, &res); bad != nil || len(res.Rules) != 5 {
		t.Fatalf("%v %v\n%s", err, bad, out)
	}
	code := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		code = exit.ExitCode()
	}
	failed = map[string]string{}
	for _, r := range res.Rules {
		switch r.Verdict {
		case plugintest.Failed:
			failed[r.ID] = r.Detail
		case plugintest.Skipped:
			skipped = append(skipped, r.ID)
		}
	}
	if (code == host.ExitDone) != (len(failed) == 0) || code != host.ExitDone && code != host.ExitStopped {
		t.Errorf("exit code %d with %v", code, failed)
	}
	return failed, skipped
}

// Each example of the guide, in shell, Python and Go, is what the guide asks of a driver.
func TestDriverExamples(t *testing.T) {
	sampling.Rare(t)
	guide, err := os.ReadFile("../../docs/plugin-authors/external-driver.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, language := range []string{"sh", "python", "go"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			b := newDriverBench(t)
			driver := b.program(t, "driver", example(t, string(guide), language))
			if language == "python" {
				if _, err := exec.LookPath("python3"); err != nil {
					t.Skip("there is no python3 on this machine")
				}
			}
			if language == "go" {
				if err := os.Rename(driver, driver+".go"); err != nil {
					t.Fatal(err)
				}
				cmd := exec.Command("go", "build", "-o", driver, driver+".go")
				cmd.Dir = b.dir
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			}
			if failed, skipped := b.try(t, "./driver"); len(failed) > 0 || len(skipped) > 1 {
				t.Errorf("broken %v, not tried %v", failed, skipped)
			}
			// While its agent works it ends when it is asked to, and the agent with it.
			b.program(t, "agent", "#!/bin/sh\ncat >/dev/null\nsleep 300\n")
			if failed, skipped := b.try(t, "./driver", "--timeout", "2s"); len(failed) != 1 || failed["D1"] == "" || slices.Contains(skipped, "D5") {
				t.Errorf("broken %v, not tried %v", failed, skipped)
			}
		})
	}
}

// example is the last piece of code in a language that is a whole program.
func example(t *testing.T, guide, language string) string {
	t.Helper()
	at := strings.LastIndex(guide, "```"+language+"\n")
	if at < 0 {
		t.Fatalf("the guide has no example in %s", language)
	}
	text, _, ok := strings.Cut(guide[at+len("```"+language+"\n"):], "```")
	if !ok {
		t.Fatal("the example has no end")
	}
	return text
}

// A driver that breaks the contract is named for the rule that it breaks, and for no other.
func TestDriverThatBreaksTheContract(t *testing.T) {
	sampling.Rare(t)
	const result = `{"summary": "did it", "files_intended": ["hello.txt"], "commands_ran": [], "notes": []}`
	const good = "echo more >> hello.txt\necho '" + result + "' > \"$RELAY_OUTPUT_PATH\"\n"
	for name, c := range map[string]struct {
		driver  string
		args    []string
		rule    string // "" breaks none
		says    string
		skipped string
		long    bool
	}{
		"good":              {driver: good, skipped: "D5"},
		"stale":             {driver: "echo more >> hello.txt\ncp -p RESULT.json \"$RELAY_OUTPUT_PATH\"", rule: "D2", says: "before this run", skipped: "D5"},
		"none":              {driver: "echo more >> hello.txt", rule: "D2", says: "not written", skipped: "D5", long: true},
		"malformed":         {driver: good + "echo '}' >> \"$RELAY_OUTPUT_PATH\"", rule: "D2", says: "follows the JSON value", skipped: "D5", long: true},
		"of another form":   {driver: "echo '{\"summary\": 7, \"files_intended\": [], \"commands_ran\": [], \"notes\": []}' > \"$RELAY_OUTPUT_PATH\"", rule: "D2", says: "summary", skipped: "D5", long: true},
		"huge result":       {driver: "head -c 3000000 /dev/zero | tr '\\0' '1' > \"$RELAY_OUTPUT_PATH\"", rule: "D2", says: "larger than", skipped: "D5"},
		"a file of its own": {driver: good + "echo notes > my-notes.txt", rule: "D3", says: "my-notes.txt", skipped: "D5"},
		"one name always": {driver: "echo more >> hello.txt\necho '" + result + "' > out.json; [ \"${RELAY_OUTPUT_PATH##*/}\" = RESULT.json ] || cp out.json \"$RELAY_OUTPUT_PATH\"; rm out.json",
			rule: "D2", says: "not written", skipped: "D5", long: true},
		"dies":     {driver: good + "echo no luck >&2\nexit 3", rule: "D1", says: "exit code 3", skipped: "D2 D5"},
		"killed":   {driver: "kill -9 $$", rule: "D1", says: "signal", skipped: "D2 D5", long: true},
		"floods":   {driver: "yes", args: []string{"--set", "box.limits.output_mb=2"}, rule: "D4", says: "2 MB", skipped: "D2 D5"},
		"slow":     {driver: "sleep 300", args: []string{"--timeout", "1s"}, rule: "D1", says: "after 1s", skipped: "D2", long: true},
		"stubborn": {driver: "trap '' TERM\nsleep 300 & wait; wait\n" + good, args: []string{"--timeout", "1s"}, rule: "D1 D5", says: "SIGTERM", skipped: "D2"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.long && testing.Short() {
				t.Skip("the short run takes one driver of each rule")
			}
			t.Parallel()
			b := newDriverBench(t)
			failed, skipped := b.try(t, b.program(t, "driver", "#!/bin/sh\n"+c.driver), c.args...)
			var broken []string
			says := ""
			for rule, why := range failed {
				broken = append(broken, rule)
				says += why
			}
			slices.Sort(broken)
			if strings.Join(broken, " ") != c.rule || !strings.Contains(says, c.says) || strings.Join(skipped, " ") != c.skipped {
				t.Errorf("broken %v, not tried %v", failed, skipped)
			}
		})
	}
}

// A driver that can't be started is no driver that breaks a rule.
func TestDriverThatIsNotThere(t *testing.T) {
	cmd := exec.Command(filepath.Join(binDir, "relay"), "plugin", "test", "--driver", "./none")
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != host.ExitBlocked || !strings.Contains(string(out), "the driver ./none can't be started") {
		t.Errorf("%v %s", err, out)
	}
}
