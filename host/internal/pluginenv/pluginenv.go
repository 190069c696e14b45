package pluginenv

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/confine"
	"github.com/paxiom/relay/host/internal/keys"
	"github.com/paxiom/relay/host/internal/launch"
	"github.com/paxiom/relay/host/internal/netproxy"
	"github.com/paxiom/relay/host/internal/pluginhost"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/judge/git"
)

// Env is where the plugins of one run work.
type Env struct {
	Catalog *catalog.Catalog
	Config  *config.Config
	// Root is the work tree that the plugins see. Repo, "" for Root, is the repository
	// whose private state they keep, whatever work tree of it they see.
	Root, Repo string
	// Kept, where it is set, is what providers see at Root, and which the vendors' programs
	// may read by default. Means is overlay then.
	Kept *box.Kept
	// StateDir is relay's state on this machine, Home the user's home.
	StateDir, Home string
	// Means contains the plugins: see package box; "" chooses.
	Means   string
	Version string
	RunID   string
	// StderrDir gets a file for each plugin's standard error; "" throws it away.
	StderrDir string
	Now       func() time.Time // nil means time.Now
	// Refused, which may be nil, is told of each host that a plugin wanted and that is
	// not listed.
	Refused func(netproxy.Refusal)
	// Heard, which may be nil, is told of all that a plugin was refused, when it has ended.
	Heard func(report.Network)
}

// Plugin is one plugin of a run. Nothing is started before Lazy.Get or Lazy.Warm.
type Plugin struct {
	Entry  catalog.Entry
	Lazy   *pluginhost.Lazy // nil until it is given a place, and after Finish and Close
	Worker *report.Worker   // its part in the run; several calls at a time add to it
	Plan   *confine.Plan    // what its box may use besides files
	Box    *box.Box         // that a provider lives in; nil for a builder, whose box is the change's

	hidden  []box.Bind // files that no box of it may show
	shown   []box.Bind // the login of its own vendor
	part    sync.Mutex // of what Worker points to
	words   redirect   // what the process writes its standard error to
	cleanup []func()
	closing sync.WaitGroup
	left    int // processes that it left behind
}

// Find names the plugin and prepares its folders; nothing is started.
func (e Env) Find(name string, kind catalog.Kind) (*Plugin, pluginhost.Spec, error) {
	entry, err := e.Catalog.Find(name, kind)
	if err != nil {
		return nil, pluginhost.Spec{}, err
	}
	conf, err := e.settings(entry)
	if err != nil {
		return nil, pluginhost.Spec{}, err
	}
	role := confine.Provider
	if kind == catalog.Builder {
		role = confine.Builder
	}
	plan, err := confine.ForPlugin(e.Config.Box, role, entry, e.needs(entry, kind, conf), e.Root, e.Home, e.Refused)
	if err != nil {
		return nil, pluginhost.Spec{}, err
	}
	sockets, remove, err := launch.NewSocketDir()
	if err != nil {
		return nil, pluginhost.Spec{}, diag.Wrap(err, judge.BlockedPlugin, "relay can't make a folder for plugins' sockets", "`ls -ld /tmp /tmp/relay-*` shows who owns them")
	}
	var tools []string
	if kind == catalog.Builder {
		tools = launch.Toolchains()
	}
	p := &Plugin{Entry: entry, Plan: plan, cleanup: []func(){remove, func() { plan.Tell(e.Heard) }}}
	p.newPart()
	spec := pluginhost.Spec{Entry: entry, Config: conf, RunID: e.RunID, HostVersion: e.Version, SocketDir: sockets, Dir: e.Root, Env: tools, OutputLimit: plan.Output(),
		EnvFile: keys.EnvFile{Root: e.repo(), Path: e.Config.EnvFile}, Trespass: plan.Trespass, Secrets: e.secrets, Known: e.inRepository}
	if entry.Pin != nil && kind == catalog.Provider && !slices.Contains(slices.Concat(entry.Read, entry.Write), ".") {
		spec.Dir = "" // it may not look at the repository
	}
	p.shown = logins(e.Config, e.Home, entry, conf)
	err = e.giveState(&spec, kind)
	spec.StderrPath = p.wordsTo(e.StderrDir)
	if lends, files := pluginhost.Lends(conf); lends && err == nil {
		spec.Broker, err = e.broker(p, files)
	}
	spec.Stderr = &p.words
	if err == nil {
		err = p.openLog(&spec)
	}
	if err != nil {
		p.Close(context.Background())
		return nil, spec, err
	}
	return p, spec, nil
}

// newPart begins the plugin's part in a run.
func (p *Plugin) newPart() {
	p.Worker = &report.Worker{Plugin: p.Entry.Name, Version: p.Entry.Version, Unpinned: p.Entry.Unpinned}
}

func (e Env) repo() string { return cmp.Or(e.Repo, e.Root) }

// Provider names a provider and makes its box, which may read the work tree and write
// nothing but the plugin's own state.
func (e Env) Provider(name string, git *git.Repo) (*Plugin, error) {
	return e.Reader(name, catalog.Provider, git)
}

// Reader is Provider for a plugin of either kind: a builder in such a box can say how
// it is, and build nothing.
func (e Env) Reader(name string, kind catalog.Kind, git *git.Repo) (*Plugin, error) {
	if e.Means == "" {
		var err error
		if e.Means, err = Means(context.Background(), e.Config, e.StateDir, e.Root); err != nil {
			return nil, err
		}
	}
	p, spec, err := e.Find(name, kind)
	if err != nil {
		return nil, err
	}
	binds := p.Binds(e, spec)
	if spec.StateDir != "" {
		binds = append(binds, box.Bind{Path: spec.StateDir, Writable: true})
	}
	p.Box, err = box.New(box.Spec{Means: e.Means, Root: e.Root, Home: e.Home, StateDir: e.StateDir, ReadOnlyRoot: true,
		GitDirs: git.Outside(), Kept: e.Kept, Persist: Persist(e.Config, e.Home), Binds: binds, Hide: Hide(e.Config, e.Home)})
	if err != nil {
		p.Close(context.Background())
		return nil, BoxFault(err)
	}
	spec.Start = InBox(p.Box, p.Plan)
	p.Lazy = pluginhost.NewLazy(spec)
	return p, nil
}

// Binds are what the box of the plugin shows besides its work tree: the folder of its
// sockets, and what it was granted to read and write.
func (p *Plugin) Binds(e Env, spec pluginhost.Spec) []box.Bind {
	return slices.Concat([]box.Bind{{Path: spec.SocketDir, Writable: true, Counted: true}}, e.granted(p.Entry), p.shown, p.hidden)
}

// settings makes the block that a plugin is configured with: the sections that
// the seeds gave names to, and on top of them the plugin's own block.
func (e Env) settings(entry catalog.Entry) ([]byte, error) {
	cfg, name := e.Config, entry.Name
	block := map[string]any{}
	set := func(key string, v any, use bool) {
		if use {
			block[key] = v
		}
	}
	// The orchestrator's provider knows its model before it is asked: by which way the
	// model is reached can depend on it.
	switch planner := catalog.Canonical(cfg.Orchestrator.Provider); planner {
	case "claude", "codex", "gemini":
		set("model", cfg.Models.OrchestratorModel, planner == name && cfg.Models.OrchestratorModel != "")
	}
	switch name {
	case "claude", "codex", "gemini":
		set("tools", "auto", e.Kept != nil && entry.Pin == nil)
	}
	switch name {
	case "claude":
		set("command", cfg.ClaudeCLI.Command, cfg.ClaudeCLI.Command != "")
	case "claude-code":
		c := cfg.Builder.ClaudeCode
		set("command", cfg.ClaudeCLI.Command, cfg.ClaudeCLI.Command != "")
		set("permission_mode", c.PermissionMode, c.PermissionMode != "")
		set("allowed_tools", c.AllowedTools, c.AllowedTools != "")
		set("max_turns", c.MaxTurns, c.MaxTurns > 0)
		set("max_budget_usd", c.MaxBudgetUSD, c.MaxBudgetUSD > 0)
	case "external":
		if e := cfg.Builder.External; e != nil {
			set("command", e.Command, true)
			set("args", e.Args, len(e.Args) > 0)
			set("timeout_seconds", e.TimeoutSeconds, e.TimeoutSeconds > 0)
			set("output_file", e.OutputFile, e.OutputFile != "")
		}
	}
	own := map[string]any{}
	for key, raw := range cfg.Plugins {
		if catalog.Canonical(key) != name {
			continue
		}
		if err := json.Unmarshal(raw, &own); err != nil {
			return nil, diag.Wrap(err, judge.BlockedMissingConfig, "the settings of the plugin "+name+" can't be read", "`relay config show plugins`")
		}
	}
	for k, v := range own {
		block[k] = v
	}
	return json.Marshal(block)
}

// giveState makes a provider's private folder for this repository, kept between runs.
// A builder gets none: whatever its model's shell wrote there would outlive the box.
func (e Env) giveState(spec *pluginhost.Spec, kind catalog.Kind) error {
	if kind == catalog.Builder {
		return nil
	}
	sum := sha256.Sum256([]byte(e.repo()))
	spec.StateDir = filepath.Join(e.StateDir, "plugins", spec.Entry.Name, hex.EncodeToString(sum[:8]))
	if err := os.MkdirAll(spec.StateDir, 0o700); err != nil {
		return diag.Wrap(err, judge.BlockedPlugin, "the plugin "+spec.Entry.Name+" can't be given a folder for its state", "`ls -ld "+e.StateDir+"`")
	}
	return nil
}

// Close ends the plugin and everything that it started. When ctx has ended already
// it gets next to no time for that.
func (p *Plugin) Close(ctx context.Context) {
	p.closing.Wait()
	if p.Lazy != nil {
		p.left += p.Lazy.Close(ctx)
		p.Lazy = nil
	}
	p.Worker.ProcessesLeft += p.left
	p.left = 0
	for _, f := range p.cleanup {
		f()
	}
	p.cleanup = nil
	p.words.to("")
}

// Finish ends the plugin in the background: its part is done. Close waits for it.
func (p *Plugin) Finish(ctx context.Context) {
	lazy := p.Lazy
	if lazy == nil {
		return
	}
	p.Lazy = nil
	p.closing.Go(func() { p.left += lazy.Close(ctx) })
}
