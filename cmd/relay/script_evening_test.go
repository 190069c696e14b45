package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdEvening makes $WORK/repo of a repository that is not ours, and gives the script a planner
// and an agent by the person's own configuration and the environment, so that the repository's is what init or the seed wrote:
//
//	evening FOLDER|module:PATH ANSWER...
//
// A module of Go is one that relay itself needs, as the module cache has it; no code of others is kept here.
// The answers are those of tick, laid over the script's own default-task.json; one that has no file is a task of that name. The agent is the
// script's agent.sh, which finds the task's id in $task.
func cmdEvening(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: evening FOLDER|module:PATH ANSWER...")
	}
	work, repo := ts.Getenv("WORK"), ts.MkAbs("repo")
	from := args[0]
	if module, ok := strings.CutPrefix(from, "module:"); ok {
		out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
		ts.Check(err)
		from = strings.TrimSpace(string(out))
	}
	ts.Check(os.CopyFS(repo, os.DirFS(ts.MkAbs(from))))
	// The module cache's files are read-only.
	ts.Check(filepath.WalkDir(repo, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.Chmod(path, info.Mode().Perm()|0o200)
	}))
	for _, answer := range args[1:] {
		if _, err := os.Stat(ts.MkAbs(answer)); os.IsNotExist(err) {
			name := strings.TrimSuffix(answer, ".json")
			ts.Check(os.WriteFile(ts.MkAbs(answer), fmt.Appendf(nil, `{"task_id": %q, "intent": %q}`, name, name), 0o644))
		}
	}
	ts.Check(os.WriteFile(filepath.Join(work, "plan.json"), plan(ts, work, args[1:]), 0o644))
	agent := "task=$(sed -n 's/.*\"task_id\": *\"\\([^\"]*\\)\".*/\\1/p' \"$RELAY_TASK_PATH\" | head -1)\n" + ts.ReadFile("agent.sh") +
		"\nprintf '{\"summary\": \"%s\", \"files_intended\": [], \"commands_ran\": [], \"notes\": []}' \"$task\" >\"$RELAY_OUTPUT_PATH\"\n"
	ts.Check(os.WriteFile(filepath.Join(work, "agent"), []byte("#!/bin/sh\nset -e\n"+agent), 0o755))
	// rustup's cargo looks for its toolchains in the home, which is the script's own.
	for name, dir := range map[string]string{"RUSTUP_HOME": ".rustup", "CARGO_HOME": ".cargo"} {
		if home, err := os.UserHomeDir(); err == nil && os.Getenv(name) == "" {
			ts.Setenv(name, filepath.Join(home, dir))
		}
	}
	own := filepath.Join(ts.Getenv("HOME"), ".config", "relay")
	ts.Check(os.MkdirAll(own, 0o755))
	replay := fmt.Sprintf(`{"plugins": {"replay": {"script": %q, "remember": true}}}`, filepath.Join(work, "plan.json"))
	ts.Check(os.WriteFile(filepath.Join(own, "config.json"), []byte(replay), 0o644))
	ts.Setenv("RELAY_ORCHESTRATOR_PROVIDER", "replay")
	ts.Setenv("RELAY_BUILDER_DEFAULT_MODE", "external")
	ts.Setenv("RELAY_BUILDER_EXTERNAL_COMMAND", filepath.Join(work, "agent"))
	for _, line := range []string{"git init -q .", "git add -A", "git commit -q -m base"} {
		runIn(ts, repo, strings.Fields(line)...)
	}
}
