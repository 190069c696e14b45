package config

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

// Value is one leaf of the configuration for config show.
type Value struct {
	Key    string `json:"key"`
	Value  any    `json:"value"`
	Origin Origin `json:"origin"`
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
}

// Options say what to load.
type Options struct {
	Root    string   // of the repository
	File    string   // explicit file instead of looking at Root; relative to Root
	UserDir string   // "" means $XDG_CONFIG_HOME/relay
	Env     []string // as os.Environ; only RELAY_* are read
	Set     []string // key=value of --set, lowest first
	// AllowMissing: a repository without a file is no fault.
	AllowMissing bool
}

// Load finds, layers, checks and decodes. Every error is a *fault.Fault with
// BLOCKED_MISSING_CONFIG that names file, line, key and what was expected.
func Load(o Options) (*Loaded, error) { panic("todo") }

// Default is the built-in configuration.
func Default() *Config { panic("todo") }

// Origin says where the value at a dotted key came from.
func (l *Loaded) Origin(key string) Origin { panic("todo") }

// Values are all values in the order of the reference.
func (l *Loaded) Values() []Value { panic("todo") }

// FileNames are the names a repository's configuration can have, first found wins.
func FileNames() []string {
	return []string{"relay.config.json", "relay.config.yaml", "relay.config.yml", "relay.config.toml", "relais.config.json"}
}
