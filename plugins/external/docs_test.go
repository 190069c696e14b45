package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/plugins/internal/eventtest"
	"github.com/paxiom/relay/sdk"
)

// The example of the author's guide works as it stands.
func TestExampleOfTheGuide(t *testing.T) {
	guide, err := os.ReadFile("../../docs/plugin-authors/external-driver.md")
	if err != nil {
		t.Fatal(err)
	}
	at := strings.LastIndex(string(guide), "```sh\n#!/bin/sh\n")
	if at < 0 {
		t.Fatal("the guide has no example in sh")
	}
	example, _, _ := strings.Cut(string(guide)[at+len("```sh\n"):], "```")
	bin, repo := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"driver": example, "agent": "#!/bin/sh\ncat > said.txt\n"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	if out, err := exec.Command("git", "init", "-q", repo).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	b := builder()
	if err := b.Configure(t.Context(), &sdk.Config{JSON: json.RawMessage(`{"command":"driver"}`), RunID: "r1"}); err != nil {
		t.Fatal(err)
	}
	log := &eventtest.Log{}
	res, err := b.Build(t.Context(), &sdk.BuildRequest{Workspace: repo, Prompt: "write it"}, log)
	if err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	var doc struct {
		Summary string   `json:"summary"`
		Files   []string `json:"files_intended"`
	}
	if err := json.Unmarshal(res.JSON, &doc); err != nil || len(doc.Files) != 1 || doc.Files[0] != "said.txt" || !strings.Contains(doc.Summary, "r1") {
		t.Errorf("result %s %v", res.JSON, err)
	}
	if said, _ := os.ReadFile(filepath.Join(repo, "said.txt")); string(said) != "write it" {
		t.Errorf("the agent read %q", said)
	}
}
