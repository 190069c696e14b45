package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/testdata/e2e"
)

// keyHunt is what each agent's shell does to find the key that pays for it: it looks at
// its environment, at every process, at the file in which the key is and at the vendors'
// logins, at whatever there is in the home and beside the repository, and asks the broker
// for it. What it looks for is put together only when it has looked, so that it does not
// find itself.
const keyHunt = `hunt() { env; cat /proc/*/environ /proc/*/cmdline ~/key ~/.codex/auth.json ~/.claude/.credentials.json ~/.gemini/oauth_creds.json; ` +
	`find ~ "$(dirname "$PWD")" /run -xdev -type f -size -2000k -not -name hunt.out -exec cat {} +; ` +
	`for at in $(cat /proc/*/environ | tr '\0' '\n' | grep -ao 'http://127[^ ]*' | sort -u); do ` +
	`curl -sSi -m 5 "$at/v1/models" -H "x-api-key: $ANTHROPIC_API_KEY" -H "x-goog-api-key: $GEMINI_API_KEY"; curl -sSi -m 5 "$at/"; done; }; ` +
	`hunt >hunt.out 2>/dev/null; found=$(tr '\0' '\n' <hunt.out | grep -ac "sk-canary-$(cat ~/half)"); lent=$(tr '\0' '\n' <hunt.out | grep -ac relay-); rm hunt.out; ` +
	`{ echo 'echo $(($1 + $2))'; echo "# found $found"; [ "$lent" = 0 ] || echo '# lent'; } > add.sh`

// With a broker no agent finds its key, and its vendor gets it all the same: with each
// vendor's real program, in a box with the user's network and in one without any.
func TestE2EBroker(t *testing.T) {
	if testing.Short() && os.Getenv(matrixVariable) == "" {
		t.Skip("-short: `make test-e2e` tries all ways")
	}
	shells := map[string]string{
		"claude-code": `{"tool":{"name":"Bash","input":{"command":%q,"description":"work"}}}`,
		"codex-exec":  `{"tool":{"name":"exec_command","input":{"cmd":%q}}}`,
		"gemini-cli":  `{"tool":{"name":"run_shell_command","input":{"command":%q,"description":"work"}}}`,
	}
	for _, w := range ways {
		for _, network := range []string{"full", "none"} {
			t.Run(w.String()+"/"+network, func(t *testing.T) {
				t.Parallel()
				w := w
				if shell := shells[w.plugin]; shell != "" {
					w.work = []string{fmt.Sprintf(shell, "sh ~/hunt.sh")} // Gemini CLI itself refuses a command with $() in it
				}
				askThroughBroker(t, w, network)
			})
		}
	}
}

// worthless is how a lent key looks.
var worthless = regexp.MustCompile(`relay-[A-Z2-7]{40,}`)

func askThroughBroker(t *testing.T, w way, network string) {
	b := newBench(t, w, matrixCase{name: "broker", goesOn: true})
	for _, login := range []string{".codex/auth.json", ".claude/.credentials.json", ".gemini/oauth_creds.json"} {
		writeFile(t, filepath.Join(b.home, login), b.canary)
	}
	writeFile(t, filepath.Join(b.home, "hunt.sh"), keyHunt)
	writeFile(t, filepath.Join(b.home, "half"), strings.TrimPrefix(b.canary, "sk-canary-"))
	writeFile(t, filepath.Join(b.home, ".config", "relay", "config.json"), fmt.Sprintf(
		`{"box":{"network":{"builder":%[1]q,"provider":%[1]q}},"plugins":{%[2]q:{"secret":"broker"}}}`, network, w.plugin))
	args := []string{"run", "--json", "--goal", "make it add"}
	if w.role == "build" {
		args = []string{"run", "--json", "--task", filepath.Join(b.home, "task.json")}
	}
	cmd := exec.Command(filepath.Join(binDir, "relay"), args...)
	cmd.Dir, cmd.Env = b.repo, b.env
	out, err := cmd.Output()
	var res host.RunResult
	if jerr := json.Unmarshal(out, &res); jerr != nil || res.Report == nil || res.Report.Code != "SUCCESS" {
		t.Fatalf("%v %v\n%s", err, jerr, out)
	}
	text, _ := os.ReadFile(filepath.Join(b.repo, "add.sh"))
	if strings.Contains(strings.Join(w.work, ""), "hunt.sh") {
		if !strings.Contains(string(text), "# found 0\n") {
			t.Errorf("the agent found its key:\n%s", text)
		}
		if !strings.Contains(string(text), "# lent\n") {
			t.Errorf("the agent did not find what it was lent: it can't have looked well:\n%s", text)
		}
	}
	asked := e2e.Requests(t, b.model, 1)
	for _, r := range asked {
		if strings.HasPrefix(r.Headers.Get("User-Agent"), "curl/") {
			continue // the hunt itself, which tries whatever addresses it finds
		}
		var all strings.Builder
		r.Headers.Write(&all)
		if r.Method == "POST" && !strings.Contains(all.String(), b.canary) || worthless.MatchString(all.String()+r.Query) {
			t.Errorf("the vendor was asked %s %s with\n%s", r.Method, r.Path, &all)
		}
	}
	b.noCanary(t, out)
}
