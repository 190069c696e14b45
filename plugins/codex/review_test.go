package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/plugins/internal/codexcli"
	"github.com/paxiom/relay/plugins/internal/conformance"
	"github.com/paxiom/relay/plugins/internal/eventtest"
	"github.com/paxiom/relay/plugins/internal/vendortest"
	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/testdata/e2e"
)

const goodReview = `{"verdict":"incorrect","explanation":"Add subtracts.","findings":[{"title":"Add subtracts","body":"2 and 3 are -1","priority":0,"confidence":0.9,"file":"add.go","first_line":3,"last_line":3}]}`

// reviewer is a provider for reviews with a program that says what it was started
// with, and then answers.
func reviewer(t *testing.T, sandbox, answer string) (sdk.Provider, string) {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	seen := filepath.Join(t.TempDir(), "args")
	quoted, _ := json.Marshal(answer)
	events := `{"type":"turn.started"}` + "\n" + `{"type":"item.completed","item":{"type":"agent_message","text":` + string(quoted) + `}}` + "\n" + `{"type":"turn.completed"}`
	if err := os.WriteFile(seen+".jsonl", []byte(events), 0o644); err != nil {
		t.Fatal(err)
	}
	program := conformance.Program(t, fmt.Sprintf(`case "$1" in --version) echo codex-cli 0.169.0; exit;; sandbox) %s; exit;; esac
		cat > /dev/null; echo "$@" > %s; cat %s.jsonl`, sandbox, seen, seen))
	p := newProvider().part()
	if err := p.Configure(t.Context(), &sdk.Config{JSON: conformance.Config(`{"transport":"review","command":%q}`, program), WorkDir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	return p, seen
}

// A review can't change anything, by Codex's sandbox or by a box, and is in a schema.
func TestReview(t *testing.T) {
	server(t, `[]`) // a key and nothing else; nobody is asked
	for name, tc := range map[string]struct{ sandbox, box, answer, mode string }{
		"works":         {"exit 0", "overlay", goodReview, "-s read-only"},
		"can't, strong": {"exit 1", "overlay", goodReview, "-s danger-full-access"},
		"can't, weak":   {"exit 1", "copy", goodReview, ""},
		"prose":         {"exit 0", "", "Looks fine to me.", ""},
		"no verdict":    {"exit 0", "", `{"explanation":"x","findings":[]}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(codexcli.BoxVariable, tc.box)
			p, seen := reviewer(t, tc.sandbox, tc.answer)
			got, err := p.Complete(t.Context(), ask("Review this."), &eventtest.Log{})
			if tc.mode == "" {
				want := vendortest.Want{Reason: sdk.BadOutput, Effect: sdk.EffectCharged}
				if tc.box == "copy" {
					want = vendortest.Want{Reason: sdk.BadConfig, Effect: sdk.EffectNone}
				}
				want.Hold(t, got, sdk.AsFailure(err))
				return
			}
			if err != nil || got.JSON != nil || got.Text != goodReview {
				t.Fatalf("%+v %v", got, err)
			}
			args, err := os.ReadFile(seen)
			if err != nil || !strings.Contains(string(args), tc.mode) || !strings.Contains(string(args), "--output-schema") || strings.Contains(string(args), "shell_tool") {
				t.Errorf("%v %s", err, args)
			}
		})
	}
	p, _ := reviewer(t, "exit 0", `{"ok":true}`)
	r := ask("Review this.")
	r.OutputSchema = json.RawMessage(verdictSchema) // the request's own goes before
	if got, err := p.Complete(t.Context(), r, &eventtest.Log{}); err != nil || string(got.JSON) != `{"ok":true}` {
		t.Errorf("%+v %v", got, err)
	}
}

func TestE2EReview(t *testing.T) {
	quoted, _ := json.Marshal(goodReview)
	_, model := start(t, `[{"tool":{"name":"exec_command","input":{"cmd":"cat add.go; echo x > NEW.md; echo seen"}}},{"text":`+string(quoted)+`,"times":-1}]`)
	repo := t.TempDir()
	if err := os.WriteFile(filepath.Join(repo, "add.go"), []byte("package demo // CANARY\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(repo)
	p := newProvider().part()
	cfg := fmt.Sprintf(`{"transport":"review","command":%q,"base_url":%q}`, e2e.Codex(t), model.URL()+"/v1")
	if err := p.Configure(t.Context(), &sdk.Config{JSON: json.RawMessage(cfg), WorkDir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	log := &eventtest.Log{}
	got, err := p.Complete(t.Context(), ask("Review this."), log)
	if f := sdk.AsFailure(err); f != nil && f.Reason == sdk.BadConfig && strings.Contains(f.Summary, "sandbox") {
		t.Skip("codex can't make its sandbox here: " + f.Detail)
	}
	if err != nil || got.Text != goodReview {
		t.Fatalf("%+v %v\n%s", got, err, log)
	}
	if _, err := os.Stat(filepath.Join(repo, "NEW.md")); err == nil {
		t.Error("the review wrote a file")
	}
	all := e2e.Requests(t, model, 2)
	if first, last := string(all[0].Body), string(all[len(all)-1].Body); !strings.Contains(first, `"first_line"`) || !strings.Contains(last, "CANARY") {
		t.Errorf("the schema did not go, or the model could not read: %.300s", last)
	}
}
