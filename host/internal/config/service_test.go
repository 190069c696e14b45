package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/paxiom/relay/schemas"
)

// serviceAt writes files below a root and loads one service of it.
func serviceAt(t *testing.T, id string, files map[string]string, with ...string) (*LoadedService, error) {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		p := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return LoadService(Options{Root: root}, id, with)
}

// The seed's own file loads unchanged, and its schema agrees.
func TestSeedService(t *testing.T) {
	b, err := os.ReadFile("testdata/A-202.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, err := serviceAt(t, "A-202", map[string]string{"config/services/A-202.yaml": string(b), "config/default.yaml": "cycle:\n  max_iterations: 2\n  timeout_seconds: 60\n"})
	if err != nil {
		t.Fatal(err)
	}
	if a := s.Auditors(); len(a) != 2 || a[0].Provider != "anthropic" || a[0].Model != "claude-opus-4-7" || a[1].Model != "gpt-5" {
		t.Errorf("auditors: %+v", a)
	}
	if !slices.Equal(s.Cycle.TestCommand, []string{"cargo", "test", "--package", "sync-committee-verifier"}) {
		t.Errorf("test command: %q", s.Cycle.TestCommand)
	}
	if s.Cycle.MaxIterations != 5 || s.Cycle.TimeoutSeconds != 60 || len(s.References) != 4 || !s.Models.Refinement.Enabled {
		t.Errorf("%+v", s.Service)
	}
	if !slices.Equal(s.Revisers(), []string{"anthropic", "openai"}) || s.Service.Service.BranchPrefix != "feat/svc-202" {
		t.Errorf("%+v", s.Service)
	}
	var keys []string
	for _, g := range s.Grants() {
		keys = append(keys, g.Key)
	}
	if want := "models.audit_a.provider models.audit_b.provider models.refinement.provider models.revision.rotation cycle.test_command"; strings.Join(keys, " ") != want {
		t.Errorf("grants: %v", keys)
	}
	schema, err := schemas.Compile(ServiceJSONSchema())
	if err != nil {
		t.Fatal(err)
	}
	n, err := parse("x.yaml", b, Origin{})
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(n.plain()); err != nil {
		t.Error(err)
	}
}

func TestServiceRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		text, want string
		with       []string
	}{
		"gate off":         {text: "cycle:\n  acceptance_required: false\n", want: "only the operator can pass the two gates"},
		"gate off by flag": {with: []string{"cycle.acceptance_required=false"}, want: "only the operator can pass the two gates"},
		"typo":             {text: "cycle:\n  max_iteration: 3\n", want: "did you mean cycle.max_iterations"},
		"other id":         {text: "service:\n  id: B-1\n", want: "but the file is config/services/S-1.yaml"},
		"shell":            {text: "cycle:\n  test_command: make test && make lint\n", want: `["sh", "-c", "make test && make lint"]`},
		"variable":         {text: "cycle:\n  test_command: CGO_ENABLED=0 go test ./...\n", want: `["env", "CGO_ENABLED=0", "go"`},
		"no audit":         {text: "models:\n  audit_a:\n    enabled: false\n  audit_b:\n    enabled: false\n", want: "at least one"},
		"outside":          {text: "references:\n  - ../secrets.md\n", want: "plain path"},
		"branch":           {text: "service:\n  branch_prefix: a..b\n", want: "name of a branch"},
		"whole ref":        {text: "service:\n  branch_prefix: refs/heads/main\n", want: "without refs/"},
		"no such key":      {with: []string{"gates.skip=true"}, want: "unknown key"},
	} {
		if _, err := serviceAt(t, "S-1", map[string]string{"config/services/S-1.yaml": c.text}, c.with...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := serviceAt(t, "A-203", map[string]string{"config/services/A-202.yaml": ""}); err == nil || !strings.Contains(err.Error(), "relay audit service show A-202") {
		t.Errorf("no such service: %v", err)
	}
	if _, err := serviceAt(t, "../x", nil); err == nil {
		t.Error("an id that leaves the folder")
	}
}

func TestServiceLayers(t *testing.T) {
	files := map[string]string{"config/default.yaml": "cycle:\n  max_iterations: 2\n", "config/services/S-1.json": `{"models": {"audits": [{"provider": "gemini"}], "audit_b": {"enabled": false}}}`}
	s, err := serviceAt(t, "S-1", files, "cycle.max_iterations=9")
	if err != nil {
		t.Fatal(err)
	}
	if s.Cycle.MaxIterations != 9 || len(s.Auditors()) != 2 || s.Auditors()[1].Name != "audit_c" || s.Service.Service.BranchPrefix != "relay/s-1" {
		t.Errorf("%+v", s.Service)
	}
}

func TestSplitCommand(t *testing.T) {
	for text, want := range map[string]string{
		`go test ./... -run 'A B' "c\"d"`: `go|test|./...|-run|A B|c"d`,
		`a\ b c`:                          "a b|c",
		`x ''`:                            "x|",
		`t '$HOME * | &'`:                 "t|$HOME * | &",
		`make a#b k=v`:                    "make|a#b|k=v",
	} {
		if got, err := SplitCommand(text); err != nil || strings.Join(got, "|") != want {
			t.Errorf("%s: %q %v", text, got, err)
		}
	}
	for _, text := range []string{"", " ", "a | b", "a > b", "a; b", "$X", "a `b`", `a "$b"`, "a 'b", `a \`, "a *.go", "~/x", "a # b", "X=1 a", "a\nb", "a & b"} {
		if got, err := SplitCommand(text); err == nil {
			t.Errorf("%q became %q", text, got)
		}
	}
}
