package host

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/history"
	"github.com/paxiom/relay/host/internal/lock"
	"github.com/paxiom/relay/host/internal/trust"
	"github.com/paxiom/relay/host/internal/workspace"
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
			return nil, diag.Wrap(err, judge.BlockedPlugin, "relay can't find its own program file", "call relay by its full path: `command -v relay`")
		}
		o.Executable = exe
	}
	dir = cmp.Or(dir, ".")
	r := &Repo{Dir: dir, Options: o}
	r.unpinned = sync.OnceValues(r.bringAll)
	return r, nil
}

// Root is the root of the work tree, "" outside a repository.
func (r *Repo) Root() string {
	root, err := workspace.FindRoot(r.Dir)
	if err != nil {
		return ""
	}
	return root
}

// Getenv reads the environment that relay was called with; the last entry wins, as
// it does for a process.
func (r *Repo) Getenv(name string) string {
	value := ""
	for _, kv := range r.Options.Env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v
		}
	}
	return value
}

// Home is the user's home, where builders find their own logins.
func (r *Repo) Home() string {
	if h := r.Getenv("HOME"); h != "" {
		return h
	}
	h, _ := os.UserHomeDir()
	return h
}

// StateDir holds what belongs to the machine: trust, box layers.
func (r *Repo) StateDir() string {
	return r.xdg("XDG_STATE_HOME", ".local", "state")
}

// xdg is relay's folder of one kind: where the variable says, or at its usual place in
// the home; "" where there is neither.
func (r *Repo) xdg(name string, usual ...string) string {
	if d := r.Getenv(name); filepath.IsAbs(d) {
		return filepath.Join(d, "relay")
	}
	if home := r.Home(); filepath.IsAbs(home) {
		return filepath.Join(home, filepath.Join(usual...), "relay")
	}
	return ""
}

// private are relay's own folders on this machine.
func (r *Repo) private() []string {
	return []string{r.StateDir(), r.DataDir(), r.xdg("XDG_CONFIG_HOME", ".config"), r.xdg("XDG_CACHE_HOME", ".cache")}
}

// Outside refuses folders of relay's own that others can write, and those that a variable puts into
// the repository, where a clone and every builder write: what lies there is believed. A home may be
// or lie in a work tree.
func (r *Repo) Outside(root string) error {
	if slices.Contains(r.private(), "") {
		return diag.New(judge.BlockedMissingConfig, "relay has no folder of its own", "HOME names no folder, nor does this machine's list of users for you", "`export HOME=/some/folder`")
	}
	if err := workspace.Own(r.private()...); err != nil {
		return err
	}
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
	if root == "" || within(r.Home()) {
		return nil
	}
	for _, name := range []string{"XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"} {
		if dir := r.Getenv(name); filepath.IsAbs(dir) && within(dir) {
			return diag.New(judge.BlockedMissingConfig, name+" leads into the repository",
				dir+" is where relay would keep what it believes, and anyone who can change the repository could write it", "`unset "+name+"`, or name a folder outside of the repository")
		}
	}
	return nil
}

func (r *Repo) Catalog(root string) (*catalog.Catalog, error) {
	if err := r.Outside(root); err != nil {
		return nil, err
	}
	c, err := catalog.Load(catalog.Options{Root: root, Executable: r.Options.Executable,
		Agreed: r.TrustStore().Catalog(root), Digests: trust.Digests(r.Getenv)})
	if err != nil {
		return nil, err
	}
	brought, err := r.unpinned()
	for _, e := range brought {
		c.Put(e)
	}
	return c, err
}

func (r *Repo) TrustStore() *trust.Store { return trust.Open(r.StateDir()) }

func (r *Repo) LoadConfig(root string) (*config.Loaded, error) {
	if err := r.Outside(root); err != nil {
		return nil, err
	}
	set, err := r.settings()
	if err != nil {
		return nil, err
	}
	return config.Load(config.Options{Root: root, Env: r.Options.Env, Set: set})
}

// Opened is a repository with its configuration and workspace.
type Opened struct {
	Root     string
	Loaded   *config.Loaded
	WS       *workspace.Workspace
	History  *history.Store
	StateDir string // what belongs to the machine

	Broken *diag.Error // why the configuration can't be read, for those who look
}

// Open finds the root, loads the configuration and names the workspace. It starts no
// process and writes nothing.
func (r *Repo) Open() (*Opened, error) {
	root, err := workspace.FindRoot(r.Dir)
	if err != nil {
		return nil, err
	}
	loaded, err := r.LoadConfig(root)
	if err != nil {
		return nil, err
	}
	ws, err := workspace.Open(root, loaded.Config.WorkspaceDir)
	if err != nil {
		return nil, err
	}
	ws.Claim(r.private()...)
	return &Opened{Root: root, Loaded: loaded, WS: ws, History: history.Open(ws.History()), StateDir: r.StateDir()}, nil
}

// Look opens the repository for commands that show what is there or end what runs: they work
// under a configuration that can't be read, too, once something has run here. Then the
// built-in values stand for it, and broken says why.
func (r *Repo) Look() (*Opened, error) {
	o, err := r.Open()
	if err == nil {
		return o, nil
	}
	root, none := workspace.FindRoot(r.Dir)
	if none != nil || r.Outside(root) != nil {
		return nil, err
	}
	ws, none := workspace.OpenLast(root)
	if none != nil || !ws.Used() {
		return nil, err
	}
	ws.Claim(r.private()...)
	return &Opened{Root: root, Loaded: &config.Loaded{Root: root, Config: config.Default()}, WS: ws, History: history.Open(ws.History()),
		StateDir: r.StateDir(), Broken: BlockedConfig(err)}, nil
}

// BlockedConfig fills an error's missing code: whatever keeps a repository from being
// opened is a configuration that can't be used.
func BlockedConfig(err error) *diag.Error {
	f := diag.Internal(err)
	f.Code = cmp.Or(f.Code, judge.BlockedMissingConfig)
	return f
}

// Lock takes the workspace's lock for a command.
func (o *Opened) Lock(command string) (release func() error, err error) {
	if err := o.WS.Ensure(); err != nil {
		return nil, err
	}
	l, _, err := lock.Acquire(o.WS.Lock(), command)
	if err != nil {
		return nil, err
	}
	return func() error {
		err := l.Release()
		_ = o.WS.Publish() // old copies harm nothing
		return err
	}, nil
}

// DataDir holds what is large and can be made again: the work trees of cycles.
func (r *Repo) DataDir() string {
	return r.xdg("XDG_DATA_HOME", ".local", "share")
}

// ServiceOptions say where services are loaded from.
func (r *Repo) ServiceOptions(root string) config.Options {
	return config.Options{Root: root, Env: r.Options.Env}
}

// Scratch returns the path of a file in relay's state for what relay writes anew each time,
// and makes its folder.
func (r *Repo) Scratch(name string) (string, error) {
	o, err := r.Open()
	if err != nil {
		return "", err
	}
	if err := o.WS.Ensure(); err != nil {
		return "", err
	}
	at := filepath.Join(o.WS.Dir(), filepath.FromSlash(name))
	return at, o.WS.MkdirAll(filepath.Dir(at))
}
