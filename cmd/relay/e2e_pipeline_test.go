package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/paxiom/relay/host/pipelines"
)

// What a provider and a builder do for a task of a pipeline; one task shows all of them.
var (
	pipelineAsked = []string{"plan", "review", "criteria"}
	pipelineBuilt = []string{"code", "cleanup"}
)

// pipelineDocs are what a model answers in each role, by words of the prompt.
var pipelineDocs = map[string]string{
	"You plan for":   `{"approach":"add instead of taking away","steps":[{"do":"mend the sign","files":["add.sh"]}],"checks":[],"risks":[],"question":""}`,
	"You review for": `{"summary":"the one line of add.sh","findings":[FLAW]}`,
	"You check for": `{"criteria":[{"criterion":1,"verdict":"yes","why":"it is written there",
		"evidence":[{"kind":"file","file":"add.sh","line":1,"command":"","quote":"echo $(($1 + $2))"}]}]}`,
}

// pipelineLooks is how a planner that is asked through a vendor's program looks at the
// repository before it plans.
var pipelineLooks = map[string][]string{
	"claude": {`{"tool":{"name":"Read","input":{"file_path":"{{REPO}}/add.sh"}}}`, `{"tool":{"name":"Read","input":{"file_path":"{{REPO}}/draft.txt"}}}`},
	"codex":  {`{"tool":{"name":"exec_command","input":{"cmd":"cat add.sh draft.txt; echo x >left.txt"}}}`},
	"gemini": {`{"tool":{"name":"read_file","input":{"file_path":"add.sh"}}}`, `{"tool":{"name":"read_file","input":{"file_path":"draft.txt"}}}`},
}

// looked holds the planner to what it may see: files as they are committed, and nothing that
// the operator has begun.
func (b *bench) looked(t *testing.T, w way, draft string) {
	read := 0
	for _, r := range b.model.Requests() {
		if body := string(r.Body); strings.Contains(body, "You plan for") {
			read += strings.Count(body, "echo $(($1 - $2))")
			if strings.Contains(body, draft) {
				t.Error("the planner saw what the operator has not committed")
			}
		}
	}
	if (read > 0) != (w.program != nil) {
		t.Errorf("the planner read add.sh %d times", read)
	}
	if _, err := os.Stat(filepath.Join(b.repo, "left.txt")); err == nil {
		t.Error("the planner wrote")
	}
}

// slowStart: a program that takes seconds to start finds no flaw, which saves it another
// round of review.
func (w way) slowStart() bool { return w.vendor == "gemini" && w.program != nil }

const (
	flaw          = `{"severity":"minor","file":"add.sh","line":1,"claim":"it does not say what it does","evidence":"echo"}`
	codes, cleans = "You write code for", "You bring a task to its end"
	refuted       = `{"id":"F1","outcome":"refuted","why":"one line needs no words"}`
	cleaned       = `{"summary":"It adds.","memory":"add.sh adds","findings":[` + refuted + `],"notes":[]}`
)

// hands is the way in which the same vendor's program builds.
func (w way) hands() way {
	i := slices.IndexFunc(ways, func(v way) bool { return v.vendor == w.vendor && v.transport == w.transport && v.role == "build" })
	if i < 0 {
		return way{plugin: "external"} // an API has none
	}
	return ways[i]
}

// pipelineTurns are the answers of a model that does everything for a task.
func pipelineTurns(w way) string {
	var turns []string
	add := func(match, turn string) {
		turns = append(turns, strings.Replace(turn, "{", fmt.Sprintf(`{"match":%q,`, match), 1))
	}
	answer := w.answer
	if w.program == nil {
		answer = asText // an API is held to the schemas of a pipeline, and needs no tool for them
	}
	found := flaw
	if w.slowStart() {
		found = ""
	}
	if w.program != nil {
		for _, turn := range pipelineLooks[w.vendor] {
			add("You plan for", turn)
		}
	}
	for match, doc := range pipelineDocs {
		add(match, answer(strings.Replace(doc, "FLAW", found, 1)))
	}
	if h := w.hands(); h.program != nil {
		for _, turn := range h.work {
			add(codes, turn)
		}
		add(codes, h.answer(matrixDone))
		add(cleans, h.answer(cleaned))
	}
	return fmt.Sprintf(`{%q:[%s]}`, w.api, strings.Join(turns, ","))
}

// byHand is the builder where a way is an API only.
const byHand = `#!/bin/sh
if grep -q '"step":"cleanup"' "$RELAY_TASK_PATH"; then echo '` + cleaned + `' >"$RELAY_OUTPUT_PATH"
else echo 'echo $(($1 + $2))' >add.sh; echo '` + matrixDone + `' >"$RELAY_OUTPUT_PATH"; fi
`

// runPipeline has one vendor carry out a task of a pipeline: planned, reviewed and held to
// its criteria by its provider, coded and cleaned up by its program.
func runPipeline(t *testing.T, w way, seen *watcher, keep func(*testing.T, way, string)) {
	h := w.hands()
	defer func() {
		for _, w.role = range pipelineAsked {
			keep(t, w, "good")
		}
		for _, h.role = range pipelineBuilt {
			if h.program != nil {
				keep(t, h, "good")
			}
		}
	}()
	b := furnish(t, w, matrixCases[0], pipelineTurns(w), map[string]string{"hands.sh": byHand,
		"prd.json": `{"tasks":[{"id":"mend","title":"Make add.sh add","status":"pending","acceptance_criteria":["add.sh prints the sum"],
		"validation":{"command":["sh","-c","test $(sh ./add.sh 2 3) = 5"]}}]}`})
	b.enlist(t, w, h)
	const draft = "half of a sentence"
	writeFile(t, filepath.Join(b.repo, "draft.txt"), draft) // the operator works on
	var res pipelines.RunResult
	if out := b.must(t, "pipeline", "run", "--json"); json.Unmarshal(out, &res) != nil || res.Counts["completed"] != 1 || len(res.Tasks) != 1 {
		t.Fatalf("%s", out)
	}
	task, did := res.Tasks[0], map[string]string{}
	for _, c := range task.Calls {
		did[c.Role] = c.Provider
	}
	want := map[string]string{"plan": w.plugin, "review": w.plugin, "criteria": w.plugin, "code": h.plugin, "cleanup": h.plugin}
	for role, who := range want {
		if did[role] != who {
			t.Errorf("the %s was done by %q", role, did[role])
		}
	}
	if dealt := len(task.Findings) == 1 && task.Findings[0].Outcome == "refuted"; dealt == w.slowStart() {
		t.Errorf("findings: %+v", task.Findings)
	}
	if len(did) != len(want) || task.Criteria[0].Verdict.Verdict != "yes" || len(task.Sessions) != 2 {
		t.Errorf("%+v", task)
	}
	b.looked(t, w, draft)
	if text := e2eGit(t, b.repo, "show", "HEAD:add.sh"); !strings.Contains(text, "+ $2") {
		t.Errorf("the branch has %q", text)
	}
	b.noCanary(t)
	seen.hold(t, b)
}

// enlist gives a pipeline's roles to a way and its hands.
func (b *bench) enlist(t *testing.T, w, h way) {
	t.Helper()
	path := filepath.Join(b.repo, "relay.config.json")
	var c map[string]any
	if err := json.Unmarshal([]byte(e2eGit(t, b.repo, "show", "HEAD:relay.config.json")), &c); err != nil {
		t.Fatal(err)
	}
	role := map[string]any{"provider": w.plugin, "model": w.model, "fallback": []string{}}
	builder := map[string]any{"builder": h.plugin, "model": h.model, "fallback": []string{}}
	c["pipeline"] = map[string]any{"plan": role, "review": role, "criteria": role, "code": builder, "cleanup": builder}
	if h.program == nil {
		c["builder"].(map[string]any)["external"] = map[string]any{"command": "sh", "args": []string{"hands.sh"}}
	} else {
		block := map[string]any{}
		if err := json.Unmarshal([]byte("{"+h.settings(t, b.model.URL())+"}"), &block); err != nil {
			t.Fatal(err)
		}
		block["keys"] = map[string]string{h.keyVar: "file:~/key"}
		c["plugins"].(map[string]any)[h.plugin] = block
	}
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, string(text))
	e2eGit(t, b.repo, "commit", "-qam", "a pipeline")
	b.must(t, "trust", "--yes")
}
