package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// answerName is ROLE.N.md, where N orders the answers of a role; below answers/ or, for
// one service alone, below answers/SERVICE/.
var answerName = regexp.MustCompile(`^([a-z_]+)\.(\d+)\.(md|json)$`)

// cmdCycle makes $WORK/repo ready for audit cycles: the fixture's files, the script's
// own over them, a script for the provider replay made of answers/, one commit and the
// person's trust. *.md is an answer's text, *.json a whole call of the script.
func cmdCycle(ts *testscript.TestScript, neg bool, args []string) {
	repo := ts.MkAbs("repo")
	ts.Check(copyMissing(ts.Getenv("FIXTURE"), repo))
	for _, name := range []string{"default-task.json"} {
		ts.Check(os.RemoveAll(filepath.Join(repo, name)))
	}
	config := map[string]any{"version": "1.0", "orchestrator": map[string]any{"provider": "replay"}, "builder": map[string]any{"default_mode": "patch"},
		"plugins": map[string]any{"replay": map[string]any{"script": ts.MkAbs("answers.json"), "remember": true}}}
	b, err := json.Marshal(config)
	ts.Check(err)
	path := filepath.Join(repo, "relay.config.json")
	ts.Check(os.WriteFile(path, b, 0o644))
	if _, err := os.Stat(ts.MkAbs("config.json")); err == nil {
		ts.Check(os.WriteFile(path, merged(ts, path, ts.MkAbs("config.json")), 0o644))
	}
	writeAnswers(ts)
	for _, line := range []string{"git init -q .", "git add -A", "git commit -q -m base", "relay trust --yes --quiet"} {
		runIn(ts, repo, strings.Fields(line)...)
	}
	services, err := filepath.Glob(filepath.Join(repo, "config/services/*"))
	ts.Check(err)
	for _, s := range services {
		runIn(ts, repo, "relay", "trust", "--yes", "--quiet", strings.TrimSuffix(filepath.Base(s), filepath.Ext(s)))
	}
}

// writeAnswers makes answers.json of the files in answers/.
func writeAnswers(ts *testscript.TestScript) {
	var files []string
	for _, pattern := range []string{"answers/*", "answers/*/*"} {
		found, err := filepath.Glob(ts.MkAbs(pattern))
		ts.Check(err)
		files = append(files, found...)
	}
	sort.Slice(files, func(i, j int) bool { // those of one service before those of all
		if a, b := strings.Count(files[i], "/"), strings.Count(files[j], "/"); a != b {
			return a > b
		}
		return files[i] < files[j]
	})
	calls := []map[string]any{}
	for _, f := range files {
		m := answerName.FindStringSubmatch(filepath.Base(f))
		if m == nil {
			continue
		}
		b, err := os.ReadFile(f)
		ts.Check(err)
		c := map[string]any{"name": m[0], "usage": map[string]int{"input_tokens": 1000, "output_tokens": 100, "cost_microusd": 2500}, "answer": map[string]any{"text": string(b), "model": "model-" + m[1]}}
		if m[3] == "json" {
			c = map[string]any{}
			ts.Check(json.Unmarshal(b, &c))
		}
		when, _ := c["when"].(map[string]any) // a call's own
		if when == nil {
			when = map[string]any{}
		}
		when["role"] = m[1]
		if service := filepath.Base(filepath.Dir(f)); service != "answers" {
			when["prompt"] = "service \"" + regexp.QuoteMeta(service)
		}
		c["when"] = when
		calls = append(calls, c)
	}
	b, err := json.MarshalIndent(map[string]any{"version": 1, "calls": calls}, "", " ")
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs("answers.json"), b, 0o644))
}
