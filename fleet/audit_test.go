package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/fleet/internal/job"
)

// A cycle's gates wait for the operator with the plan and the revision. The worker that has the cycle is killed at the first gate and
// while the revision is tested: the cycle continues where it was once the worker is back. Its branch is at the remote, and main stays.
func TestAudit(t *testing.T) {
	if *bin == "" {
		t.Skip("it needs the built programs: make fleet-test")
	}
	p := newPlace(t)
	p.service()
	p.serve()
	a := p.worker("a")
	main := p.command(p.dir, "git", "-C", p.remote, "rev-parse", "main")
	id := p.ask("audit", "--repo", p.remote, "--service", "S", "--key", "stopped")
	p.comes(id, job.Waiting)
	p.relay("fleet", "stop", id)
	p.result(id)
	id = p.ask("audit", "--repo", p.remote, "--service", "S", "--key", "a") // the cycle of the one before is aborted
	s := p.comes(id, job.Waiting)
	if s.Asks == nil || !strings.Contains(s.Asks.Prompt, "canary is wrong") || strings.Join(s.Asks.Choices, " ") != "continue abort" {
		t.Fatalf("%+v", s.Asks)
	}
	p.refused("is no choice", "answer", id, "accept")
	a.kill()
	b := p.worker("b")
	p.relay("fleet", "answer", id, "continue")
	a.start()
	p.until("the revision is tested", func() bool { return len(p.processes()) > 0 })
	a.kill()
	a.start()
	s = p.comes(id, job.Waiting)
	if s.Asks == nil || !strings.Contains(s.Asks.Prompt, "+canary revised") || strings.Join(s.Asks.Choices, " ") != "accept iterate abort" {
		t.Fatalf("%+v", s.Asks)
	}
	p.relay("fleet", "answer", id, "accept")
	s = p.result(id)
	if s.Result == nil || s.Result.ExitCode != 0 || s.Result.Commit == "" || s.Worker != "a" || b.attempts() > 0 {
		t.Fatalf("%+v %+v", s, s.Result)
	}
	if at := p.command(p.dir, "git", "-C", p.remote, "branch", "--contains", s.Result.Commit, "--format=%(refname:short)"); strings.TrimSpace(string(at)) == "" || strings.Contains(string(at), "main") {
		t.Errorf("%q", at)
	}
	if now := p.command(p.dir, "git", "-C", p.remote, "rev-parse", "main"); string(now) != string(main) {
		t.Error("main has moved")
	}
	if text := string(p.relay("fleet", "report", id)); !strings.Contains(text, "cycle  COMPLETE") {
		t.Error(text)
	}
	p.private()
}

// service gives the repository one to audit, whose test takes a while.
func (p *place) service() {
	p.t.Helper()
	seed, home := filepath.Join(p.dir, "seed"), filepath.Join(p.dir, "home-operator")
	audit := "## Critical issues\n- canary is wrong\n\n## Significant concerns\nNone.\n\n## Ambiguities\nNone.\n\n## Style and convention notes\nNone.\n\n## Action plan\n1. Change src/a.txt.\n"
	script, err := json.Marshal(map[string]any{"version": 1, "calls": []any{
		map[string]any{"when": map[string]string{"role": "audit_a"}, "times": -1, "answer": map[string]string{"text": audit}},
		map[string]any{"when": map[string]string{"role": "revision"}, "times": -1, "answer": map[string]string{"text": "# path: src/a.txt\n```\ncanary revised\n```\n"}},
	}})
	if err != nil {
		p.t.Fatal(err)
	}
	write(p.t, filepath.Join(p.dir, "plan.json"), string(script))
	write(p.t, filepath.Join(seed, "relay.config.json"), fmt.Sprintf(`{"orchestrator": {"provider": "replay"}, "builder": {"default_mode": "patch"}, "plugins": {"replay": {"script": %q}}}`, p.dir+"/plan.json"))
	write(p.t, filepath.Join(seed, "config/services/S.yaml"), "code: [\"src/**\"]\nmodels:\n  audit_a: {provider: replay}\n  audit_b: {enabled: false}\n  revision: {rotation: [replay]}\ncycle:\n  test_command: [sleep, \""+p.mark+"\"]\n")
	p.command(home, "git", "-C", seed, "add", "-A")
	p.command(home, "git", "-C", seed, "commit", "-q", "-m", "service")
	p.command(home, "git", "-C", seed, "push", "-q", p.remote, "main")
	p.agree()
	whole := p.trust
	var doc struct{ Digest string }
	if err := json.Unmarshal(p.command(home, filepath.Join(*bin, "relay"), "-C", seed, "trust", "--show", "--json", "S"), &doc); err != nil || doc.Digest == "" {
		p.t.Fatal(doc, err)
	}
	p.trust = whole + "," + doc.Digest
}
