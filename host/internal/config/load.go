package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/beneath"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
)

// Layer is where a value came from. Higher layers win.
type Layer string

// The layers, lowest first.
const (
	LayerBuiltin Layer = "built-in"
	LayerUser    Layer = "user"
	LayerRepo    Layer = "repository"
	LayerEnv     Layer = "environment"
	LayerFlag    Layer = "flag"
)

// Origin is where one value came from.
type Origin struct {
	Layer Layer  `json:"layer"`
	File  string `json:"file,omitempty"` // of a file layer; relative to the root for the repository's
	Line  int    `json:"line,omitempty"`
	Name  string `json:"name,omitempty"` // RELAY_… or the flag
	// Note says that the value is not the one asked for, for example because the
	// user's own configuration is stricter.
	Note string `json:"note,omitempty"`
}

// Loaded is a configuration and where it came from.
type Loaded struct {
	Config *Config
	Root   string // of the repository
	File   string // the repository's configuration file, absolute; "" when there is none
	// Legacy: File is a relais.config.json.
	Legacy bool
	// Notices are one-line remarks for the person, for example about a value that
	// the user's own configuration made stricter.
	Notices []string

	checkDirs []string

	tree *node // all layers
	user *node // the user's own file, nil without one
	repo *node // the repository's own, nil without one
}

// Options say what to load.
type Options struct {
	Root    string   // of the repository
	UserDir string   // "" means $XDG_CONFIG_HOME/relay
	Env     []string // as os.Environ; only RELAY_* are read
	Set     []string // key=value of --set, lowest first
	// AllowMissing: a repository without a file is no error.
	AllowMissing bool
}

// FileNames are the names a repository's configuration can have, first found wins.
func FileNames() []string { return workspace.ConfigNames() }

// Load finds, layers, checks and decodes. Every error is a *diag.Error with
// BLOCKED_MISSING_CONFIG that names file, line, key and what was expected.
func Load(o Options) (*Loaded, error) {
	l := &Loaded{Root: o.Root}
	var err error
	if l.user, err = l.userLayer(o); err != nil {
		return nil, err
	}
	if l.repo, err = l.repoLayer(o); err != nil {
		return nil, err
	}
	all := newLayers(builtin())
	all.over(l.user)
	if l.repo != nil {
		bounded, err := l.narrow(l.user, l.repo)
		if err != nil {
			return nil, err
		}
		all.over(withOwnHidden(bounded, l.user))
	}
	if err := namedByUser(o.Env); err != nil {
		return nil, err
	}
	l.misspelt(o.Env)
	if env := envLayer(table, o.Env); env != nil {
		if p := inspect(env); len(p) > 0 {
			return nil, badInput("the environment", p)
		}
		all.over(env)
	}
	for _, s := range o.Set {
		n, err := setLayerOf("--set", s, table, specs, listKeys+"; write --set key=value")
		if err != nil {
			return nil, err
		}
		all.set(n)
	}
	l.tree = all.tree()
	if err := l.finish(); err != nil {
		return nil, err
	}
	return l, nil
}

// Default is the built-in configuration.
func Default() *Config {
	l := &Loaded{tree: builtin()}
	if err := l.finish(); err != nil {
		panic("config: the built-in configuration is refused: " + err.Error())
	}
	return l.Config
}

// builtin is the lowest layer, from the table.
func builtin() *node { return builtinOf(table) }

func builtinOf(keys []*key) *node {
	n := newMap(Origin{Layer: LayerBuiltin})
	for _, k := range keys {
		if !k.top() || k.def == nil {
			continue
		}
		v := fromPlain(k.def, n.at)
		if _, isMap := k.def.(map[string]any); isMap {
			v = newMap(n.at)
		}
		n.set(v, strings.Split(k.path, ".")...)
	}
	return n
}

// userNames are the names of the user's own file, first found wins.
var userNames = []string{"config.json", "config.yaml", "config.yml", "config.toml"}

func (l *Loaded) userLayer(o Options) (*node, error) {
	dir := o.UserDir
	if dir == "" {
		dir = UserDir(o.Env)
	}
	if dir == "" {
		return nil, nil
	}
	path, b, err := l.first(dir, userNames)
	if err != nil {
		return nil, err
	}
	// A home may be or lie in a work tree; a variable that leads into one makes a clone's file the user's.
	if home := getenv(o.Env, "HOME"); path != "" && o.Root != "" && inside(o.Root, path) && !inside(o.Root, home) {
		return nil, diag.New(judge.BlockedMissingConfig, "the user's configuration is in the repository",
			path+" is what XDG_CONFIG_HOME leads to, and anyone who can change the repository would speak as you", "`unset XDG_CONFIG_HOME`, or name a folder outside of the repository")
	}
	if err := workspace.Own(dir, path); err != nil {
		return nil, err
	}
	var user *node
	if path != "" {
		if user, err = readLayer(path, path, b, LayerUser); err != nil {
			return nil, err
		}
	}
	return l.ownChecks(dir, user)
}

// inside reports whether a path, as it stands or with its links resolved, is root or lies below it.
func inside(root, path string) bool {
	lies := func(root, path string) bool {
		rel, err := filepath.Rel(root, path)
		return err == nil && filepath.IsLocal(rel)
	}
	realRoot, err := filepath.EvalSymlinks(root)
	real, err2 := filepath.EvalSymlinks(path)
	return lies(root, path) || err == nil && err2 == nil && lies(realRoot, real)
}

// Own is what the user's own configuration says about who works.
type Own struct {
	Provider, Builder string // "" where it names none
	Models            bool   // it names models
	Network           bool   // it says what boxes may reach
}

// OfUser reads it.
func OfUser(o Options) (own Own, err error) {
	user, err := new(Loaded).userLayer(o)
	if err != nil || user == nil {
		return own, err
	}
	own.Provider = user.lookup("orchestrator", "provider").text()
	own.Builder = user.lookup("builder", "default_mode").text()
	own.Models = user.lookup("models") != nil
	own.Network = user.lookup("box", "network") != nil
	return own, nil
}

// UserDir is relay's folder for the user's own configuration, "" when the
// environment names no home.
func UserDir(env []string) string {
	if d := getenv(env, "XDG_CONFIG_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "relay")
	}
	if h := getenv(env, "HOME"); filepath.IsAbs(h) {
		return filepath.Join(h, ".config", "relay")
	}
	return ""
}

func getenv(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- { // the last one holds, as in os.Environ
		if v, ok := strings.CutPrefix(env[i], name+"="); ok {
			return v
		}
	}
	return ""
}

func (l *Loaded) repoLayer(o Options) (*node, error) {
	path, b, err := l.first(o.Root, FileNames())
	if err != nil {
		return nil, err
	}
	if path == "" {
		if o.AllowMissing {
			return nil, nil
		}
		return nil, missing(o.Root, FileNames())
	}
	l.File, l.Legacy = path, filepath.Base(path) == "relais.config.json"
	shown := path
	if rel, err := filepath.Rel(o.Root, path); err == nil && filepath.IsLocal(rel) {
		shown = rel
	}
	return readLayer(path, shown, b, LayerRepo)
}

// first reads the first of the names that is there; a second one is worth a notice.
func (l *Loaded) first(dir string, names []string) (path string, b []byte, err error) {
	for _, name := range names {
		p := filepath.Join(dir, name)
		if path != "" {
			if _, err := os.Lstat(p); err == nil {
				l.Notices = append(l.Notices, fmt.Sprintf("%s is not read, since %s is there", p, filepath.Base(path)))
			}
			continue
		}
		text, err := l.readIn(dir, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", nil, &diag.Error{Code: judge.BlockedMissingConfig, What: p + " can't be read", Why: reason(err), Fix: "`ls -l " + diag.Word(p) + "`, then make it a readable file", Err: err}
		}
		path, b = p, text
	}
	return path, b, nil
}

// readIn reads a file of the repository, or one of the user's own, which may be a link.
func (l *Loaded) readIn(dir, name string) ([]byte, error) {
	if dir != l.Root || !filepath.IsLocal(name) {
		return beneath.ReadPlain(filepath.Join(dir, name), maxFileBytes)
	}
	return beneath.ReadFile(dir, name, maxFileBytes)
}

func reason(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	return err.Error()
}

func readLayer(path, shown string, b []byte, layer Layer) (*node, error) {
	return readLayerAs(path, shown, b, layer, table, specs)
}

func readLayerAs(path, shown string, b []byte, layer Layer, keys []*key, root *spec) (*node, error) {
	n, err := parse(path, b, Origin{Layer: layer, File: shown})
	if err != nil {
		line := 0
		if se, ok := errors.AsType[*syntaxError](err); ok {
			line = se.line
		}
		return nil, &diag.Error{Code: judge.BlockedMissingConfig, What: shown + " can't be read as configuration", Why: err.Error(), Fix: edit(path, line), Err: err}
	}
	if p := inspectAs(n, keys, root); len(p) > 0 {
		f := badInput(shown, p)
		f.Fix = edit(path, p[0].at.Line)
		return nil, f
	}
	return n, nil
}

// badInput makes one error of all that is wrong in one place, the first few named.
func badInput(where string, p []problem) *diag.Error {
	var texts []string
	for i, x := range p {
		if i == 5 {
			texts = append(texts, fmt.Sprintf("and %d more", len(p)-i))
			break
		}
		texts = append(texts, x.String())
	}
	return diag.New(judge.BlockedMissingConfig, where+" is refused as configuration", strings.Join(texts, "; "), "`relay config show --origin` lists the keys and where each is set")
}

func edit(path string, line int) string {
	fix := "`${EDITOR:-vi} " + diag.Word(path) + "`"
	if line > 0 {
		fix += fmt.Sprintf(" and look at line %d", line)
	}
	return fix
}

// missing is the error for a repository without configuration; a file whose name
// is nearly right is the likely cause.
func missing(dir string, names []string) error {
	why := "none of " + strings.Join(names, ", ") + " is in " + dir
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		n := strings.ToLower(e.Name())
		if strings.HasPrefix(strings.TrimLeft(n, "."), "relay.") || strings.HasPrefix(n, "relais.") || strings.HasPrefix(strings.TrimLeft(n, "."), "relayrc") {
			why += "; " + printable(e.Name()) + " is not read under that name"
			break
		}
	}
	fix := "`relay init` writes one"
	if len(names) == 1 {
		fix = "`ls " + diag.Word(dir) + "`, then name a file that is there"
	}
	return diag.New(judge.BlockedMissingConfig, "this repository has no configuration for relay", why, fix)
}

// finish checks what concerns several keys, puts the workspace into the defaults,
// and decodes.
func (l *Loaded) finish() error {
	if err := l.rules(); err != nil {
		return err
	}
	b, err := json.Marshal(l.tree.plain())
	if err != nil {
		return diag.Internal(err)
	}
	l.Config = &Config{}
	if err := json.Unmarshal(b, l.Config); err != nil {
		return diag.Internal(err)
	}
	l.Config.Verification.CheckDirs = l.checkDirs
	if l.Root != "" {
		l.Config.Verification.findPrograms(l.Root)
	}
	if l.Config.Builder.External == nil { // the two names of one section
		l.Config.Builder.External = l.Config.Builder.Cursor
	}
	return nil
}
