package tick

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/launch"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/pluginhost"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/sdk/pluginpb"
)

// plugin is one plugin of the run with all that it needs to live in a box.
type plugin struct {
	entry   catalog.Entry
	lazy    *pluginhost.Lazy
	worker  *report.Worker
	stderr  *os.File
	cleanup []func()

	closing sync.WaitGroup
	left    int // processes that it left behind
}

// pluginConfig makes the block that a plugin is configured with: the sections that
// the seeds gave names to, and on top of them the plugin's own block.
func (r *run) pluginConfig(name string) ([]byte, error) {
	block := map[string]any{}
	set := func(key string, v any, use bool) {
		if use {
			block[key] = v
		}
	}
	switch name {
	case "claude":
		set("command", r.cfg.ClaudeCLI.Command, r.cfg.ClaudeCLI.Command != "")
	case "claude-code":
		c := r.cfg.Builder.ClaudeCode
		set("command", r.cfg.ClaudeCLI.Command, r.cfg.ClaudeCLI.Command != "")
		set("permission_mode", c.PermissionMode, c.PermissionMode != "")
		set("allowed_tools", c.AllowedTools, c.AllowedTools != "")
		set("max_turns", c.MaxTurns, c.MaxTurns > 0)
		set("max_budget_usd", c.MaxBudgetUSD, c.MaxBudgetUSD > 0)
	case "external":
		if e := r.cfg.Builder.External; e != nil {
			set("command", e.Command, true)
			set("args", e.Args, len(e.Args) > 0)
			set("timeout_seconds", e.TimeoutSeconds, e.TimeoutSeconds > 0)
			set("output_file", e.OutputFile, e.OutputFile != "")
		}
	}
	own := map[string]any{}
	for key, raw := range r.cfg.Plugins {
		if catalog.Canonical(key) != name {
			continue
		}
		if err := json.Unmarshal(raw, &own); err != nil {
			return nil, fault.Wrap(err, judge.BlockedMissingConfig, "the settings of the plugin "+name+" can't be read", "`relay config show plugins`")
		}
	}
	for k, v := range own {
		block[k] = v
	}
	return json.Marshal(block)
}

// findPlugin names the plugin and prepares its folders; nothing is started.
func (r *run) findPlugin(name string, kind catalog.Kind) (*plugin, pluginhost.Spec, error) {
	entry, err := r.env.Catalog.Find(name, kind)
	if err != nil {
		return nil, pluginhost.Spec{}, err
	}
	conf, err := r.pluginConfig(entry.Name)
	if err != nil {
		return nil, pluginhost.Spec{}, err
	}
	sockets, remove, err := launch.NewSocketDir()
	if err != nil {
		return nil, pluginhost.Spec{}, fault.Wrap(err, judge.BlockedPlugin, "there is no place for the sockets of plugins", "`ls -ld /tmp /tmp/relay-*` shows who owns them")
	}
	p := &plugin{entry: entry, cleanup: []func(){remove}, worker: &report.Worker{Plugin: entry.Name, Version: entry.Version}}
	spec := pluginhost.Spec{Entry: entry, Config: conf, RunID: r.rep.RunID, HostVersion: r.env.Version, SocketDir: sockets}
	if err := r.giveState(&spec, kind); err != nil {
		p.close(context.Background())
		return nil, spec, err
	}
	if err := p.openStderr(r, &spec); err != nil {
		p.close(context.Background())
		return nil, spec, err
	}
	return p, spec, nil
}

// giveState makes a provider's private folder for this repository, kept between runs.
// A builder gets none: whatever its model's shell wrote there would outlive the box.
func (r *run) giveState(spec *pluginhost.Spec, kind catalog.Kind) error {
	if kind == catalog.Builder {
		return nil
	}
	sum := sha256.Sum256([]byte(r.env.Root))
	spec.StateDir = filepath.Join(r.env.StateDir, "plugins", spec.Entry.Name, hex.EncodeToString(sum[:8]))
	if err := os.MkdirAll(spec.StateDir, 0o700); err != nil {
		return fault.Wrap(err, judge.BlockedPlugin, "the plugin "+spec.Entry.Name+" gets no folder for its state", "`ls -ld "+r.env.StateDir+"`")
	}
	return nil
}

// binds are the real folders that a plugin in a box may write.
func binds(spec pluginhost.Spec) []box.Bind {
	all := []box.Bind{{Path: spec.SocketDir, Writable: true}}
	if spec.StateDir != "" {
		all = append(all, box.Bind{Path: spec.StateDir, Writable: true})
	}
	return all
}

// openStderr gives the plugin's standard error a file in the history.
func (p *plugin) openStderr(r *run, spec *pluginhost.Spec) error {
	dir := filepath.Join(r.hist.Dir(), "plugins")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return internal(err)
	}
	path := filepath.Join(dir, p.entry.Name+".stderr")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return internal(err)
	}
	p.stderr, spec.Stderr, spec.StderrPath = f, f, path
	return nil
}

// close ends the plugin and everything that it started. When ctx has ended already
// it gets next to no time for that.
func (p *plugin) close(ctx context.Context) {
	p.closing.Wait()
	if p.lazy != nil {
		p.left += p.lazy.Close(ctx)
		p.lazy = nil
	}
	p.worker.ProcessesLeft += p.left
	p.left = 0
	for _, f := range p.cleanup {
		f()
	}
	p.cleanup = nil
	if p.stderr != nil {
		p.stderr.Close()
		if fi, err := os.Stat(p.stderr.Name()); err == nil && fi.Size() == 0 {
			os.Remove(p.stderr.Name())
		}
		p.stderr = nil
	}
}

// finish ends the plugin in the background: its part is done. close waits for it.
func (p *plugin) finish(ctx context.Context) {
	lazy := p.lazy
	if lazy == nil {
		return
	}
	p.lazy = nil
	p.closing.Go(func() { p.left += lazy.Close(ctx) })
}

// warmProvider starts the orchestrator's plugin while the preflight goes on.
func (r *run) warmProvider(ctx context.Context) error {
	p, spec, err := r.findPlugin(r.cfg.Orchestrator.Provider, catalog.Provider)
	if err != nil {
		return err
	}
	b, err := box.New(box.Spec{Root: r.env.Root, Home: r.env.Home, StateDir: r.env.StateDir, ReadOnlyRoot: true,
		GitDirs: r.git.Outside(), Persist: r.persist(), Binds: binds(spec)})
	if err != nil {
		p.close(context.Background())
		return boxFault(err)
	}
	spec.Start, spec.Dir = inBox(b), r.env.Root
	p.lazy = pluginhost.NewLazy(spec)
	p.lazy.Warm(ctx)
	r.provider = p
	r.rep.Box = &report.BoxReport{Means: b.Means(), Gaps: b.Gaps()}
	return nil
}

// boxVariable tells a plugin by which means the box around it is made. A tool with a
// sandbox of its own, which can't be made inside ours, may leave it off then.
const boxVariable = "RELAY_BOX"

// inBox starts a plugin as the direct child of a box.
func inBox(b *box.Box) launch.Starter {
	return func(s launch.StartSpec) (launch.Process, error) {
		env := append(s.Env[:len(s.Env):len(s.Env)], boxVariable+"="+b.Means())
		p, err := b.Start(box.Proc{Exe: s.Exe, Argv: s.Argv, Env: env, Dir: s.Dir, Stdin: s.Stdin, Stdout: s.Stdout, Stderr: s.Stderr})
		if err != nil {
			return nil, boxFault(err)
		}
		return boxed{p}, nil
	}
}

// boxed is a box's process as the launcher sees one.
type boxed struct{ *box.Process }

// Wait gives the direct child's end as an error, nil for status 0.
func (b boxed) Wait() error {
	st, err := b.Process.Wait()
	switch {
	case err != nil:
		return err
	case st.OK():
		return nil
	case st.Signal != 0:
		return fmt.Errorf("signal: %s", st.Signal)
	case st.Killed:
		return fmt.Errorf("killed")
	}
	return fmt.Errorf("exit status %d", st.Code)
}

// spend settles a call's reservation and adds what it used to the run.
func (r *run) spend(res *ledger.Reservation, w *report.Worker, model string, u *pluginpb.Usage, outcome string) error {
	use := ledger.Usage{Model: model, Outcome: outcome}
	if u != nil {
		use.InputTokens, use.OutputTokens = u.InputTokens, u.OutputTokens
		use.CacheReadTokens, use.CacheWriteTokens, use.ReasoningTokens = u.CacheReadTokens, u.CacheWriteTokens, u.ReasoningTokens
		use.CostUSD, use.CostIsEstimate = dollars(u.CostMicrousd), u.Estimated
	}
	w.Calls++
	if model != "" {
		w.Model = model
	}
	add(&w.InputTokens, use.InputTokens)
	add(&w.OutputTokens, use.OutputTokens)
	add(&w.CostUSD, use.CostUSD)
	add(&r.used.InputTokens, use.InputTokens)
	add(&r.used.OutputTokens, use.OutputTokens)
	add(&r.used.CostUSD, use.CostUSD)
	r.observe(progress.Event{Kind: progress.Spent})
	return res.Settle(use)
}

// bought is what a failed call used: nothing when the plugin says that nothing was
// charged, otherwise what it reports, which may be unknown.
func bought(f *pluginhost.Failure) *pluginpb.Usage {
	if f.Effect != pluginpb.Failure_EFFECT_NONE || f.Usage.GetCostMicrousd() != 0 {
		return f.Usage
	}
	return &pluginpb.Usage{InputTokens: proto.Int64(0), OutputTokens: proto.Int64(0), CostMicrousd: proto.Int64(0)}
}

// add sums what is known; a sum of unknowns stays unknown.
func add[T int64 | float64](sum **T, v *T) {
	if v == nil {
		return
	}
	total := *v
	if *sum != nil {
		total += **sum
	}
	*sum = &total
}

func dollars(micro *int64) *float64 {
	if micro == nil {
		return nil
	}
	usd := float64(*micro) / 1e6
	return &usd
}

// explain copies what a failure says about itself into the report.
func explain(w *report.Worker, f *pluginhost.Failure) {
	w.FailureReason = string(f.Cause)
	if f.Cause == pluginhost.Reported {
		w.FailureReason = f.Reason.String()
	}
	w.FailureDetail, w.UpstreamRequest = f.Summary, f.UpstreamRequestID
	if f.Detail != "" {
		w.FailureDetail += ": " + f.Detail
	}
	if !f.ResetAt.IsZero() {
		w.ResetAt = f.ResetAt.UTC().Format(time.RFC3339)
	}
}
