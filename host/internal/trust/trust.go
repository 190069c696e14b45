package trust

import (
	"github.com/paxiom/relay/host/internal/config"
)

// Item is one thing of a repository's configuration that needs the person's yes.
type Item struct {
	Key   string `json:"key"`   // for example verification.templates[0]
	Value string `json:"value"` // canonical JSON
	Why   string `json:"why"`   // what it can do
	File  string `json:"file"`
	Line  int    `json:"line,omitempty"`
}

// Needed gives what the repository's own configuration files set that names a
// command, a driver or a plugin or widens rights, and the digest over all of it.
// The digest is "" when there is nothing to trust.
func Needed(l *config.Loaded) (digest string, items []Item) { panic("todo") }

// Store is the person's memory: trust.json in the user's state folder.
type Store struct{}

// Open names the store in stateDir ("" means $XDG_STATE_HOME/relay).
func Open(stateDir string) *Store { panic("todo") }

// IsTrusted says whether the digest was trusted for the repository at root.
func (s *Store) IsTrusted(root, digest string) (bool, error) { panic("todo") }

// Add trusts the digest for the repository at root.
func (s *Store) Add(root, digest string) error { panic("todo") }

// Remove forgets the repository at root; it says whether there was something.
func (s *Store) Remove(root string) (bool, error) { panic("todo") }

// Check is the whole rule: nothing needed, or RELAY_TRUST equals the digest, or the
// store knows it. Otherwise the fault is BLOCKED_UNTRUSTED_CONFIG.
func (s *Store) Check(l *config.Loaded, getenv func(string) string) error { panic("todo") }
