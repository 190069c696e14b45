package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/host"
)

// agentShell is what each agent's shell is told to do in the box: look, edit, commit, and
// try the ways out. What came of it goes into add.sh.
const agentShell = `git status --porcelain && echo 'echo $(($1 + $2))' > add.sh && { ` +
	`touch /etc/relay-e2e 2>/dev/null || echo '# read-only'; ` +
	`curl -sS -m 5 https://evil.example/ 2>&1 | grep -q 'response 403' && echo '# refused'; ` +
	`curl -sS -m 5 --noproxy '*' https://192.0.2.1/ >/dev/null 2>&1 || echo '# no way around'; ` +
	`git config user.name >/dev/null && echo '# configured'; } >> add.sh; ` +
	`git add -A && git commit -qm 'the agent commits' && git status --porcelain && git log --oneline | wc -l`

// The agents work in a box whose network has only their model: their shell uses git as
// outside, and reaches nothing else. Their own settings and logins would be bound in by
// box.persist_dirs; here that is shown by a file that stays.
func TestE2EAgentsInAClosedBox(t *testing.T) {
	shells := map[string]string{
		"claude-code": `{"tool":{"name":"Bash","input":{"command":%q,"description":"work"}}}`,
		"codex-exec":  `{"tool":{"name":"exec_command","input":{"cmd":%q}}}`,
		"gemini-cli":  `{"tool":{"name":"run_shell_command","input":{"command":%q,"description":"work"}}}`,
	}
	for _, w := range ways {
		if shells[w.plugin] == "" {
			continue
		}
		t.Run(w.plugin, func(t *testing.T) {
			t.Parallel()
			w.work = []string{fmt.Sprintf(shells[w.plugin], agentShell+`; echo stays > ~/.agent/login`)}
			b := newBench(t, w, matrixCase{name: "closed box", goesOn: true})
			login := filepath.Join(b.home, ".agent", "login")
			writeFile(t, login, "before\n")
			writeFile(t, filepath.Join(b.home, ".config", "relay", "config.json"), fmt.Sprintf(
				`{"box":{"persist_dirs":["~/.agent"],"network":{"builder":"hosts","hosts":[%q]}}}`, strings.TrimPrefix(b.model.URL(), "http://")))
			cmd := exec.Command(filepath.Join(binDir, "relay"), "run", "--json", "--task", filepath.Join(b.home, "task.json"))
			cmd.Dir, cmd.Env = b.repo, b.env
			out, err := cmd.Output()
			var res host.RunResult
			if jerr := json.Unmarshal(out, &res); jerr != nil || res.Report == nil || res.Report.Code != "SUCCESS" {
				t.Fatalf("%v %v\n%s", err, jerr, out)
			}
			text, _ := os.ReadFile(filepath.Join(b.repo, "add.sh"))
			wanted := []string{"echo $(($1 + $2))", "# read-only", "# no way around", "# configured"}
			asks := w.vendor != "codex" // which keeps its proxy to itself: its shell has no way out at all
			if asks {
				wanted = append(wanted, "# refused")
			}
			for _, want := range wanted {
				if !strings.Contains(string(text), want) {
					t.Errorf("%q is missing in\n%s", want, text)
				}
			}
			if notes := strings.Join(res.Report.Notes, "\n"); !strings.Contains(notes, "own commits") {
				t.Errorf("the agent's commit was not seen: %q", notes)
			}
			if got, _ := os.ReadFile(login); string(got) != "stays\n" {
				t.Errorf("what the agent keeps is %q", got)
			}
			if n := res.Report.Box.Network; len(n) != 2 || n[0].Mode != "hosts" || n[1].Mode != "none" || asks && !strings.Contains(fmt.Sprint(n[0].Refused), "{evil.example:443 ") {
				t.Errorf("network: %+v", n)
			} else {
				for _, r := range n[0].Refused {
					t.Logf("%s was refused %s %d times: %s", w.plugin, r.Target, r.Count, r.Why)
				}
			}
			b.noCanary(t, out)
		})
	}
}
