package main

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/fleet/internal/job"
)

// The report puts what waits first, adds up what runs have cost, and says of each what it was about, without a URL's password.
func TestSummed(t *testing.T) {
	e := &engine{blobs: t.TempDir()}
	if err := e.open(); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(job.Spec{Kind: "run", Remote: "https://me:canary@example.org/parser.git", Ref: "main", Key: "k1", Goal: "g"})
	if err != nil {
		t.Fatal(err)
	}
	digest, err := e.store().Put(raw)
	if err != nil {
		t.Fatal(err)
	}
	if e.about(strings.Repeat("0", 64)) != nil {
		t.Error("a blob that is not here tells something")
	}
	spent := func(code string, exit int) *job.Result {
		return &job.Result{Code: code, ExitCode: exit, Spend: job.Spend{Calls: 1, MicroUSD: 5000}}
	}
	s := sum([]seen{
		{ID: "a", State: "completed", Result: spent("SUCCESS", 0), About: e.about(digest)},
		{ID: "b", State: "completed", Result: spent("STOP_SCOPE", 2)},
		{ID: "c", State: job.Waiting, Ask: &job.Ask{Choices: 2}, Asks: &job.Question{Prompt: "which\x1b[2J?", Choices: []string{"up", "down"}}},
		{ID: "d", State: "failed", Error: "blob x"},
		{ID: "e", State: job.Queued},
		{ID: "f", State: "canceled"},
		{ID: "g", State: job.Running, Attempt: 3},
		{ID: "h", State: job.Queued, Version: "v1", Stuck: true},
		{ID: "i", State: job.Running, Worker: "host", Mirror: job.Busy},
		{ID: "j", State: job.Running, About: &about{Label: "gpu"}},
		{ID: "k", State: job.Running, Next: time.Now().Add(90 * time.Minute)},
	})
	text := s.String()
	at := -1
	for _, part := range []string{"waits for you: 2", "  c  waiting", "which\uFFFD[2J?", "next: relay fleet answer c NUMBER", "  h  queued  waits for version v1, which no worker has", "failed: no result: 2", "  d  failed", "relay fleet report d", "  f  canceled",
		"stopped: 1", "  b  STOP_SCOPE", "done: 1", "  a  SUCCESS  run https://example.org/parser.git main  k1", "under way: 5", "  e  queued", "  g  running, attempt 3; `relay fleet report g` says why  waits for a free worker", "  i  running  on host, which cloned it: the worker that has it was busy", "waits for a free worker with the label gpu", "  k  running  again in 1h", "2 calls, $0.0100"} {
		i := strings.Index(text, part)
		if i <= at {
			t.Fatalf("%q is missing, or not in order:\n%s", part, text)
		}
		at = i
	}
	if strings.Contains(text, "canary") {
		t.Error(text)
	}
}

func TestFit(t *testing.T) {
	if got := fit("one\ntwo\nthree\nfour\n", 4, 3); got != "one\ntwo\nand " {
		t.Errorf("%q", got)
	}
	if got := fit("one\ntwo\n", 80, 24); got != "one\ntwo" {
		t.Errorf("%q", got)
	}
}

func TestParseAge(t *testing.T) {
	for text, want := range map[string]time.Duration{"12h": 12 * time.Hour, "7d": 7 * 24 * time.Hour, "": 0, "-1h": 0, "0d": 0, "soon": 0} {
		if got, err := parseAge(text); got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %v %v", text, got, err)
		}
	}
}

// A report is read by people: not the document, and nothing that would move a terminal.
func TestTold(t *testing.T) {
	for raw, want := range map[string]string{
		"git fetch: \x1b[2Jno": "git fetch: \uFFFD[2Jno\n",
		`{"kind": "relay.run", "report": {"code": "SUCCESS", "summary": "committed", "task": {"intent": "Change a line"}, "commit": "0123456789abcdef"}}`:          "SUCCESS  Change a line  committed  0123456789ab\n",
		`{"kind": "relay.loop", "reason": "task_done", "ticks": [{"code": "SUCCESS", "intent": "One"}, {"code": "STOP_SCOPE"}], "report": {"code": "STOP_SCOPE"}}`: "task_done  \n  SUCCESS  One\n  STOP_SCOPE\n",
		`{"kind": "relay.pipeline.status", "counts": {"failed": 1, "done": 2}, "held": {"d": "b"}}`:                                                                "tasks: done 2, failed 1\n  d waits for b, which failed\n",
		`{"kind": "relay.cycle", "cycle": {"state": "DONE", "branch": "audit/a"}}`:                                                                                 "cycle  DONE  audit/a\n",
	} {
		text, _, _ := strings.Cut(told("x", []byte(raw)), "next: relay fleet report x --json")
		if text != want {
			t.Errorf("%s:\n%q, want %q", raw, text, want)
		}
	}
}

// What can't be made is refused before anything is sent, and a folder is named so that a worker finds it.
func TestCheck(t *testing.T) {
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	if err = errors.Join(err, os.Mkdir("parser", 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, remote := range []string{"parser", "https://example.org/p.git", "git@example.org:p.git", "file:///srv/p.git", here + "/parser"} {
		s := job.Spec{Kind: job.KindRun, Remote: remote, Ref: "main", Goal: "g"}
		if err := check(&s, &asked{}); err != nil || remote == "parser" && s.Remote != here+"/parser" || remote != "parser" && s.Remote != remote {
			t.Error(s.Remote, err)
		}
	}
	if err := errors.Join(os.MkdirAll("parser/.git", 0o700), os.WriteFile("parser/.git/HEAD", []byte("ref: refs/heads/main\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for part, s := range map[string]job.Spec{
		"its branch main is checked out":  {Kind: job.KindRun, Remote: "parser", Goal: "g"},
		"neither a URL nor a folder":      {Kind: job.KindRun, Remote: "nothing.git", Goal: "g"},
		"neither a URL nor a folder here": {Kind: job.KindRun, Remote: "ext::sh -c true", Goal: "g"},
		"no label":                        {Kind: job.KindRun, Remote: here, Goal: "g", Label: "a/b"},
		"no mode of a loop":               {Kind: job.KindLoop, Remote: here, Goal: "g", Mode: "night"},
	} {
		s.Ref = "main"
		if err := check(&s, &asked{}); err == nil || !strings.Contains(err.Error(), part) || !strings.Contains(err.Error(), "(fix: ") {
			t.Errorf("%s: %v", part, err)
		}
	}
}
