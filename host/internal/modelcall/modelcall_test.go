package modelcall

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/pluginhost"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
	_ "github.com/paxiom/relay/judge/box/copies"
	"github.com/paxiom/relay/judge/git"
	"github.com/paxiom/relay/sdk/pluginpb"
)

func TestMain(m *testing.M) {
	box.Init()
	os.Exit(m.Run())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// noted is a caller that keeps what it says.
func noted(e pluginenv.Env) (*Caller, *[]string) {
	var notes []string
	return &Caller{Workflow: "test", RunID: "r", Plugins: func() pluginenv.Env { return e }, Show: func(progress.Event) {},
		Note: func(s string) { notes = append(notes, s) }}, &notes
}

func TestThrough(t *testing.T) {
	quota := &pluginhost.Failure{Cause: pluginhost.Reported, Reason: pluginpb.Failure_REASON_QUOTA_EXHAUSTED, Effect: pluginpb.Failure_EFFECT_NONE, Summary: "used up", ResetAt: time.Now().Add(time.Hour)}
	crash := &pluginhost.Failure{Cause: pluginhost.Crashed, Summary: "it died"}
	missing := diag.New(judge.BlockedPlugin, "no such plugin", "", "")
	spent, day := diag.New(judge.BlockedBudgetCap, "b is used up", "", ""), diag.New(judge.BlockedBudgetCap, "the day is used up", "", "")
	spent.Err = ledger.ErrProviderCap
	for name, c := range map[string]struct {
		ends    map[string]any // what each of the lineup ends with
		asked   string
		limited int
		noted   string
	}{
		"the first answers":            {map[string]any{}, "a", 0, ""},
		"the second stands in":         {map[string]any{"a": quota}, "a b", 0, ""},
		"a fallback that is not there": {map[string]any{"a": quota, "b": missing}, "a b c", 0, "no such plugin"},
		"all have met limits":          {map[string]any{"a": quota, "b": quota, "c": quota}, "a b c", 3, ""},
		"a fallback at its own cap":    {map[string]any{"a": quota, "b": spent}, "a b c", 0, "b is used up"},
		"caps leave nobody but limits": {map[string]any{"a": quota, "b": spent, "c": quota}, "a b c", 2, "b is used up"},
		"the first one's own cap":      {map[string]any{"a": spent}, "a", 0, ""},
		"the cap of the whole day":     {map[string]any{"a": quota, "b": day}, "a b", 0, ""},
		"a crash is no limit":          {map[string]any{"a": crash}, "a", 0, ""},
	} {
		e := pluginenv.Env{Config: &config.Config{}, StateDir: t.TempDir()}
		d, notes := noted(e)
		var asked []string
		ends := c.ends
		left := 0
		f, err := d.Through(t.Context(), e.Lineup("plan", "a", "", []string{"b", "c"}), func(_ context.Context, c pluginenv.Choice) (*pluginhost.Failure, error) {
			asked = append(asked, c.Name)
			switch end := ends[c.Name].(type) {
			case *pluginhost.Failure:
				return end, nil
			case error:
				return nil, end
			}
			return nil, nil
		}, func() error { left++; return nil })
		var limited *Limited
		if strings.Join(asked, " ") != c.asked || left != len(asked)-1 || errors.As(err, &limited) != (c.limited > 0) || limited != nil && len(limited.Limits) != c.limited {
			t.Errorf("%s: asked %v, left %d: %v, %v", name, asked, left, f, err)
		}
		if !strings.Contains(strings.Join(*notes, " "), c.noted) {
			t.Errorf("%s: %q", name, *notes)
		}
		if name == "a crash is no limit" && f != crash {
			t.Errorf("%s: %v", name, f)
		}
	}
}

// world is a repository whose provider replays a script.
func world(t *testing.T) (pluginenv.Env, *git.Repo, *workspace.Workspace) {
	t.Helper()
	dir := t.TempDir()
	bin, root := filepath.Join(dir, "bin"), filepath.Join(dir, "repo")
	must(t, os.MkdirAll(root, 0o755))
	out, err := exec.Command("go", "build", "-o", filepath.Join(bin, "relay-plugin-replay"), "../../../plugins/replay").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	manifest, err := exec.Command("go", "run", "../catalog/mkmanifest", bin).Output()
	must(t, err)
	script, err := json.Marshal(map[string]any{"version": 1, "calls": []any{map[string]any{"when": map[string]any{"role": "plan"},
		"answer": map[string]any{"text": "forty-two", "model": "m"}, "usage": map[string]any{"input_tokens": 10, "output_tokens": 5, "cost_microusd": 1000}}}})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "script.json"), script, 0o644))
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", "base", "--allow-empty"}} {
		if out, err := exec.Command("git", append([]string{"-C", root}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	git, err := git.Open(t.Context(), root)
	must(t, err)
	ws, err := workspace.Open(root, "")
	must(t, err)
	must(t, ws.Ensure())
	raw, err := json.Marshal(map[string]any{"script": filepath.Join(dir, "script.json")})
	must(t, err)
	e := pluginenv.Env{Config: &config.Config{Plugins: map[string]json.RawMessage{"replay": raw}}, Root: root, StateDir: filepath.Join(dir, "state"), Home: dir, Version: "test", RunID: "r"}
	e.Catalog, err = catalog.Load(catalog.Options{Executable: filepath.Join(bin, "relay"), CacheDir: filepath.Join(dir, "cache"), InstallDir: filepath.Join(dir, "install"), Manifest: strings.TrimSpace(string(manifest))})
	must(t, err)
	return e, git, ws
}

// An answer that has arrived is never bought again: not when the question is asked anew,
// and not when a crash came before the ledger knew of it.
func TestAnswersAreKept(t *testing.T) {
	e, git, ws := world(t)
	open := func() (*Caller, *[]string) {
		d, notes := noted(e)
		d.Answers = Answers{Dir: filepath.Join(t.TempDir(), "calls")}
		d.Start = func(ctx context.Context, name string) (*pluginenv.Plugin, error) {
			p, err := e.Provider(name, git)
			if err == nil {
				t.Cleanup(func() { p.Close(context.Background()) })
			}
			return p, err
		}
		tab, lost, err := ledger.OpenReservations(ws, config.Budgets{}, "", "c", d.Answers.Kept)
		if err != nil || len(lost) > 0 {
			t.Fatal(lost, err)
		}
		d.Reserve = Reserved(tab)
		return d, notes
	}
	d, notes := open()
	q := Question{ID: "q", Role: "plan", System: "s", User: "u"}
	for range 2 { // the script has one answer only
		a, f, err := d.Ask(t.Context(), e.Lineup("plan", "replay", "", nil), q)
		if f != nil || err != nil || a.Text != "forty-two" || a.Line.CostUSD == nil || *a.Line.CostUSD != 0.001 {
			t.Fatalf("%+v, %v, %v", a, f, err)
		}
	}
	if u := d.Answers.Kept("q-1"); u == nil || *u.InputTokens != 10 || d.Answers.Kept("q-2") != nil {
		t.Errorf("kept: %+v", u)
	}
	_, f, err := d.Ask(t.Context(), e.Lineup("review", "replay", "", nil), Question{ID: "other", Role: "review", User: "u"})
	if a, rerr := d.Answers.Read("other"); (f == nil && err == nil) || rerr != nil || a == nil || a.Answered || a.Failed == "" {
		t.Errorf("a call that failed: %v, %v, kept as %+v, %v", f, err, a, rerr)
	}
	must(t, os.WriteFile(d.Answers.path("lost"), []byte(`{"id":"lost","provider":"replay","tries":1}`), 0o600))
	if a, err := d.open(Question{ID: "lost"}); err != nil || a.Tries != 1 || !strings.Contains(strings.Join(*notes, " "), "may be charged twice") {
		t.Errorf("a call that was cut off: %+v, %v, %q", a, err, *notes)
	}
	lines := 0
	must(t, ledger.Usages(ws, func(l ledger.Line) error { lines++; return nil }))
	if lines != 2 {
		t.Errorf("%d calls in the ledger", lines)
	}
}
