package host

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/history"
	"github.com/paxiom/relay/host/internal/trust"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/tick"
	"github.com/paxiom/relay/judge"
)

// Open names the repository that dir lies in; "" is the current folder.
func Open(dir string, o Options) (*Repo, error) {
	if o.Env == nil {
		o.Env = os.Environ()
	}
	if o.Executable == "" {
		exe, err := os.Executable()
		if err != nil {
			return nil, fault.Wrap(err, judge.BlockedPlugin, "relay can't find its own program file", "call relay by its full path: `command -v relay`")
		}
		o.Executable = exe
	}
	if dir == "" {
		dir = "."
	}
	r := &Repo{dir: dir, opts: o}
	r.unpinned = sync.OnceValues(r.bringAll)
	return r, nil
}

// Root is the root of the work tree, "" outside a repository.
func (r *Repo) Root() string {
	root, err := workspace.FindRoot(r.dir)
	if err != nil {
		return ""
	}
	return root
}

// getenv reads the environment that relay was called with; the last entry wins, as
// it does for a process.
func (r *Repo) getenv(name string) string {
	value := ""
	for _, kv := range r.opts.Env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v
		}
	}
	return value
}

// home is the user's home, where builders find their own logins.
func (r *Repo) home() string {
	if h := r.getenv("HOME"); h != "" {
		return h
	}
	h, _ := os.UserHomeDir()
	return h
}

// stateDir holds what belongs to the machine: trust, box layers.
func (r *Repo) stateDir() string {
	return r.xdg("XDG_STATE_HOME", ".local", "state")
}

// xdg is relay's folder of one kind: where the variable says, or at its usual place in
// the home.
func (r *Repo) xdg(name string, usual ...string) string {
	if d := r.getenv(name); filepath.IsAbs(d) {
		return filepath.Join(d, "relay")
	}
	return filepath.Join(r.home(), filepath.Join(usual...), "relay")
}

// private are relay's own folders on this machine.
func (r *Repo) private() []string {
	return []string{r.stateDir(), r.dataDir(), r.xdg("XDG_CONFIG_HOME", ".config"), r.xdg("XDG_CACHE_HOME", ".cache")}
}

// outside refuses folders of relay's own that a variable puts into the repository, where a clone
// and every builder write: what lies there is believed. A home may be or lie in a work tree.
func (r *Repo) outside(root string) error {
	real := func(path string) string {
		for at, rest := path, ""; ; at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest) {
			if found, err := filepath.EvalSymlinks(at); err == nil {
				return filepath.Join(found, rest)
			}
			if at == filepath.Dir(at) {
				return path
			}
		}
	}
	within := func(path string) bool {
		rel, err := filepath.Rel(root, real(path))
		return err == nil && filepath.IsLocal(rel)
	}
	if root == "" || within(r.home()) {
		return nil
	}
	for _, name := range []string{"XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"} {
		if dir := r.getenv(name); filepath.IsAbs(dir) && within(dir) {
			return fault.New(judge.BlockedMissingConfig, name+" leads into the repository",
				dir+" is where relay would keep what it believes, and whoever can change the repository could write it", "`unset "+name+"`, or name a folder outside of the repository")
		}
	}
	return nil
}

func (r *Repo) catalog(root string) (*catalog.Catalog, error) {
	if err := r.outside(root); err != nil {
		return nil, err
	}
	c, err := catalog.Load(catalog.Options{Root: root, Executable: r.opts.Executable,
		Agreed: r.trust().Catalog(root), Digests: trust.Digests(r.getenv)})
	if err != nil {
		return nil, err
	}
	brought, err := r.unpinned()
	for _, e := range brought {
		c.Put(e)
	}
	return c, err
}

func (r *Repo) trust() *trust.Store { return trust.Open(r.stateDir()) }

func (r *Repo) loadConfig(root string) (*config.Loaded, error) {
	if err := r.outside(root); err != nil {
		return nil, err
	}
	set, err := r.settings()
	if err != nil {
		return nil, err
	}
	return config.Load(config.Options{Root: root, File: r.opts.ConfigFile, Env: r.opts.Env, Set: set})
}

// opened is a repository with its configuration and workspace.
type opened struct {
	root   string
	loaded *config.Loaded
	ws     *workspace.Workspace
	hist   *history.Store
	state  string // what belongs to the machine

	broken *fault.Fault // why the configuration can't be read, for those who look
}

// open finds the root, loads the configuration and names the workspace. It starts no
// process and writes nothing.
func (r *Repo) open() (*opened, error) {
	root, err := workspace.FindRoot(r.dir)
	if err != nil {
		return nil, err
	}
	loaded, err := r.loadConfig(root)
	if err != nil {
		return nil, err
	}
	ws, err := workspace.Open(root, loaded.Config.WorkspaceDir)
	if err != nil {
		return nil, err
	}
	ws.Claim(r.private()...)
	return &opened{root: root, loaded: loaded, ws: ws, hist: history.Open(ws.History()), state: r.stateDir()}, nil
}

// look opens the repository for commands that show what is there or end what runs: they work
// under a configuration that can't be read, too, once something has run here. Then the
// built-in values stand for it, and broken says why.
func (r *Repo) look() (*opened, error) {
	o, err := r.open()
	if err == nil {
		return o, nil
	}
	root, none := workspace.FindRoot(r.dir)
	if none != nil || r.outside(root) != nil {
		return nil, err
	}
	ws, none := workspace.OpenLast(root)
	if none != nil || !ws.Used() {
		return nil, err
	}
	ws.Claim(r.private()...)
	return &opened{root: root, loaded: &config.Loaded{Root: root, Config: config.Default()}, ws: ws, hist: history.Open(ws.History()),
		state: r.stateDir(), broken: blockedConfig(err)}, nil
}

// tickEnv gathers what ticks need. What is missing is left for the preflight, which
// reports it in its own order.
func (r *Repo) tickEnv(obs Observer) (*tick.Env, error) {
	env := &tick.Env{Dir: r.dir, Trust: r.trust(), StateDir: r.stateDir(), Private: r.private(), Home: r.home(),
		Environ: r.opts.Env, Version: r.opts.Version, Observer: obs}
	if r.opts.Clock != nil {
		env.Now = r.opts.Clock.Now
	}
	env.Root, env.LoadErr = workspace.FindRoot(r.dir)
	if env.LoadErr == nil {
		env.Loaded, env.LoadErr = r.loadConfig(env.Root)
	}
	if env.LoadErr == nil {
		env.Observer = r.watched("tick", env.Loaded.Config, obs)
	}
	var err error
	env.Catalog, err = r.catalog(env.Root)
	env.Ready = r.readiness(env)
	return env, err
}

// readiness serves the commands that report whether a tick could start; a tick asks its own plugins.
func (r *Repo) readiness(env *tick.Env) func(ctx context.Context, planner, builder string) error {
	return func(ctx context.Context, planner, builder string) error {
		team := []member{{"builder", builder, catalog.Builder, env.Loaded.Config.Models.BuilderModel}}
		if planner != "" {
			team = append(team, member{"orchestrator", planner, catalog.Provider, env.Loaded.Config.Models.OrchestratorModel})
		}
		return r.ready(ctx, env.Loaded, env.Catalog, team)
	}
}

// blockedConfig fills a fault's missing code: whatever keeps a repository from being
// opened is a configuration that can't be used.
func blockedConfig(err error) *fault.Fault {
	f := fault.Internal(err)
	if f.Code == "" {
		f.Code = judge.BlockedMissingConfig
	}
	return f
}
