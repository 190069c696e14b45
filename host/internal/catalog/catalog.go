package catalog

// Kind is what a plugin offers.
type Kind string

// The kinds.
const (
	Provider Kind = "provider"
	Builder  Kind = "builder"
)

// State says whether a plugin can be launched.
type State string

// The states. Only OK can be launched.
const (
	OK          State = "ok"
	HashDiffers State = "hash differs" // the file is not the one that was pinned
	Missing     State = "missing"      // pinned, but no such file
	NotLocked   State = "not locked"   // a file, but nothing pins it
	Ignored     State = "ignored"      // can't be a plugin; Reason says why
)

// EnvVar is a variable of relay's environment that a plugin gets.
type EnvVar struct {
	Name     string `json:"name"`
	Secret   bool   `json:"secret,omitempty"`
	Required bool   `json:"required,omitempty"`
	Purpose  string `json:"purpose,omitempty"`
}

// Entry is one plugin, or one file that is not one. Everything but State and Reason
// comes from the pin, not from the file.
type Entry struct {
	Name    string   `json:"name"`
	Aliases []string `json:"aliases,omitempty"`
	Kinds   []Kind   `json:"kinds,omitempty"`
	Version string   `json:"version,omitempty"`
	// Path is absolute; the file may be missing.
	Path string `json:"path"`
	// SHA256 is the pinned hash: 64 hexadecimal digits; "" when nothing pins it.
	SHA256 string `json:"sha256,omitempty"`
	// Source is "builtin/NAME", or what the lock file says.
	Source string `json:"source,omitempty"`
	State  State  `json:"state"`
	// Reason says why State is not OK, in one sentence.
	Reason       string   `json:"reason,omitempty"`
	Summary      string   `json:"summary,omitempty"`
	Env          []EnvVar `json:"env,omitempty"`
	Programs     []string `json:"programs,omitempty"`
	Hosts        []string `json:"hosts,omitempty"`
	ConfigSchema []byte   `json:"config_schema,omitempty"`
}

// Is says whether the plugin is of that kind.
func (e Entry) Is(k Kind) bool {
	for _, have := range e.Kinds {
		if have == k {
			return true
		}
	}
	return false
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
	// Manifest replaces the manifest that is linked in; for tests.
	Manifest string
}

// Catalog is what Load found.
type Catalog struct {
	entries []Entry
}

// Load reads the lock file and the manifest. It starts nothing and hashes nothing.
// A lock file that can't be read or is not valid is a *fault.Fault.
func Load(o Options) (*Catalog, error) { return &Catalog{}, nil }

// Find gives the plugin that a name or alias means, for one kind. The file is there
// and pinned; its hash is compared at launch. Otherwise the error is a *fault.Fault
// that says what to type.
func (c *Catalog) Find(nameOrAlias string, kind Kind) (Entry, error) { return Entry{}, nil }

// List gives all plugins in the order of their names, and after them every file
// beside them that is not one, each with its state. It starts nothing; hashes come
// from a cache when the file has not changed.
func (c *Catalog) List() []Entry { return c.entries }

// Names gives the names of all plugins of a kind that can be launched, sorted;
// aliases are not among them.
func (c *Catalog) Names(kind Kind) []string { return nil }

// Canonical gives the plugin name that a name or alias means; an unknown one comes
// back as it is.
func Canonical(nameOrAlias string) string { return nameOrAlias }
