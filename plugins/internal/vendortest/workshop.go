package vendortest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/plugins/internal/eventtest"
	"github.com/paxiom/relay/sdk"
)

// Workshop is a repository in which a builder works.
type Workshop struct {
	Repo string
	Part sdk.Builder
	Log  *eventtest.Log
	// Ask is what each build is asked.
	Ask sdk.BuildRequest
}

// Work is a builder's result, ResultSchema what it is held to.
const (
	Work         = `{"summary":"Add adds now.","files_intended":["add.go"],"commands_ran":[],"notes":[]}`
	ResultSchema = `{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://relay.example/x","type":"object","additionalProperties":false,
	"required":["summary","files_intended","commands_ran","notes"],"properties":{
	"summary":{"type":"string","minLength":1},"files_intended":{"type":"array","items":{"type":"string"}},
	"commands_ran":{"type":"array","items":{"type":"string"}},"notes":{"type":"array","items":{"type":"string"}}}}`
)

// Says is a model's turn, for as often as it is asked.
func Says(text string) string {
	quoted, _ := json.Marshal(text) // a string
	return fmt.Sprintf(`{"text":%s,"times":-1}`, quoted)
}

// GitSetting is what relay.told is for git in a workshop: what relay sets for git in a box has to
// reach the commands of a program.
const GitSetting = `"as" told`

// NewWorkshop makes the repository. Ask gets what is everybody's.
func NewWorkshop(t *testing.T) *Workshop {
	t.Helper()
	for name, value := range map[string]string{"COUNT": "1", "KEY_0": "relay.told", "VALUE_0": GitSetting} {
		t.Setenv("GIT_CONFIG_"+name, value)
	}
	w := &Workshop{Repo: filepath.Join(t.TempDir(), "repo"), Log: &eventtest.Log{}}
	Repository(t, w.Repo)
	w.Ask = sdk.BuildRequest{Workspace: w.Repo, System: "SYSTEM-CANARY", Prompt: "Make Add add.", ResultSchema: json.RawMessage(ResultSchema)}
	return w
}

// Repository makes a repository at path; its one file is add.go, whose Add is wrong.
func Repository(t *testing.T, path string) {
	t.Helper()
	if out, err := exec.Command("git", "init", "-q", path).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	if err := os.WriteFile(filepath.Join(path, "add.go"), []byte("package demo\n\nfunc Add(a, b int) int { return a - b }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Configure gives the workshop its builder.
func (w *Workshop) Configure(t *testing.T, part sdk.Builder, format string, args ...any) {
	t.Helper()
	w.Part = part
	if err := part.Configure(t.Context(), &sdk.Config{JSON: json.RawMessage(fmt.Sprintf(format, args...)), WorkDir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
}

// Build builds once.
func (w *Workshop) Build(t *testing.T) (*sdk.BuildResult, *sdk.Failure) {
	t.Helper()
	ask := w.Ask
	res, err := w.Part.Build(t.Context(), &ask, w.Log)
	return res, sdk.AsFailure(err)
}

// Added reports whether Add was mended.
func (w *Workshop) Added(t *testing.T) bool {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(w.Repo, "add.go"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(b), "a + b")
}
