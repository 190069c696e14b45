package pipeline

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/paxiom/relay/host/pipeline/memory"
	"github.com/paxiom/relay/host/pipeline/prd"
	"github.com/paxiom/relay/judge"
)

func plan(files ...string) map[string]any {
	return map[string]any{"approach": "write it", "steps": []any{map[string]any{"do": "write", "files": files}}, "checks": []any{}, "risks": []any{}, "question": ""}
}

func review(findings ...any) map[string]any {
	if findings == nil {
		findings = []any{}
	}
	return map[string]any{"summary": "looked at all of it", "findings": findings}
}

func met(file string, line int, quote string) map[string]any {
	return map[string]any{"criteria": []any{map[string]any{"criterion": 1, "verdict": "yes", "why": "it is there",
		"evidence": []any{map[string]any{"kind": "file", "file": file, "line": line, "command": "", "quote": quote}}}}}
}

// simple is a task whose builder writes a word into a file of its own and commits twice.
func (w *world) simple(id string) {
	w.answers(rolePlan, "Title of "+id, plan("src/"+id+".txt"))
	w.answers(roleReview, "Title of "+id, review())
	w.answers(roleCriteria, "Title of "+id, met("src/"+id+".txt", 1, "word "+id))
	w.act(id+"-code", "echo word "+id+" >src/"+id+".txt\n")
	w.act(id+"-cleanup", "git add -A && git commit -qm 'feat: add "+id+"' && echo more >>src/"+id+".txt && git commit -qam 'feat: complete Title of "+id+"'\n")
}

func task(id string, on ...string) prd.Task {
	return prd.Task{ID: id, Title: "Title of " + id, DependsOn: on, AcceptanceCriteria: []string{"src/" + id + ".txt has the word"},
		Validation: prd.Validation{Command: []string{"grep", "-q", "word", "src/" + id + ".txt"}}}
}

func TestTasksAreCarriedOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, task("b", "a"), task("a"))
	w.simple("a")
	w.simple("b")
	out, err := Run(t.Context(), w.env(), Options{})
	must(t, err)
	for _, tr := range out.Tasks {
		t.Logf("%s %s %s %s: %v", tr.TaskID, tr.Code, tr.Summary, tr.Why, tr.Notes)
	}
	if out.Reason != NothingLeft || len(out.Tasks) != 2 || out.Tasks[0].TaskID != "a" {
		t.Fatalf("%+v", out)
	}
	for _, id := range []string{"a", "b"} {
		tr := w.trail(id)
		if w.status(id) != "completed" || tr.Code != judge.Success || len(tr.Commits) != 2 || len(tr.Sessions) != 2 || len(tr.Criteria) != 1 || len(tr.Calls) != 5 {
			t.Errorf("%s is %s: %+v", id, w.status(id), tr)
		}
		if got := w.Read("src/" + id + ".txt"); got != "word "+id+"\nmore\n" {
			t.Errorf("%s: %q", id, got)
		}
	}
	log := w.Git("log", "--reverse", "--format=%s")
	if log != "base\nfeat: add a\nfeat: complete Title of a\nchore: a completed\nfeat: add b\nfeat: complete Title of b\nchore: b completed" {
		t.Errorf("the history is\n%s", log)
	}
	if s := w.Git("status", "--porcelain"); s != "" {
		t.Errorf("left over: %s", s)
	}
	if c, err := memory.Read(w.env().WS.Dir() + "/pipeline/context.json"); err != nil || len(c.Tasks) != 2 || c.Summary != "knows b" {
		t.Errorf("memory: %+v, %v", c, err)
	}
	if !strings.Contains(w.Git("ls-files"), ".relay/pipeline/context.json") {
		t.Error("the memory is not committed")
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	must(t, err)
	return string(b)
}
