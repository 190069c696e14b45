package runner

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/paxiom/relay/fleet/internal/job"
)

// spec is what a run is about.
func (w *Worker) spec(digest string) (s job.Spec, err error) {
	raw, err := w.Blobs.Get(digest)
	if err == nil {
		err = json.Unmarshal(raw, &s)
	}
	return s, err
}

// ready are the tasks of a pipeline that can be made now, as relay says, and how far it came.
func (w *Worker) ready(ctx context.Context, dir string, s job.Spec, st job.Step) (res job.Result, err error) {
	no, out, code, err := w.relay(ctx, dir, nil, "pipeline", "status", "--json")
	if err != nil {
		return res, err
	}
	var doc struct {
		Ready  []string          `json:"ready"`
		Counts map[string]int    `json:"counts"`
		Held   map[string]string `json:"held"`
	}
	if json.Unmarshal(out, &doc) != nil || doc.Counts == nil {
		return res, fmt.Errorf("relay ended with exit code %d: %s", code, no.said(out))
	}
	res.Code, res.Most = "done", job.MaxTasks
	if s.Parallel > 0 {
		res.Most = min(s.Parallel, job.MaxTasks)
	}
	if doc.Counts["failed"]+len(doc.Held) > 0 {
		res.Code, res.ExitCode = "task_failed", 2
	}
	for _, id := range doc.Ready {
		if s.Only != "" && s.Only != id || len(res.Tasks) == job.MaxTasks {
			continue
		}
		t := job.Spec{Kind: job.KindTask, Remote: s.Remote, Ref: s.Ref, Label: s.Label, Only: id, Key: s.Key + "." + id}
		if len(t.Key) > maxKey {
			t.Key = s.Key + "." + job.Digest([]byte(id))[:16]
		}
		raw, err := json.Marshal(t)
		if err != nil {
			return res, err
		}
		digest, err := w.Blobs.Put(raw)
		if err != nil {
			return res, err
		}
		res.Tasks = append(res.Tasks, job.New(t, digest, st.Queue))
	}
	res.Report, err = w.Blobs.Put(out)
	return res, err
}

// maxKey is the longest key that relay takes.
const maxKey = 100
