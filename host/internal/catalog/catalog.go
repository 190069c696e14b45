package catalog

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/launch"
	"github.com/paxiom/relay/judge"
)

// Kind is what a plugin offers.
type Kind string

// The kinds.
const (
	Provider Kind = "provider"
	Builder  Kind = "builder"
)

// State reports whether a plugin can be launched.
type State string

// The states. Only OK can be launched.
const (
	OK          State = "ok"
	HashDiffers State = "hash differs" // the file is not the one that was pinned
	Missing     State = "missing"      // pinned, but no such file
	NotLocked   State = "not locked"   // a file, but nothing pins it
	NotGranted  State = "not granted"  // pinned, but no person of this machine agreed to the pin
	Shadowed    State = "shadowed"     // built in, and the lock file pins another of that name
	Unreadable  State = "unreadable"   // its entry in the lock file can't be used
	Advised     State = "advisory"     // its publisher warns of this version
	Ignored     State = "ignored"      // can't be a plugin, or may not be executed
)

// EnvVar is a variable of relay's environment that a plugin gets.
type EnvVar struct {
	Name     string `json:"name"`               // of the variable
	Secret   bool   `json:"secret,omitempty"`   // masked in all output
	Required bool   `json:"required,omitempty"` // the plugin does not work without it
	Purpose  string `json:"purpose,omitempty"`  // what the plugin needs it for
}

// Entry is one plugin, or one file that is not one. Everything but State and Reason
// comes from the pin, not from the file.
type Entry struct {
	Name    string   `json:"name"` // of the plugin
	Aliases []string `json:"aliases,omitempty"`
	Kinds   []Kind   `json:"kinds,omitempty"`
	Version string   `json:"version,omitempty"`
	// Path is absolute; the file may be missing.
	Path string `json:"path"`
	// SHA256 is the pinned hash: 64 hexadecimal digits; "" when nothing pins it.
	SHA256 string `json:"sha256,omitempty"`
	// Source is "builtin/NAME", or what the lock file says; "" when nothing pins it.
	Source string `json:"source,omitempty"`
	State  State  `json:"state"`
	// Reason says why State is not OK, in one sentence.
	Reason   string   `json:"reason,omitempty"`
	Summary  string   `json:"summary,omitempty"`
	Env      []EnvVar `json:"env,omitempty"`
	Programs []string `json:"programs,omitempty"` // that it may start
	Hosts    []string `json:"hosts,omitempty"`    // that it may connect to
	Read     []string `json:"read,omitempty"`     // paths that it may read
	Write    []string `json:"write,omitempty"`    // paths that it may write
	// Pin is the plugin's line in the lock file; nil for one that came with relay. The
	// rights above are then what was granted, and it is held to them.
	Pin *Pin `json:"pin,omitempty"`
	// Protocol is the pinned version of the protocol; 0 for one that came with relay.
	Protocol int `json:"protocol,omitempty"`
	// Unpinned says how a developer brought a plugin that nothing pins, for this one
	// command; "" for all others.
	Unpinned string `json:"unpinned,omitempty"`
	// Attach is a process that waits for relay; it is not started, and has no file.
	Attach *launch.Attached `json:"-"`
	// Base is the folder below which every folder must be safe; "" for one beside relay.
	Base string `json:"-"`

	// Withdrawn says that its publisher has taken this version back, why, and what to type.
	Withdrawn string `json:"withdrawn,omitempty"`

	fix string // of a state that needs another than Reinstall gives
	// ConfigSchema is the JSON Schema of the plugin's configuration; nil when the
	// pin holds only its hash, SchemaSHA256.
	ConfigSchema json.RawMessage `json:"config_schema,omitempty"`
	SchemaSHA256 string          `json:"schema_sha256,omitempty"` // of its configuration's schema
}

// Is reports whether the plugin is of that kind.
func (e Entry) Is(k Kind) bool { return slices.Contains(e.Kinds, k) }

// Builtin reports whether the plugin was built together with relay.
func (e Entry) Builtin() bool { return strings.HasPrefix(e.Source, builtinSource) }

// Reinstall says how to get the right file, a command in backticks first.
func (e Entry) Reinstall() string {
	if e.fix != "" {
		return e.fix
	}
	if e.Builtin() {
		return reinstall
	}
	if e.Pin != nil && e.Pin.Version == "" { // nobody has pinned it yet
		return "`relay plugin list` shows what is installed; report it to the plugin's author"
	}
	if e.State == NotGranted {
		grant := "`relay plugin grant " + e.Name
		fix := grant + "` shows it and asks"
		if e.Pin != nil {
			fix += "; a script says all of it: " + grant + " --grant " + diag.Word(e.Pin.wish().Argument()) + "`"
		}
		return fix
	}
	return "`relay plugin install " + e.Name + "` puts back the file that relay.lock.json pins"
}

const (
	builtinSource = "builtin/"
	filePrefix    = "relay-plugin-"
	reinstall     = "`make install` in relay's source folder builds relay and its plugins together (`make build` does, for use in place)"
)

// NamePattern is what a plugin's name must match. It is checked before a name
// becomes part of a path.
const NamePattern = `^[a-z][a-z0-9-]{0,31}$`

var nameRE = regexp.MustCompile(NamePattern)

// ValidName reports whether a plugin may be called so.
func ValidName(name string) bool { return nameRE.MatchString(name) }

// aliases are names that users' configurations and tasks have for plugins of ours.
var aliases = map[string]string{
	"cursor":      "external",
	"claude_code": "claude-code",
	"anthropic":   "claude",
	"openai":      "codex",
	"google":      "gemini",
}

// Canonical gives the plugin name that a fixed alias means; any other name comes
// back as it is.
func Canonical(nameOrAlias string) string {
	if name, ok := aliases[nameOrAlias]; ok {
		return name
	}
	return nameOrAlias
}

// Options say where to look. The zero value is a relay outside a repository.
type Options struct {
	// Root is the folder of relay.lock.json, normally the repository's root; ""
	// means there is no lock file.
	Root string
	// Executable is the path of the relay binary; "" means the running one.
	Executable string
	// InstallDir holds the plugins that were installed; "" means
	// $XDG_DATA_HOME/relay/plugins.
	InstallDir string
	// CacheDir keeps hashes for List; "" means $XDG_CACHE_HOME/relay.
	CacheDir string
	// Agreed gives the pin that a person of this machine has agreed to for a plugin of
	// this repository, nil for none. Without it nothing is agreed to.
	Agreed func(name string) ([]byte, error)
	// Digests are pins that were agreed to otherwise: see [Pin.Digest].
	Digests []string
	// Manifest replaces the manifest that is linked in; for tests.
	Manifest string
}

// Catalog is what Load found. It is safe for concurrent use.
type Catalog struct {
	entries  []Entry // by name; built-in ones that are shadowed come last
	beside   []string
	cacheDir string
	bare     bool // built without a manifest
}

// Load reads the lock file and the manifest. It starts nothing and hashes nothing.
// A lock file that can't be read or is not valid is a *diag.Error.
func Load(o Options) (*Catalog, error) {
	if err := o.defaults(); err != nil {
		return nil, err
	}
	built, err := decodeManifest(o.Manifest)
	if err != nil {
		return nil, err
	}
	locked, err := ReadLock(o.Root)
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(o.Executable)
	c := &Catalog{beside: []string{dir, filepath.Join(filepath.Dir(dir), "libexec", "relay")}, cacheDir: o.CacheDir, bare: o.Manifest == ""}
	for _, name := range slices.Sorted(maps.Keys(locked.Plugins)) {
		c.entries = append(c.entries, c.lockedEntry(name, locked.Plugins[name], built, &o))
	}
	for name, bad := range locked.Unusable {
		c.entries = append(c.entries, Entry{Name: name, Source: LockFile, State: Unreadable, Reason: "its entry in relay.lock.json can't be used: " + format.Clip(bad.Err.Error(), 500),
			fix: "`relay plugin remove " + diag.Word(name) + "` takes the entry out, then install it again; `git log -p " + LockFile + "` shows who changed it"})
	}
	for _, e := range built {
		e.Path = c.besidePath(e.Name)
		e.Source = builtinSource + e.Name
		i := slices.IndexFunc(c.entries, func(l Entry) bool { return l.Name == e.Name })
		switch {
		case i < 0:
			c.check(&e)
		case c.entries[i].Builtin():
			continue // pinned by both; the lock's hash is the one that counts
		default:
			e.State, e.Reason = Shadowed, fmt.Sprintf("relay.lock.json pins %s from %s instead", e.Name, c.entries[i].Source)
		}
		c.entries = append(c.entries, e)
	}
	slices.SortStableFunc(c.entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(rank(a), rank(b)))
	})
	return c, nil
}

func rank(e Entry) int {
	if e.State == Shadowed {
		return 1
	}
	return 0
}

func (o *Options) defaults() error {
	o.Manifest = cmp.Or(o.Manifest, manifest)
	if o.Executable == "" {
		exe, err := os.Executable()
		if err != nil {
			return diag.Wrap(err, judge.BlockedPlugin, "relay can't find its own file", reinstall)
		}
		o.Executable = exe
	}
	// Through a symbolic link: the plugins lie beside the file itself.
	if real, err := filepath.EvalSymlinks(o.Executable); err == nil {
		o.Executable = real
	}
	if o.InstallDir == "" {
		o.InstallDir = DefaultInstallDir()
	}
	if o.CacheDir == "" {
		o.CacheDir = filepath.Join(xdg("XDG_CACHE_HOME", ".cache"), "relay")
	}
	return nil
}

// xdg gives a base folder; a relative one is not valid and counts as unset.
func xdg(name, fallback string) string {
	if dir := os.Getenv(name); filepath.IsAbs(dir) {
		return dir
	}
	home, _ := os.UserHomeDir()
	return filepath.Join(home, fallback)
}

// check sets the state as far as it can be known without reading the file.
func (c *Catalog) check(e *Entry) {
	if e.State != "" {
		return
	}
	if _, err := os.Lstat(e.Path); err != nil {
		e.State, e.Reason = Missing, fmt.Sprintf("there is no file %s", e.Path)
		return
	}
	if bad := launch.UnsafeFile(e.Path); bad != nil {
		e.State, e.Reason, e.fix = Ignored, fmt.Sprintf("%s %s", e.Path, bad.Why), bad.Fix
		return
	}
	if e.Base != "" {
		if bad := launch.UnsafeFolder(e.Base, e.Path); bad != nil {
			e.State, e.Reason, e.fix = Ignored, bad.Why, bad.Fix
			return
		}
	}
	e.State = OK
}

// Find gives the plugin that a name or alias means, for one kind. The file is there
// and pinned; its hash is compared at launch. Otherwise the error is a *diag.Error
// that says what to type.
func (c *Catalog) Find(nameOrAlias string, kind Kind) (Entry, error) {
	e, ok := c.lookup(nameOrAlias)
	switch {
	case !ok:
		return Entry{}, c.unknown(nameOrAlias, kind)
	case e.State != Unreadable && !e.Is(kind):
		return Entry{}, diag.New(judge.BlockedPlugin, fmt.Sprintf("plugin %s is not a %s", e.Name, kind),
			fmt.Sprintf("it is a %s; %s", join(e.Kinds), c.have(kind)), "`relay plugin list` shows what each plugin can do; then correct the configuration")
	case e.State != OK:
		return Entry{}, diag.New(judge.BlockedPlugin, fmt.Sprintf("plugin %s can't be started: %s", e.Name, e.State), e.Reason, e.Reinstall())
	}
	return e, nil
}

// Driving are the plugins that came with relay and drive a program of this name.
func (c *Catalog) Driving(program string) (found []Entry) {
	for _, e := range c.entries {
		if e.Builtin() && slices.Contains(e.Programs, program) {
			found = append(found, e)
		}
	}
	return found
}

// lookup takes names before aliases, relay's aliases before those of plugins, and
// built-in plugins' aliases before those of others: a lock file can't redirect a name.
func (c *Catalog) lookup(nameOrAlias string) (Entry, bool) {
	for _, name := range []string{nameOrAlias, Canonical(nameOrAlias)} {
		for _, e := range c.entries {
			if e.Name == name && e.State != Shadowed {
				return e, true
			}
		}
	}
	for _, builtin := range []bool{true, false} {
		for _, e := range c.entries {
			if e.Builtin() == builtin && e.State != Shadowed && slices.Contains(e.Aliases, nameOrAlias) {
				return e, true
			}
		}
	}
	return Entry{}, false
}

func (c *Catalog) unknown(name string, kind Kind) error {
	what := fmt.Sprintf("there is no plugin %q", name)
	switch {
	case Canonical(name) == name && !ValidName(name):
		return diag.New(judge.BlockedPlugin, what, "a plugin's name has lower-case letters, digits and dashes, at most 32, a letter first",
			"`relay plugin list` shows the names; then correct the configuration")
	case c.bare && len(c.entries) == 0:
		return c.Alone(what)
	}
	return diag.New(judge.BlockedPlugin, what, c.have(kind), "`relay plugin list` shows what there is; then correct the configuration")
}

// Alone says that relay was built without its plugins, and how to get both; nil when it
// was not.
func (c *Catalog) Alone(what string) *diag.Error {
	if !c.bare {
		return nil
	}
	return diag.New(judge.BlockedPlugin, what, "this relay was built without its plugins: `go install` and `go build` make one program, and relay starts only plugins that it knows",
		reinstall+"; so does the archive of a release: see docs/guides/install.md")
}

func (c *Catalog) have(kind Kind) string {
	names := c.Names(kind)
	if len(names) == 0 {
		return fmt.Sprintf("no %s is installed", kind)
	}
	return fmt.Sprintf("the %ss are %s", kind, strings.Join(names, ", "))
}

// Names gives the names of all plugins of a kind that can be launched, sorted;
// aliases are not among them.
func (c *Catalog) Names(kind Kind) []string {
	var names []string
	for _, e := range c.entries {
		if e.State == OK && e.Is(kind) {
			names = append(names, e.Name)
		}
	}
	return names
}

func join(kinds []Kind) string {
	var s []string
	for _, k := range kinds {
		s = append(s, string(k))
	}
	return strings.Join(s, " and a ")
}
