package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/store"
	"github.com/paxiom/relay/host/internal/strictjson"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
)

// EnvName is the variable by which CI says yes: one or more digests, separated by
// commas.
const EnvName = "RELAY_TRUST"

// Item is one thing of a repository's configuration that needs the person's yes.
type Item struct {
	Key   string `json:"key"`   // for example verification.templates[0]
	Value string `json:"value"` // canonical JSON
	Why   string `json:"why"`   // what it can do
	File  string `json:"file"`
	Line  int    `json:"line,omitempty"`
}

// Needed gives what the repository's own configuration file sets that names a
// command, a driver or a plugin or widens rights, and the digest over all of it.
// The digest is "" when there is nothing to trust. It is the same for the same
// settings in whatever file, format and order they are written, the order of lists
// aside.
func Needed(l *config.Loaded) (digest string, items []Item) { return needed(l.Grants(), brought(l)) }

// NeededByFiles gives only what files of the repository beside its configuration bring.
func NeededByFiles(l *config.Loaded) []Item { return brought(l) }

// NeededByService gives the same for what the files of a service set.
func NeededByService(l *config.LoadedService) (digest string, items []Item) {
	return needed(l.Grants(), nil)
}

func needed(grants []config.Grant, more []Item) (digest string, items []Item) {
	for _, g := range grants {
		items = append(items, Item{g.Key, g.Value, g.Why, g.File, g.Line})
	}
	items = append(items, more...)
	if len(items) == 0 {
		return "", nil
	}
	h := sha256.New()
	h.Write([]byte("relay trust 1\n"))
	for _, i := range items {
		// Lengths keep one item's text from running into the next one's.
		fmt.Fprintf(h, "%d %s %d %s\n", len(i.Key), i.Key, len(i.Value), i.Value)
	}
	return hex.EncodeToString(h.Sum(nil)), items
}

// Store is the person's memory: trust.json in the user's state folder.
type Store struct{ dir string }

// file is trust.json. A root has one digest: what was trusted last.
type file struct {
	SchemaVersion int              `json:"schema_version"` // 1
	Repositories  map[string]entry `json:"repositories"`   // by root
}

type entry struct {
	Digest string    `json:"digest"`
	At     time.Time `json:"at"`
	// Agreed is what the digest is of, so that the next question can show what changed.
	Agreed []Agreed `json:"agreed,omitempty"`
	// Ceiling is what was added for good to the ceiling of the repository that Of is the
	// identity of: another one may be at its path by now.
	Ceiling Widening `json:"ceiling,omitzero"`
	Of      string   `json:"of,omitempty"`
	// Plugins are the pins of its lock file that were agreed to, by name.
	Plugins map[string]Plugin `json:"plugins,omitempty"`
}

// Open names the store in stateDir, relay's folder for what belongs to the machine.
func Open(stateDir string) *Store { return &Store{stateDir} }

// Path is the store's file.
func (s *Store) Path() string { return filepath.Join(s.dir, "trust.json") }

// IsTrusted reports whether the digest was trusted for the repository at root.
func (s *Store) IsTrusted(root, digest string) (bool, error) {
	f, err := s.read()
	if err != nil {
		return false, err
	}
	return digest != "" && f.Repositories[canonicalRoot(root)].Digest == digest, nil
}

// Agreed is one [Item] that was agreed to.
type Agreed struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Change is what became of one item since a person last agreed: Was is "" of a new one,
// Now of one that is gone.
type Change struct {
	Key string `json:"key"`
	Was string `json:"was,omitempty"` // empty for a new item
	Now string `json:"now,omitempty"` // empty for one that is gone
	Why string `json:"why,omitempty"`
}

// place is an item's key whatever its place in a list.
func place(key string) string { return listIndex.ReplaceAllString(key, "[]") }

var listIndex = regexp.MustCompile(`\[[0-9]+\]`)

// Changes compares items with what was last agreed to for the repository at root; known
// reports whether something was. What only moved within a list did not change.
func (s *Store) Changes(root string, items []Item) (changes []Change, known bool, err error) {
	f, err := s.read()
	if err != nil {
		return nil, false, err
	}
	before := slices.Clone(f.Repositories[canonicalRoot(root)].Agreed)
	known = len(before) > 0
	var fresh []Item
	for _, it := range items {
		same := func(a Agreed) bool { return place(a.Key) == place(it.Key) && a.Value == it.Value }
		if i := slices.IndexFunc(before, same); i >= 0 {
			before = slices.Delete(before, i, i+1)
		} else {
			fresh = append(fresh, it)
		}
	}
	for _, it := range fresh {
		c := Change{Key: it.Key, Now: it.Value, Why: it.Why}
		if i := slices.IndexFunc(before, func(a Agreed) bool { return a.Key == it.Key }); i >= 0 {
			c.Was = before[i].Value
			before = slices.Delete(before, i, i+1)
		}
		changes = append(changes, c)
	}
	for _, a := range before {
		changes = append(changes, Change{Key: a.Key, Was: a.Value})
	}
	return changes, known, nil
}

// Add trusts the digest of these items for the repository at root, in place of an earlier
// one.
func (s *Store) Add(root, digest string, items []Item) error {
	if b, err := hex.DecodeString(digest); err != nil || len(b) != sha256.Size {
		return fmt.Errorf("trust: %q is not a digest", digest)
	}
	_, err := s.change(func(f *file) bool {
		e := f.Repositories[canonicalRoot(root)]
		e.Digest, e.At, e.Agreed = digest, now(), nil
		for _, it := range items {
			e.Agreed = append(e.Agreed, Agreed{it.Key, it.Value})
		}
		f.Repositories[canonicalRoot(root)] = e
		return true
	})
	return err
}

func now() time.Time { return time.Now().UTC().Truncate(time.Second) }

// Remove forgets the repository at root; it reports whether there was something.
func (s *Store) Remove(root string) (bool, error) {
	return s.change(func(f *file) bool {
		_, there := f.Repositories[canonicalRoot(root)]
		delete(f.Repositories, canonicalRoot(root))
		return there
	})
}

// Check is the whole rule: nothing needed, or RELAY_TRUST has the digest, or the
// store knows it. Otherwise the error is BLOCKED_UNTRUSTED_CONFIG.
func (s *Store) Check(l *config.Loaded, getenv func(string) string) error {
	digest, items := Needed(l)
	return s.check(l.Root, digest, items, getenv, "the configuration of this repository can run programs on this machine", "`relay trust` shows it and asks")
}

// CheckService is the same rule for a service of the repository at root.
func (s *Store) CheckService(root string, l *config.LoadedService, getenv func(string) string) error {
	digest, items := NeededByService(l)
	id := l.Service.Service.ID
	return s.check(ServiceKey(root, id), digest, items, getenv, "the service "+id+" names programs and plugins", "`relay trust "+id+"` shows them and asks")
}

// ServiceKey is where the store keeps what was trusted of a service.
func ServiceKey(root, id string) string {
	return filepath.Join(canonicalRoot(root), config.ServicesDir, id)
}

func (s *Store) check(root, digest string, items []Item, getenv func(string) string, what, fix string) error {
	if digest == "" {
		return nil
	}
	if slices.Contains(Digests(getenv), digest) {
		return nil
	}
	known, err := s.IsTrusted(root, digest)
	if err != nil {
		return err
	}
	if known {
		return nil
	}
	keys := make([]string, 0, 4)
	for i, it := range items {
		if i == 3 && len(items) > 4 {
			keys = append(keys, fmt.Sprintf("%d more", len(items)-i))
			break
		}
		keys = append(keys, it.Key)
	}
	return diag.New(judge.BlockedUntrustedConfig, what+", and you have not agreed to it", "it sets "+strings.Join(keys, ", "), fix+"; in CI, set "+EnvName+"="+digest)
}

// canonicalRoot names a repository in one way, whatever link led to it.
func canonicalRoot(root string) string {
	if abs, err := filepath.Abs(root); err == nil {
		root = abs
	}
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	return root
}

func (s *Store) read() (*file, error) {
	if err := workspace.Own(s.dir, s.Path()); err != nil {
		return nil, err
	}
	f := &file{}
	b, err := workspace.ReadFile(s.Path(), 4<<20)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		err = nil
	} else if err == nil {
		err = strictjson.Unmarshal(b, f)
	}
	if err == nil && f.SchemaVersion > 1 {
		err = fmt.Errorf("it is of version %d, which a newer relay wrote", f.SchemaVersion)
	}
	if err != nil {
		return nil, &diag.Error{Code: judge.BlockedUntrustedConfig, What: "what you trust can't be read", Why: s.Path() + ": " + err.Error(),
			Fix: "`rm " + diag.Word(s.Path()) + "` forgets all of it; relay then asks again", Err: err}
	}
	if f.Repositories == nil {
		f.Repositories = map[string]entry{}
	}
	return f, nil
}

// change reads, changes and writes under a lock, so that two at once lose nothing.
func (s *Store) change(do func(*file) bool) (bool, error) {
	if s.dir == "" {
		return false, diag.New(judge.BlockedUntrustedConfig, "relay can't save what you trust", "neither XDG_STATE_HOME nor HOME is set",
			"`export XDG_STATE_HOME=/some/folder`, or set "+EnvName)
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return false, diag.Wrap(err, judge.BlockedUntrustedConfig, "what you trust can't be saved", "`ls -ld "+diag.Word(s.dir)+"`, then make it writable")
	}
	if err := workspace.Own(s.dir); err != nil {
		return false, err
	}
	unlock, err := store.Lock(s.Path() + ".lock")
	if err != nil {
		return false, diag.Wrap(err, judge.BlockedUntrustedConfig, "what you trust can't be saved", "`ls -la "+diag.Word(s.dir)+"` shows the file, and `df -T "+diag.Word(s.dir)+"` the file system: relay needs one that is writable and supports flock")
	}
	defer unlock()
	f, err := s.read()
	if err != nil {
		return false, err
	}
	changed := do(f)
	if !changed {
		return false, nil
	}
	f.SchemaVersion = 1
	b, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return false, err
	}
	return true, workspace.WriteFile(s.Path(), append(b, '\n'))
}

// Roots are the repositories that are trusted, sorted.
func (s *Store) Roots() ([]string, error) {
	f, err := s.read()
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(f.Repositories)), nil
}
