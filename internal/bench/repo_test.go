package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// sample is one repository with a configuration whose model and builder cost no time.
type sample struct {
	b    *bench
	dir  string
	home string
}

// newSample makes a repository of that many files. script is what the builder does.
func (b *bench) newSample(name string, files int, script string) (*sample, error) {
	s := &sample{b: b, dir: filepath.Join(b.dir, name), home: filepath.Join(b.dir, "home-"+name)}
	if err := errors.Join(os.MkdirAll(filepath.Join(s.dir, "src"), 0o755), os.MkdirAll(s.home, 0o755)); err != nil {
		return nil, err
	}
	for path, text := range map[string]string{
		"relay.config.json": strings.ReplaceAll(sampleConfig, "@DIR@", s.dir),
		"plan.json":         samplePlan,
		"driver.sh":         driver(script),
		"src/a.txt":         "0\n",
	} {
		if err := os.WriteFile(filepath.Join(s.dir, path), []byte(text), 0o755); err != nil {
			return nil, err
		}
	}
	for i := range files {
		dir := filepath.Join(s.dir, "lib", fmt.Sprintf("d%03d", i/100))
		if i%100 == 0 {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return nil, err
			}
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%06d.txt", i)), fmt.Appendf(nil, "file %d\n", i), 0o644); err != nil {
			return nil, err
		}
	}
	for _, args := range []string{"git init -q -b main", "git config user.name bench", "git config user.email bench@example.org",
		"git config gc.auto 0", "git add -A", "git commit -q -m base", b.relay + " trust --yes --quiet"} {
		argv := strings.Fields(args)
		if _, err := s.exec(argv...); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// driver is a builder's program that does what script says.
func driver(script string) string {
	return "#!/bin/sh\n" + script + "\nprintf '%s' '{\"summary\":\"done\",\"files_intended\":[],\"commands_ran\":[],\"notes\":[]}' > \"$RELAY_OUTPUT_PATH\"\n"
}

const sampleConfig = `{
  "version": "1.0",
  "orchestrator": {"provider": "replay"},
  "builder": {"default_mode": "external", "external": {"command": "./driver.sh", "args": [], "timeout_seconds": 120, "output_file": "BUILDER_RESULT.json"}},
  "plugins": {"replay": {"script": "@DIR@/plan.json"}},
  "verification": {"templates": [{"id": "pass", "cmd": "true", "args": []}]}
}
`

const samplePlan = `{"version": 1, "calls": [{"times": -1, "usage": {"input_tokens": 1, "output_tokens": 1, "cost_microusd": 1}, "answer": {"output": {
  "task_id": "T1", "milestone_id": "M1", "task_kind": "execute", "intent": "Change a line",
  "scope": {"allowed_globs": ["src/**"], "forbidden_globs": [], "allow_new_files": false, "allow_lockfile_changes": false},
  "diff_limits": {"max_files_touched": 5, "max_lines_changed": 100},
  "verification": {"fast": ["pass"], "slow": []},
  "builder": {"mode": "external", "max_turns": 1, "instructions": "Change src/a.txt."}}}}]}
`

func (s *sample) command(argv ...string) *exec.Cmd {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "HOME="+s.home, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "XDG_CACHE_HOME=", "XDG_DATA_HOME=", "GIT_CONFIG_NOSYSTEM=1", "CI=1")
	return cmd
}

// exec runs a command that must succeed and gives its output.
func (s *sample) exec(argv ...string) ([]byte, error) {
	var stderr bytes.Buffer
	cmd := s.command(argv...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s%s", strings.Join(argv, " "), err, out, stderr.Bytes())
	}
	return out, nil
}

// timed runs a command and gives how long it took.
func (s *sample) timed(argv ...string) (time.Duration, error) {
	start := time.Now()
	_, err := s.exec(argv...)
	return time.Since(start), err
}

// tick is one run of relay, with its own account of the states.
type tick struct {
	wall   time.Duration
	states map[string]time.Duration
}

func (s *sample) tick() (tick, error) {
	start := time.Now()
	out, err := s.exec(s.b.relay, "run", "--json")
	t := tick{wall: time.Since(start), states: map[string]time.Duration{}}
	if err != nil {
		return t, err
	}
	var doc struct {
		Report struct {
			Code   string `json:"code"`
			States []struct {
				State string `json:"state"`
				MS    int64  `json:"ms"`
			} `json:"states"`
		} `json:"report"`
	}
	if err := json.Unmarshal(out, &doc); err != nil {
		return t, err
	}
	if doc.Report.Code != "SUCCESS" {
		return t, fmt.Errorf("a tick ended with %s", doc.Report.Code)
	}
	for _, st := range doc.Report.States {
		t.states[st.State] += time.Duration(st.MS) * time.Millisecond
	}
	return t, nil
}
