package trust

import (
	"encoding/json"
	"strings"
	"time"
)

// Plugin is what a person agreed to of one plugin of a repository.
type Plugin struct {
	// Pin is its line in the lock file as it was then, byte for byte.
	Pin json.RawMessage `json:"pin"`
	// From is the file or folder of this machine that it was installed from; "" when
	// the pin says where its releases are.
	From string    `json:"from,omitempty"`
	At   time.Time `json:"at"`
}

// Plugin gives what was agreed to of a plugin of the repository at root; nil when
// nothing was.
func (s *Store) Plugin(root, name string) (*Plugin, error) {
	f, err := s.read()
	if err != nil {
		return nil, err
	}
	p, ok := f.Repositories[canonicalRoot(root)].Plugins[name]
	if !ok {
		return nil, nil
	}
	return &p, nil
}

// Raw is the pin, nil for no agreement.
func (p *Plugin) Raw() json.RawMessage {
	if p == nil {
		return nil
	}
	return p.Pin
}

// PluginPins are the pins of this name that were agreed to in any repository.
func (s *Store) PluginPins(name string) (pins []json.RawMessage, err error) {
	f, err := s.read()
	if err != nil {
		return nil, err
	}
	for _, e := range f.Repositories {
		if p, ok := e.Plugins[name]; ok {
			pins = append(pins, p.Pin)
		}
	}
	return pins, nil
}

// AgreePlugin remembers that a person agreed to this pin. An empty from leaves what is
// known of the place.
func (s *Store) AgreePlugin(root, name string, pin json.RawMessage, from string) error {
	_, err := s.change(func(f *file) bool {
		e := f.Repositories[canonicalRoot(root)]
		if e.Plugins == nil {
			e.Plugins = map[string]Plugin{}
		}
		if from == "" {
			from = e.Plugins[name].From
		}
		e.Plugins[name] = Plugin{Pin: pin, From: from, At: now()}
		f.Repositories[canonicalRoot(root)] = e
		return true
	})
	return err
}

// ForgetPlugin takes the agreement about one plugin back.
func (s *Store) ForgetPlugin(root, name string) error {
	_, err := s.change(func(f *file) bool {
		_, there := f.Repositories[canonicalRoot(root)].Plugins[name]
		delete(f.Repositories[canonicalRoot(root)].Plugins, name)
		return there
	})
	return err
}

// Digests are what the environment agrees to, by the variable [EnvName].
func Digests(getenv func(string) string) (out []string) {
	for given := range strings.SplitSeq(getenv(EnvName), ",") {
		if given = strings.TrimSpace(given); given != "" {
			out = append(out, given)
		}
	}
	return out
}

// Catalog gives the agreed pin of a plugin as package catalog asks for it.
func (s *Store) Catalog(root string) func(name string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		p, err := s.Plugin(root, name)
		if err != nil || p == nil {
			return nil, err
		}
		return p.Pin, nil
	}
}
