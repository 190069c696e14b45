package pluginenv

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/pluginhost"
	"github.com/paxiom/relay/host/internal/quota"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/sdk/pluginpb"
)

// noon is the time of these tests: their clock stands still unless it is moved.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// newEnv is a run on a machine of its own.
func newEnv(t *testing.T, accounts map[string]config.Account) (e Env, clock *time.Time) {
	t.Helper()
	now := noon
	return Env{Config: &config.Config{Providers: accounts}, StateDir: t.TempDir(), Root: "/repo", Now: func() time.Time { return now }}, &now
}

// refusal is a failure that a vendor's plugin reports.
func refusal(reason pluginpb.Failure_Reason, until time.Time) *pluginhost.Failure {
	return &pluginhost.Failure{Cause: pluginhost.Reported, Reason: reason, RPC: "Complete", Effect: pluginpb.Failure_EFFECT_NONE, ResetAt: until, Summary: "no"}
}

var usedUp = refusal(pluginpb.Failure_REASON_QUOTA_EXHAUSTED, noon.Add(3*time.Hour))

// order is whom a lineup asks, when nobody answers.
func order(l *Lineup) (names []string) {
	for ; ; l.Next() {
		names = append(names, l.Now().String())
		if l.Last() {
			return names
		}
	}
}

func TestLineup(t *testing.T) {
	for name, tc := range map[string]struct {
		name, model string
		fallback    []string
		known       map[string]time.Time // what other runs have met: "claude/opus" until when
		want        string
	}{
		"nobody else":               {name: "claude", model: "opus", want: "claude/opus"},
		"the plugin's own model":    {name: "claude", want: "claude"},
		"in the order given":        {name: "claude", model: "opus", fallback: []string{"codex/gpt-5.5", "gemini"}, want: "claude/opus codex/gpt-5.5 gemini"},
		"aliases are one name":      {name: "anthropic", model: "opus", fallback: []string{"openai/gpt-5.5", "claude/opus"}, want: "claude/opus codex/gpt-5.5"},
		"another model of the same": {name: "claude", model: "opus", fallback: []string{"claude/sonnet"}, want: "claude/opus claude/sonnet"},
		"each once":                 {name: "claude", model: "opus", fallback: []string{"codex", "codex", "claude/opus"}, want: "claude/opus codex"},
		"a model with a slash":      {name: "claude", fallback: []string{"codex/openai/gpt"}, want: "claude codex/openai/gpt"},
		"who is known to refuse comes last": {name: "claude", model: "opus", fallback: []string{"codex", "gemini"},
			known: map[string]time.Time{"claude/opus": noon.Add(time.Hour)}, want: "codex gemini claude/opus"},
		"all are known to refuse": {name: "claude", model: "opus", fallback: []string{"codex"},
			known: map[string]time.Time{"claude/opus": noon.Add(time.Hour), "codex/": noon.Add(2 * time.Hour)}, want: "claude/opus codex"},
		"the other model of a vendor that refuses one": {name: "claude", model: "opus", fallback: []string{"claude/sonnet"},
			known: map[string]time.Time{"claude/opus": noon.Add(time.Hour)}, want: "claude/sonnet claude/opus"},
		"a refusal that is over": {name: "claude", model: "opus", fallback: []string{"codex"},
			known: map[string]time.Time{"claude/opus": noon.Add(-time.Second)}, want: "claude/opus codex"},
		"without a fallback it is asked all the same": {name: "claude", model: "opus",
			known: map[string]time.Time{"claude/opus": noon.Add(time.Hour)}, want: "claude/opus"},
	} {
		t.Run(name, func(t *testing.T) {
			e, clock := newEnv(t, nil)
			*clock = noon.Add(-2 * time.Hour) // when the others met it
			for who, until := range tc.known {
				plugin, model, _ := strings.Cut(who, "/")
				if err := e.Account(plugin).Refused(report.Limit{Model: model, Reason: "QUOTA_EXHAUSTED", At: *clock, Until: until}); err != nil {
					t.Fatal(err)
				}
			}
			*clock = noon
			l := e.Lineup("orchestrator", tc.name, tc.model, tc.fallback)
			if got := strings.Join(order(l), " "); got != tc.want {
				t.Errorf("asked: %s; want %s", got, tc.want)
			}
		})
	}
}

// Each role has a lineup of its own: what one met says nothing of the other's order, but
// what it met of an account is known to both.
func TestLineupByRole(t *testing.T) {
	e, _ := newEnv(t, nil)
	planners := e.Lineup("orchestrator", "claude", "opus", []string{"codex"})
	if !planners.Now().First || !planners.Met(usedUp) {
		t.Fatal("a used up limit is no limit")
	}
	builders := e.Lineup("builder", "claude-code", "sonnet", []string{"codex-exec"})
	if got := order(builders); !reflect.DeepEqual(got, []string{"claude-code/sonnet", "codex-exec"}) {
		t.Errorf("the limit of opus counts for sonnet: %v", got)
	}
	builders = e.Lineup("builder", "claude-code", "opus", []string{"codex-exec"})
	if got := order(builders); !reflect.DeepEqual(got, []string{"codex-exec", "claude-code/opus"}) {
		t.Errorf("the builder uses the same account and model, and is asked first: %v", got)
	}
	builders = e.Lineup("builder", "claude-code", "opus", []string{"codex-exec"})
	switches := builders.Settle(true)
	if len(switches) != 1 || switches[0].From.Role != "builder" || switches[0].From.Provider != "claude-code" || switches[0].ToProvider != "codex-exec" {
		t.Errorf("%+v", switches)
	}
}

// What a call met is kept until somebody answers; then it is told for whom the answer
// stood in, once, and the account is free again.
func TestMetAndSettled(t *testing.T) {
	e, _ := newEnv(t, nil)
	l := e.Lineup("orchestrator", "claude", "opus", []string{"codex/gpt-5.5", "gemini"})
	if l.Met(nil) || l.Met(refusal(pluginpb.Failure_REASON_AUTH_REJECTED, time.Time{})) || l.Met(&pluginhost.Failure{Cause: pluginhost.Crashed}) {
		t.Error("what waiting does not mend is taken for a limit")
	}
	if !l.Met(usedUp) {
		t.Error("a used up limit is no limit")
	}
	l.Next()
	if l.Now().First || !l.Met(refusal(pluginpb.Failure_REASON_OVERLOADED, time.Time{})) {
		t.Error("an overload of the second one is no limit")
	}
	l.Next()
	if !l.Last() || len(l.Limits) != 2 || l.Limits[0].Until != noon.Add(3*time.Hour) || l.Limits[1].Provider != "codex" || l.Limits[1].Model != "gpt-5.5" {
		t.Errorf("%+v", l.Limits)
	}
	var told []string
	for _, s := range l.Settle(true) {
		told = append(told, fmt.Sprintf("%s for %s/%s: %s", s.ToProvider, s.From.Provider, s.From.Model, s.From.Reason))
	}
	if want := []string{"gemini for claude/opus: QUOTA_EXHAUSTED", "gemini for codex/gpt-5.5: OVERLOADED"}; !reflect.DeepEqual(told, want) {
		t.Errorf("%q", told)
	}
	if again := l.Settle(true); len(again) > 0 || len(l.Limits) > 0 {
		t.Errorf("told twice: %+v", again)
	}
	if e.Account("claude").Known("opus") == nil {
		t.Error("the other runs do not hear of the limit")
	}
	back := e.Lineup("orchestrator", "claude", "opus", []string{"codex"})
	for back.Now().Name != "claude" {
		back.Next()
	}
	if back.Settle(true); e.Account("claude").Known("opus") != nil {
		t.Error("an answer does not end what was said of the model")
	}
}

func TestAccount(t *testing.T) {
	accounts := map[string]config.Account{
		"anthropic":  {CallsPerMinute: 60, Burst: 2},
		"codex-exec": {Account: "team", CallsPerMinute: 60},
	}
	for _, tc := range []struct {
		plugin string
		free   int // calls that are let in at once
		file   string
	}{
		{"claude", 2, "claude"}, // by an alias
		{"claude-code", 2, "claude"},
		{"codex-exec", 1, "team"},
		{"gemini-cli", 5, ""}, // nobody bounds it
	} {
		t.Run(tc.plugin, func(t *testing.T) {
			e, _ := newEnv(t, accounts)
			for n := range tc.free + 1 {
				err := e.Account(tc.plugin).Take(context.Background(), fmt.Sprint("run ", n), 0, nil)
				if bounded := tc.file != ""; (err != nil) != (bounded && n == tc.free) {
					t.Errorf("call %d: %v", n+1, err)
				}
			}
			if tc.file == "" {
				return
			}
			if _, err := os.Stat(filepath.Join(e.StateDir, "accounts", tc.file+".json")); err != nil {
				t.Error(err)
			}
		})
	}
}

// A turn that comes too late for a call is a limit like a vendor's, which costs nothing
// and names the time; the place in line is kept.
func TestAdmit(t *testing.T) {
	e, clock := newEnv(t, map[string]config.Account{"claude": {CallsPerMinute: 1}})
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if f, err := e.Admit(ctx, "claude", "orchestrator", "Complete", nil); f != nil || err != nil {
		t.Fatal(f, err)
	}
	// The builder uses the same account.
	f, err := e.Admit(ctx, "claude-code", "builder", "Build", func(time.Duration) { t.Error("it waits, although that can't help") })
	if err != nil || f == nil || f.Reason != pluginpb.Failure_REASON_RATE_LIMITED || f.LimitName != "calls_per_minute" || f.Plugin != "claude-code" {
		t.Fatalf("%+v, %v", f, err)
	}
	if want := noon.Add(time.Minute); !f.ResetAt.Equal(want) || f.Effect != pluginpb.Failure_EFFECT_NONE || !pluginhost.Decide(f).Passes {
		t.Errorf("%+v", f)
	}
	if l := quota.LimitOf(f, "builder", "claude-code", "", noon); l == nil || !l.Until.Equal(noon.Add(time.Minute)) {
		t.Errorf("no limit that can be waited for: %+v", l)
	}
	*clock = noon.Add(time.Minute)
	if f, err := e.Admit(ctx, "claude-code", "builder", "Build", nil); f != nil || err != nil {
		t.Errorf("the place in line was not kept: %v %v", f, err)
	}

	gone, end := context.WithCancel(context.Background())
	end()
	told := false
	if f, err := e.Admit(gone, "claude", "orchestrator", "Complete", func(time.Duration) { told = true }); f != nil || err != context.Canceled || !told {
		t.Errorf("a call that was ended in line: %v, %v, told %v", f, err, told)
	}
}

func TestAdmitWithoutState(t *testing.T) {
	e, _ := newEnv(t, map[string]config.Account{"claude": {CallsPerMinute: 1}})
	e.StateDir = filepath.Join(e.StateDir, "file")
	if err := os.WriteFile(e.StateDir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := e.Admit(context.Background(), "claude", "orchestrator", "Complete", nil)
	if f, ok := diag.As(err); !ok || f.Code != judge.BlockedPlugin || !strings.Contains(f.Fix, e.StateDir) {
		t.Errorf("a rate that can't be kept: %v", err)
	}
	if f, err := e.Admit(context.Background(), "codex", "orchestrator", "Complete", nil); f != nil || err != nil {
		t.Errorf("no rate was set, and: %v %v", f, err)
	}
}
