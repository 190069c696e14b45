package runner

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/paxiom/relay/fleet/internal/job"
)

// The tasks that relay says are ready are asked for by names that tell nothing, as many as the pipeline may make; a made one
// leaves no checkout, and one of which there is no result does.
func TestTasks(t *testing.T) {
	w, s := newWorker(t, `case "$*" in
"pipeline status --json") [ -e ../failed ] || n=0; echo '{"counts": {"pending": 3, "failed": '${n-1}'}, "ready": ["canary-a", "canary-b"], "held": {}}' ;;
*canary-a*) echo '{"reason": "done", "tasks": [{"code": "STOP_X"}], "left": {"object": "abc"}}'; exit 2 ;;
*canary-b*) echo '{"reason": "limit", "tasks": []}'; exit 2 ;;
esac`)
	s.Kind, s.Parallel = job.KindPipeline, 2
	st := w.step(t, s)
	st.Do = job.Look
	seen, err := execute(w, st)
	if err != nil || seen.Code != "done" || seen.ExitCode != 0 || seen.Most != 2 || len(seen.Tasks) != 2 {
		t.Fatal(seen, err)
	}
	if raw, err := json.Marshal(seen.Tasks); err != nil || bytes.Contains(raw, []byte("canary")) || len(raw) > job.MaxPayload/job.MaxTasks*2 {
		t.Errorf("%s %v", raw, err)
	}
	for i, want := range []job.Result{{Code: "STOP_X", Commit: "abc"}, {Code: "limit"}} {
		res, err := execute(w, job.Step{Job: seen.Tasks[i]})
		if err != nil || res.Code != want.Code || res.Commit != want.Commit || res.ExitCode != 2 {
			t.Error(res, err)
		}
	}
	if all, _ := filepath.Glob(filepath.Join(w.Dir, "*")); len(all) != 2 {
		t.Errorf("%q", all)
	}
	if err := os.WriteFile(filepath.Join(w.Dir, "failed"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if seen, err := execute(w, st); err != nil || seen.Code != "task_failed" || seen.ExitCode != 2 {
		t.Error(seen, err)
	}
}
