package main

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/paxiom/relay/fleet/internal/coordinator"
	"github.com/paxiom/relay/fleet/internal/job"
)

var update = flag.Bool("update", false, "record the histories of TestReplay")

// A run that asks continues with the answer on the worker that asked, and a loop's ticks are at the remote one by one.
func TestAnswersAndLoops(t *testing.T) {
	if *bin == "" {
		t.Skip("it needs the built programs: make fleet-test")
	}
	p := newPlace(t)
	p.serve()
	a, b := p.worker("a"), p.worker("b")

	id := p.ask("run", "--repo", p.remote, "--goal", "canary asks-me", "--key", "q")
	s := p.comes(id, "waiting")
	if s.Asks == nil || s.Asks.Prompt != "canary, which way?" || len(s.Asks.Choices) != 2 {
		t.Fatalf("%+v", s)
	}
	if text := string(p.relay("fleet", "status")); !strings.Contains(text, "canary, which way?\n    1. left\n    2. right\n    next: relay fleet answer "+id+" NUMBER\n") {
		t.Errorf("%s", text)
	}
	p.refused("1 to 2", "answer", id, "3")
	p.refused("asks nothing", "answer", "relay-run-none", "1")
	p.refused(`"kind": "relay.error",`, "answer", "--json", "relay-run-none", "1")
	behind := p.ask("loop", "--repo", p.remote, "--goal", "canary loop", "--mode", "task", "--max-ticks", "2", "--key", "l")
	if s := p.comes(behind, "queued"); s.Result != nil {
		t.Errorf("%+v", s)
	}
	asked, other := a, b
	if b.attempts() > 0 {
		asked, other = b, a
	}
	p.relay("fleet", "answer", id, "canary, left-handed")
	s = p.result(id)
	if s.Result == nil || s.Result.Code != "SUCCESS" || s.Result.Commit == "" || s.Result.Spend.Calls != 4 || s.Result.Spend.MicroUSD == 0 {
		t.Errorf("%+v %+v", s, s.Result)
	}
	if asked.attempts() != 2 || other.attempts() != 0 {
		t.Errorf("%d runs there, %d at the other", asked.attempts(), other.attempts())
	}
	p.refused("has ended", "answer", id, "1")

	s = p.result(behind)
	if s.Result == nil || s.Result.Code != "task_done" || s.Result.Ticks != 1 {
		why, _ := p.engine().store().Get(strings.TrimPrefix(s.Error, "blob "))
		t.Errorf("%+v %+v\n%s", s, s.Result, why)
	}
	p.landed(2)
	p.private()

	var cost struct{ Total job.Spend }
	if err := json.Unmarshal(p.relay("fleet", "cost", "--json"), &cost); err != nil || cost.Total != (job.Spend{Calls: 6, MicroUSD: 7500, Unknown: 3}) {
		t.Errorf("%+v %v", cost, err)
	}
	if *update {
		p.record("run-mirror", id)
		p.record("repository", job.Job{Repo: repository(p)}.RepositoryID())
	}
}

// Two workers that share no file but the blobs have one day: of runs that the caps of one machine would cover twice, no
// call is made beyond them.
func TestOneCap(t *testing.T) {
	if *bin == "" {
		t.Skip("it needs the built programs: make fleet-test")
	}
	p := newPlace(t)
	p.cap(5)
	p.serve()
	a, b := p.worker("a"), p.worker("b")
	var ids []string
	for _, ref := range []string{"main", "b1", "b2", "b3"} {
		ids = append(ids, p.ask("run", "--repo", p.remote, "--ref", ref, "--goal", "canary "+ref, "--key", ref))
	}
	p.until("what is left covers no run", func() bool {
		ended := 0
		for _, id := range ids {
			if s := p.look(id); s.Result != nil {
				ended++
			}
		}
		return ended == 2 && a.attempts()+b.attempts() > 5
	})
	if a.attempts() == 0 || b.attempts() == 0 {
		t.Errorf("%d and %d attempts", a.attempts(), b.attempts())
	}
	if n := a.calls() + b.calls(); n != 2 {
		t.Errorf("%d runs were planned", n)
	}
	if *update {
		p.record("documents", "relay-documents")
	}
	for _, id := range ids {
		_ = exec.Command(filepath.Join(*bin, "relay"), "fleet", "stop", id).Run()
	}
	p.private()
}

func repository(p *place) string {
	return job.New(job.Spec{Remote: p.remote, Ref: "main"}, "", "").Repo
}

// record keeps a history for TestReplay, without what names this machine.
func (p *place) record(name, id string) {
	p.t.Helper()
	p.t.Setenv("TEMPORAL_API_KEY", "")
	c, err := p.engine().dial(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	defer c.Close()
	h := &historypb.History{}
	for all := c.GetWorkflowHistory(p.t.Context(), id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); all.HasNext(); {
		e, err := all.Next()
		if err != nil {
			p.t.Fatal(err)
		}
		h.Events = append(h.Events, e)
	}
	raw, err := protojson.Marshal(h)
	if err != nil {
		p.t.Fatal(err)
	}
	raw = regexp.MustCompile(`([0-9]+@)?\b`+hostname(p.t)+`\b`).ReplaceAll(raw, []byte("host"))
	if err := os.WriteFile(filepath.Join("testdata", name+".json"), append(raw, '\n'), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func hostname(t *testing.T) string {
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	return regexp.QuoteMeta(name)
}

// The histories of runs that have begun are gone through by the workflows as they are now: what they can't be gone on
// with would stall every fleet that is updated while it works. A change that needs other commands goes behind
// workflow.GetVersion, and its history is recorded beside those that are there.
func TestReplay(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	r, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{DataConverter: job.Converter()})
	if err != nil {
		t.Fatal(err)
	}
	r.RegisterWorkflowWithOptions(job.Repository, workflow.RegisterOptions{Name: job.RepositoryType})
	r.RegisterWorkflowWithOptions(job.Run, workflow.RegisterOptions{Name: job.RunType})
	r.RegisterWorkflowWithOptions(coordinator.Documents, workflow.RegisterOptions{Name: coordinator.Type})
	for _, f := range files {
		if err := r.ReplayWorkflowHistoryFromJSONFile(nil, f); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
}
