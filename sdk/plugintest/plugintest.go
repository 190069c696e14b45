package plugintest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/paxiom/relay/sdk"
)

// Config says which plugin is tried, and with what.
type Config struct {
	// Binary is the built plugin. See Build.
	Binary string
	// Serve gives a fresh plugin inside this process, when Binary is empty. See Fresh.
	Serve func() (*grpc.Server, error)

	// PluginConfig is the configuration that the plugin gets; nil: none.
	PluginConfig json.RawMessage
	// Env is added to the bare environment of a binary: NAME=value. The values of
	// variables that the plugin declares as secret must not come out again.
	Env []string
	// Cases are the calls that may be made. Without any, only the rules that need no
	// call are tried.
	Cases []Case
	// Hosts are answered for by a stand-in of this package, by what the plugin declares
	// among its hosts: "api.example.org", or a server of this machine, "localhost:11434". It
	// takes a binary that honours HTTPS_PROXY and SSL_CERT_FILE, as those in Go do on Linux.
	Hosts map[string][]Answer
	// Locked is the GetInfo answer that was recorded at installation, as --info prints
	// it; nil: none.
	Locked []byte
	// HomeFiles are patterns (path.Match, relative to HOME) of files that a program
	// driven by the plugin writes there and that rule P4 lets pass: ".claude/*".
	HomeFiles []string
	// Timeout bounds one call; 0: one minute.
	Timeout time.Duration
	// Only are the IDs of the rules to try, and of cases ("case NAME"); nil: all.
	Only []string
	// Tried hears of each rule and case once it was tried; nil: nobody does.
	Tried func(Result)
}

// Case is one call that the plugin can answer without harm. Exactly one of Complete
// and Build is set.
type Case struct {
	Name     string
	Complete *sdk.CompleteRequest
	// Build's Workspace is replaced by a new folder, which Workspace fills.
	Build     *sdk.BuildRequest
	Workspace func(dir string) error
	// PluginConfig and Env replace and extend what Config has.
	PluginConfig json.RawMessage
	Env          []string
	// WantReason is the reason of the failure that must come; 0: the call succeeds.
	WantReason sdk.Reason
	// WantText is the text of a completion; empty: any.
	WantText string
	// WantFiles are files of the workspace after a build, by path, with their texts.
	WantFiles map[string]string
}

// Rule is one rule of the protocol.
type Rule struct {
	ID   string // "S1"
	Text string // the rule in one sentence
	Help string // why it is there, and how to fix a plugin that breaks it
	// Check gives nil when the plugin keeps the rule, an error that says how it was
	// broken, or one made by Skip.
	Check func(*Session) error
}

// Verdict is the outcome of one rule.
type Verdict string

// The verdicts.
const (
	Passed  Verdict = "passed"
	Failed  Verdict = "failed"
	Skipped Verdict = "skipped" // could not be tried; Detail says why
)

// Result is one rule or case, tried on one plugin.
type Result struct {
	ID      string  `json:"id"`   // of the rule
	Text    string  `json:"text"` // what the rule asks for
	Verdict Verdict `json:"verdict"`
	Detail  string  `json:"detail,omitempty"` // what was seen
	Guide   string  `json:"guide"`            // the address of the page that explains the rule
}

// errSkip is the error of a rule that could not be tried.
type errSkip string

func (e errSkip) Error() string { return string(e) }

// Skip makes the error by which a Check says that it could not be tried.
func Skip(why string) error { return errSkip(why) }

// Verify tries every rule and then every case. It needs no testing.T. When ctx ends,
// what was not tried is skipped.
func Verify(ctx context.Context, cfg Config) []Result {
	if cfg.Timeout <= 0 {
		cfg.Timeout = time.Minute
	}
	s := newSession(ctx, cfg)
	defer s.close()
	var out []Result
	try := func(id, text, guide string, check func() error) {
		if cfg.Only != nil && !slices.Contains(cfg.Only, id) {
			return
		}
		r := Result{ID: id, Text: text, Verdict: Passed, Guide: guide}
		err := ctx.Err()
		if err == nil {
			err = check()
		}
		var skip errSkip
		switch {
		case errors.As(err, &skip) || ctx.Err() != nil:
			r.Verdict, r.Detail = Skipped, err.Error()
		case err != nil:
			r.Verdict, r.Detail = Failed, err.Error()
		}
		out = append(out, r)
		if cfg.Tried != nil {
			cfg.Tried(r)
		}
	}
	for _, rule := range Rules {
		try(rule.ID, rule.Text, rule.Guide(), func() error { return rule.Check(s) })
	}
	for i, c := range cfg.Cases {
		try("case "+c.Name, "the call ends as the author says", guide("cases"), func() error { return s.checkCase(i) })
	}
	return out
}

// Run tries every rule and case as a subtest.
func Run(t *testing.T, cfg Config) {
	t.Helper()
	for _, r := range Verify(t.Context(), cfg) {
		t.Run(r.ID, func(t *testing.T) {
			switch r.Verdict {
			case Failed:
				t.Errorf("%s: %s\n%s\n%s", r.ID, r.Text, r.Detail, r.Guide)
			case Skipped:
				t.Skipf("%s: %s", r.ID, r.Detail)
			}
		})
	}
}

// Both runs them in both ways: on a plugin inside the test, where the race detector sees it,
// and, but for -short, on the program of the package that is tested.
func Both(t *testing.T, info sdk.Info, part func() sdk.Part, cfg Config) {
	t.Helper()
	t.Run("in process", func(t *testing.T) {
		cfg := cfg
		cfg.Serve, cfg.Binary = Fresh(info, part), ""
		Run(t, cfg)
	})
	t.Run("binary", func(t *testing.T) {
		if testing.Short() {
			t.Skip("-short: only in process")
		}
		cfg := cfg
		cfg.Binary = Build(t, ".")
		Run(t, cfg)
	})
}

// Build builds the plugin in the package folder dir and gives the path of the binary,
// which lives as long as the test.
func Build(t testing.TB, dir string) string {
	t.Helper()
	abs, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), filepath.Base(abs))
	cmd := exec.Command("go", "build", "-o", out, ".")
	cmd.Dir = abs
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build in %s: %v\n%s", abs, err, text)
	}
	return out
}

// Fresh gives Config.Serve for a plugin that is written with the SDK: a new one each time.
func Fresh(info sdk.Info, part func() sdk.Part) func() (*grpc.Server, error) {
	return func() (*grpc.Server, error) { return sdk.NewServer(info, part()) }
}

// limits are the figures of the rules. The tests of this package shorten them.
type limits struct {
	info    time.Duration // B1
	silence time.Duration // S4
	cancel  time.Duration // S5
	close   time.Duration // P3, standard input
	grace   time.Duration // P3, Drain
	slack   time.Duration // for a slow machine, on top of each
	message int           // bytes of the largest message
}

var ruleLimits = limits{
	info: 2 * time.Second, silence: 15 * time.Second, cancel: 2 * time.Second, close: 2 * time.Second,
	grace: 3 * time.Second, slack: 2 * time.Second, message: sdk.MaxMessage - 1024,
}

// over reports whether d is longer than a limit, as an error.
func over(what string, d, limit, slack time.Duration) error {
	if d <= limit+slack {
		return nil
	}
	return fmt.Errorf("%s took %v; the limit is %v", what, d.Round(time.Millisecond), limit)
}
