package plugins

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/pluginhost"
	"github.com/paxiom/relay/host/internal/trust"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/sdk/pluginpb"
	"github.com/paxiom/relay/sdk/plugintest"
)

// DriverOptions say which driver of the builder external is tried.
type DriverOptions struct {
	Command string // a path, or a name along PATH
	Args    []string
	// Limit is the time of one run; 0 is five minutes.
	Limit time.Duration
	// Options are as for [Open].
	Options  host.Options
	Observer host.Observer
}

// The rules of a driver. docs/plugin-authors/external-driver.md has the same list.
const (
	driverEnds   = "D1"
	driverResult = "D2"
	driverScope  = "D3"
	driverOutput = "D4"
	driverTerm   = "D5"
)

var driverRules = []struct{ id, text string }{
	{driverEnds, "It ends on its own, in time, with exit code 0."},
	{driverResult, "Each run writes its own result to RELAY_OUTPUT_PATH: one JSON object that fits RELAY_SCHEMA_PATH, at most 1 MiB."},
	{driverScope, "It changes only files that the task's scope allows."},
	{driverOutput, "It prints less than box.limits.output_mb."},
	{driverTerm, "After SIGTERM, it ends within 3 s, with everything that it started."},
}

// driverGuide explains them.
const driverGuide = "https://github.com/paxiom/relay/blob/main/docs/plugin-authors/external-driver.md#try-it"

// TryDriver judges a driver by what relay does with it: it builds in real ticks, each in
// a repository made for it, in the box of this machine. A driver that asks a paid model
// does so three times.
func TryDriver(ctx context.Context, o DriverOptions) (*Rules, error) {
	if o.Limit <= 0 {
		o.Limit = 5 * time.Minute
	}
	command, err := driverPath(o.Command)
	if err != nil {
		return nil, err
	}
	trial := driverTrial{o: o, command: command, failed: map[string]string{}, skipped: map[string]string{}}
	for _, result := range []string{"", "RESULT.json"} { // a private file; one in the work tree where an old one lies
		run, err := trial.run(ctx, result, o.Limit, 0)
		if err != nil {
			return nil, err
		}
		if trial.hold(run); len(trial.failed) > 0 {
			break
		}
	}
	if trial.died {
		trial.skipped[driverTerm] = "it ended before it was asked to"
		return trial.verdicts(), nil
	}
	run, err := trial.run(ctx, "", o.Limit, time.Second)
	if err != nil {
		return nil, err
	}
	trial.asked(run)
	return trial.verdicts(), nil
}

// driverPath is the driver as a configuration would name it from anywhere.
func driverPath(command string) (string, error) {
	path := command
	var err error
	if strings.ContainsRune(command, filepath.Separator) {
		path, err = filepath.Abs(command)
	}
	if err == nil {
		path, err = exec.LookPath(path)
	}
	if err != nil {
		return "", diag.Wrap(err, judge.BlockedPlugin, "the driver "+command+" can't be started", "`chmod +x "+diag.Word(command)+"`, if it is the right file; or name a program that is in PATH")
	}
	return path, nil
}

// driverTrial collects what several runs of one driver say about it.
type driverTrial struct {
	o       DriverOptions
	command string
	// Why a rule was broken, or could not be tried; the first reason counts.
	failed, skipped map[string]string
	died            bool // it failed before its time was over
}

// driverRun is one run: its report, and what the builder said about the result.
type driverRun struct {
	*host.Report
	about string
}

func (r driverRun) reason() string {
	if r.Builder == nil {
		return ""
	}
	return r.Builder.FailureReason
}

// invalid says why the result is none.
func (r driverRun) invalid() string {
	if r.about != "" {
		return r.about
	}
	for _, n := range r.Notes {
		if why, ok := strings.CutPrefix(n, "the builder's output is not valid: "); ok {
			return why
		}
	}
	return "it is not what RELAY_SCHEMA_PATH asks for"
}

func because(m map[string]string, rule, why string) {
	if m[rule] == "" {
		m[rule] = why
	}
}

// hold tries the rules on a run that was left alone.
func (t *driverTrial) hold(r driverRun) {
	switch {
	case r.Code == judge.StopBuilderTimeout, r.reason() == string(pluginhost.Cancelled):
		because(t.failed, driverEnds, fmt.Sprintf("it was ended after %v", t.o.Limit))
	case r.reason() == pluginpb.Failure_REASON_LIMIT_REACHED.String():
		t.died = true
		because(t.failed, driverOutput, r.Builder.FailureDetail)
	case r.reason() != "":
		t.died = true
		because(t.failed, driverEnds, r.Builder.FailureDetail)
	case r.BuilderOutputValid != nil && !*r.BuilderOutputValid:
		because(t.failed, driverResult, r.invalid())
	}
	if !r.Scope.OK && len(r.Scope.Violations) > 0 {
		because(t.failed, driverScope, strings.Join(r.Scope.Violations, "; "))
	}
}

// asked looks at the run in which the driver was asked to end soon.
func (t *driverTrial) asked(r driverRun) {
	switch {
	case r.reason() != pluginpb.Failure_REASON_TIMEOUT.String():
		t.skipped[driverTerm] = "it ended before it was asked to, a second after its start"
	case r.Builder.UpstreamCode == "SIGKILL":
		t.failed[driverTerm] = r.Builder.FailureDetail
	}
}

func (t *driverTrial) verdicts() *Rules {
	res := &Rules{Doc: host.DocOf("relay.plugin.rules", 1), Plugin: t.o.Command}
	if why := t.failed[driverEnds] + t.failed[driverOutput]; why != "" && t.failed[driverResult] == "" {
		t.skipped[driverResult] = "it did not end well"
	}
	for _, rule := range driverRules {
		r := plugintest.Result{ID: rule.id, Text: rule.text, Verdict: plugintest.Passed, Guide: driverGuide}
		if why := t.failed[rule.id]; why != "" {
			r.Verdict, r.Detail = plugintest.Failed, why
		} else if why := t.skipped[rule.id]; why != "" {
			r.Verdict, r.Detail = plugintest.Skipped, why
		}
		res.Rules = append(res.Rules, r)
	}
	return res
}

// run makes one tick with the driver. What kept it from being tried at all is the error.
func (t *driverTrial) run(ctx context.Context, result string, limit, ask time.Duration) (driverRun, error) {
	var out driverRun
	dir, err := os.MkdirTemp("", "relay-driver-")
	if err != nil {
		return out, diag.Internal(err)
	}
	defer os.RemoveAll(dir)
	root := filepath.Join(dir, "repo")
	if err := makeYard(ctx, root, t.config(result, limit, ask)); err != nil {
		return out, err
	}
	o := t.o.Options
	if o.Env == nil {
		o.Env = os.Environ()
	}
	o.Env = append(slices.Clone(o.Env), "XDG_STATE_HOME="+filepath.Join(dir, "state"))
	repo, err := host.Open(root, o)
	if err != nil {
		return out, err
	}
	defer repo.Close()
	opened, err := repo.Open()
	if err != nil {
		return out, err
	}
	digest, items := trust.Needed(opened.Loaded)
	if err := repo.TrustStore().Add(root, digest, items); err != nil {
		return out, err
	}
	watch := host.ObserverFunc(func(e host.Event) {
		if why, ok := strings.CutPrefix(e.Text, "the driver's result can't be used: "); ok && e.Kind == host.EventPlugin {
			out.about = why
		}
		if t.o.Observer != nil {
			t.o.Observer.Observe(e)
		}
	})
	res, err := repo.Run(ctx, host.RunOptions{Task: []byte(yardTask), Observer: watch})
	switch {
	case err != nil:
		return out, err
	case ctx.Err() != nil:
		return out, ctx.Err()
	case res.Blocked != nil:
		b := res.Blocked
		return out, diag.New(res.Report.Code, "the driver could not be tried: "+res.Report.Summary, b.Why, b.Next)
	}
	out.Report = res.Report
	return out, nil
}

// config is the configuration of a run. When relay is to ask for the end after a while,
// the plugin does it, which can tell how the driver took it.
func (t *driverTrial) config(result string, limit, ask time.Duration) map[string]any {
	seconds := max(1, int(limit/time.Second))
	external := map[string]any{"command": t.command, "args": append([]string{}, t.o.Args...), "timeout_seconds": seconds}
	if result != "" {
		external["output_file"] = result
	}
	c := map[string]any{
		"version": "1.0",
		"runner":  map[string]any{"max_tick_seconds": seconds + 300},
		"builder": map[string]any{"default_mode": "external", "external": external, "claude_code": map[string]any{"strict_builder_json": false}},
	}
	if ask > 0 {
		c["plugins"] = map[string]any{"external": map[string]any{"timeout_seconds": int(ask / time.Second)}}
		external["timeout_seconds"] = int(ask/time.Second) + 60 // relay's own limit, which comes later
	}
	return c
}

// yardTask is what the driver is asked to do.
const yardTask = `{
  "task_id": "driver", "milestone_id": "driver", "task_kind": "execute", "intent": "Append one line of your own to hello.txt",
  "scope": {"allowed_globs": ["hello.txt"], "forbidden_globs": [], "allow_new_files": true, "allow_lockfile_changes": false},
  "diff_limits": {"max_files_touched": 3, "max_lines_changed": 100},
  "verification": {"fast": [], "slow": []},
  "builder": {"mode": "external", "max_turns": 4, "instructions": "Append one line to hello.txt. Change no other file."}
}`

// makeYard makes a repository for one run. In it lies the result of an earlier run.
func makeYard(ctx context.Context, root string, config map[string]any) error {
	raw, err := json.MarshalIndent(config, "", "  ")
	if err == nil {
		err = os.Mkdir(root, 0o755)
	}
	old := time.Now().Add(-48 * time.Hour)
	for name, text := range map[string]string{
		"hello.txt":         "hello\n",
		"relay.config.json": string(raw) + "\n",
		"RESULT.json":       `{"summary": "what an earlier run did", "files_intended": [], "commands_ran": [], "notes": []}` + "\n",
	} {
		if err == nil {
			err = os.WriteFile(filepath.Join(root, name), []byte(text), 0o644)
		}
		if err == nil {
			err = os.Chtimes(filepath.Join(root, name), old, old)
		}
	}
	if err != nil {
		return diag.Internal(err)
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"},
		{"config", "user.name", "relay"},
		{"config", "user.email", "relay@localhost"},
		{"config", "commit.gpgsign", "false"},
		{"add", "-A"},
		{"-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "A repository for trying a driver"},
	} {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			return diag.New(judge.BlockedMissingConfig, "a repository to try the driver in can't be created", fmt.Sprintf("git %s: %v %s", args[0], err, out), "`git --version`: relay needs git 2.39 or newer")
		}
	}
	return nil
}
