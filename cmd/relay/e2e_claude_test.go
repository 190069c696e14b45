package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/testdata/e2e"
)

// e2eKey must not be found in anything that relay leaves behind.
const e2eKey = "sk-ant-canary-5f1c"

const (
	e2ePlan = `{"match":"You plan for","times":-1,"tool":{"name":"StructuredOutput","input":{
    "task_id":"mend-add","milestone_id":"M1","task_kind":"execute","intent":"Make add.sh add",
    "scope":{"allowed_globs":["add.sh"],"forbidden_globs":[],"allow_new_files":false,"allow_lockfile_changes":false},
    "diff_limits":{"max_files_touched":1,"max_lines_changed":10},"verification":{"fast":[],"slow":[]},
    "builder":{"mode":"claude-code","max_turns":6,"instructions":"In add.sh print the sum."}}}}`
	e2eRead = `{"match":"You work for","tool":{"name":"Read","input":{"file_path":"{{REPO}}/add.sh"}}}`
	e2eEdit = `{"match":"You work for","tool":{"name":"Edit","input":{"file_path":"{{REPO}}/add.sh","old_string":"- $2","new_string":"+ $2"}}}`
	e2eDone = `{"match":"You work for","times":-1,"tool":{"name":"StructuredOutput","input":{"summary":"It adds.","files_intended":["add.sh"],"commands_ran":[],"notes":[]}}}`
	e2eWork = e2ePlan + "," + e2eRead + "," + e2eEdit + "," + e2eDone
)

// e2eClaude is a sample repository with both Claude plugins configured for a
// scripted model.
type e2eClaude struct {
	repo string
	env  []string
}

func openE2EClaude(t *testing.T, turns string) *e2eClaude {
	t.Helper()
	claude := e2e.Claude(t)
	w := &e2eClaude{repo: filepath.Join(t.TempDir(), "repo")}
	model := e2e.Model(t, `{"anthropic":[`+turns+`]}`, map[string]string{"REPO": w.repo})
	writeFile(t, filepath.Join(w.repo, "add.sh"), "echo $(($1 - $2))\n")
	writeFile(t, filepath.Join(w.repo, "relay.config.json"), fmt.Sprintf(`{"version":"1.0","claude_code_cli":{"command":%q},"plugins":{"claude":{"transport":"cli"}},
		"builder":{"default_mode":"claude-code"},"models":{"orchestrator_model":"claude-sonnet-4-5","builder_model":"claude-sonnet-4-5"}}`, claude))
	env := e2e.Env(t, model)
	env["ANTHROPIC_API_KEY"], env["ANTHROPIC_BASE_URL"] = e2eKey, model.URL()
	env["PATH"], env["GIT_CONFIG_NOSYSTEM"] = binDir+":"+os.Getenv("PATH"), "1"
	for _, line := range []string{"git init -q -b main", "git config user.name e2e", "git config user.email e2e@example.org", "git add -A", "git commit -q -m base", "relay trust --yes"} {
		e2eExec(t, w.repo, env, strings.Fields(line)...)
	}
	for name, value := range env {
		w.env = append(w.env, name+"="+value)
	}
	return w
}

func (w *e2eClaude) command(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(binDir, "relay"), args...)
	cmd.Dir, cmd.Env = w.repo, w.env
	return cmd
}

// run runs one tick and gives its report and exit code.
func (w *e2eClaude) run(t *testing.T) (*host.RunResult, int) {
	t.Helper()
	cmd := w.command("run", "--goal", "make it add", "--json")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	res := new(host.RunResult)
	if err := json.Unmarshal(out, res); err != nil || res.Report == nil {
		t.Fatalf("%v\n%s\n%s", err, out, stderr.String())
	}
	return res, cmd.ProcessState.ExitCode()
}

// untouched fails when the repository is not as it was.
func (w *e2eClaude) untouched(t *testing.T) {
	t.Helper()
	cmd := exec.Command("git", "status", "--porcelain")
	cmd.Dir = w.repo
	out, err := cmd.CombinedOutput()
	if b, _ := os.ReadFile(filepath.Join(w.repo, "add.sh")); err != nil || len(out) > 0 || !strings.Contains(string(b), "- $2") {
		t.Errorf("the repository was changed: %v\n%s\n%s", err, out, b)
	}
}

// noKey looks for the key in everything below the repository.
func (w *e2eClaude) noKey(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(w.repo, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(e2eKey)) {
			t.Errorf("the key is in %s", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What goes wrong at the vendor, besides what TestE2EMatrix tries with every vendor, ends
// a run of relay with the code and the words that belong to it, and changes nothing.
func TestE2EClaudeFailures(t *testing.T) {
	always := func(fault string) string { return `{"times":-1,"error":` + fault + `}` }
	for name, tc := range map[string]struct {
		turns string
		code  string
		exit  int
		says  string
	}{
		"no credit":     {turns: always(`{"status":400,"body":{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}}`), code: "BLOCKED_AUTH", exit: 3, says: "no credit"},
		"unknown model": {turns: always(`{"status":404}`), code: "BLOCKED_PLUGIN", exit: 3, says: "does not know this model"},
		"no plan":       {turns: `{"text":"I would rather not.","times":-1}`, code: "BLOCKED_ORCHESTRATOR_OUTPUT_INVALID", exit: 3},
		"builder's limit": {turns: e2ePlan + "," + e2eRead + "," + e2eEdit + `,{"match":"You work for","times":-1,"tool":{"name":"Read","input":{"file_path":"{{REPO}}/add.sh"}}}`,
			code: "STOP_INTERRUPTED", exit: 2, says: "turns"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := openE2EClaude(t, tc.turns)
			res, exit := w.run(t)
			said, err := json.Marshal(res)
			if err != nil {
				t.Fatal(err)
			}
			if string(res.Report.Code) != tc.code || exit != tc.exit || !strings.Contains(string(said), tc.says) {
				t.Errorf("code %s, exit %d\n%s", res.Report.Code, exit, said)
			}
			w.untouched(t)
			w.noKey(t)
		})
	}
}

// When relay itself is killed in the middle of a build, Claude Code and the
// commands that it started die with it, and the repository is as it was.
func TestE2EClaudeHostKilled(t *testing.T) {
	mark := fmt.Sprintf("e2e-mark-%d", os.Getpid())
	sleeper := fmt.Sprintf(`{"match":"You work for","tool":{"name":"Bash","input":{"command":"exec -a %s tail -f /dev/null","description":"x"}}}`, mark)
	w := openE2EClaude(t, e2ePlan+","+e2eRead+","+e2eEdit+","+sleeper)
	cmd := w.command("run", "--goal", "make it add")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the command to run", func() bool { return len(withMark(t, mark)) > 0 })
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	until(t, "everything to be gone", func() bool { return len(withMark(t, mark)) == 0 })
	w.untouched(t)
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited too long for %s", what)
		}
	}
}

// withMark are the processes whose first argument is the mark.
func withMark(t *testing.T, mark string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && bytes.HasPrefix(b, []byte(mark+"\x00")) {
			found = append(found, f)
		}
	}
	return found
}
