package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/strictjson"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
)

// LockFile is the name of the file that pins a repository's plugins.
const LockFile = "relay.lock.json"

const lockVersion = 1

// Lock is the lock file.
type Lock struct {
	Version int            `json:"version"`
	Plugins map[string]Pin `json:"plugins"`
	// Unusable are the entries that can't be used, by name, as they stand in the file.
	Unusable map[string]Unusable `json:"-"`
}

// Unusable is an entry of the lock file that means nothing to this relay. The others
// don't suffer from it, and its name means no other plugin.
type Unusable struct {
	raw json.RawMessage
	Err error
}

// lockDoc is the lock file with its entries unread.
type lockDoc struct {
	Version int                        `json:"version"`
	Plugins map[string]json.RawMessage `json:"plugins"`
}

// Platform names this machine in the lock file.
const Platform = runtime.GOOS + "_" + runtime.GOARCH

// ReadLock gives the lock file in the folder root; an empty one when there is none.
func ReadLock(root string) (*Lock, error) {
	if root == "" {
		return &Lock{Version: lockVersion, Plugins: map[string]Pin{}}, nil
	}
	path := filepath.Join(root, LockFile)
	b, err := workspace.ReadFile(path, strictjson.MaxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return &Lock{Version: lockVersion, Plugins: map[string]Pin{}}, nil
	}
	var lock *Lock
	if err == nil {
		lock, err = parseLock(b)
	}
	if err != nil {
		return nil, diag.Wrap(err, judge.BlockedPlugin, "the plugin lock file "+path+" can't be used",
			"`mv "+diag.Word(path)+" "+diag.Word(path+".bad")+"` leaves relay its built-in plugins; `git checkout -- "+LockFile+"` brings back that of the last commit")
	}
	return lock, nil
}

// parseLock reads a lock file. Only what is wrong with the file as a whole is an error.
func parseLock(b []byte) (*Lock, error) {
	var doc lockDoc
	if err := strictjson.Unmarshal(b, &doc); err != nil {
		return nil, err
	}
	if doc.Version != lockVersion {
		return nil, fmt.Errorf("it is of version %d; this relay knows version %d", doc.Version, lockVersion)
	}
	if len(doc.Plugins) > maxPins {
		return nil, fmt.Errorf("it pins %d plugins; the limit is %d", len(doc.Plugins), maxPins)
	}
	lock := &Lock{Version: lockVersion, Plugins: map[string]Pin{}, Unusable: map[string]Unusable{}}
	for name, raw := range doc.Plugins {
		var p Pin
		err := strictjson.Unmarshal(raw, &p)
		if err == nil {
			err = p.Check(name)
		}
		if err != nil {
			lock.Unusable[name] = Unusable{raw, err}
		} else {
			lock.Plugins[name] = p
		}
	}
	return lock, nil
}

// maxPins is how many plugins a lock file pins at most.
const maxPins = 1000

// EditLock changes the lock file in the folder root, one process after the other. What
// do leaves behind is checked before it is written; its error is given back and leaves
// the file as it was.
func EditLock(root string, do func(*Lock) error) error {
	dir, err := unix.Open(root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return diag.Wrap(err, judge.BlockedPlugin, "the plugin lock file can't be written", "`ls -ld "+diag.Word(root)+"`")
	}
	defer unix.Close(dir)
	for err = unix.EINTR; errors.Is(err, unix.EINTR); {
		err = unix.Flock(dir, unix.LOCK_EX)
	}
	if err != nil {
		return diag.Wrap(err, judge.BlockedPlugin, "the plugin lock file can't be written", "`df -T "+diag.Word(root)+"` shows the file system; relay needs one that supports flock")
	}
	lock, err := ReadLock(root)
	if err != nil {
		return err
	}
	if err := do(lock); err != nil {
		return err
	}
	for name, p := range lock.Plugins {
		p.Declared = p.Declared.Tidy()
		if p.Granted != nil {
			g := p.Granted.Tidy()
			p.Granted = &g
		}
		if err := p.Check(name); err != nil {
			return diag.Wrap(err, judge.BlockedPlugin, "plugin "+name+" can't be pinned", "`relay plugin list`; report it to the plugin's author")
		}
		lock.Plugins[name] = p
	}
	b, err := lock.encode()
	if err != nil {
		return diag.Wrap(err, judge.BlockedPlugin, "the plugin lock file was left as it is", "`relay plugin list`; report it to the plugin's author")
	}
	return workspace.WriteFile(filepath.Join(root, LockFile), b)
}

// encode gives the file's bytes, which are read once as they will be read later. Entries
// that can't be used stay as they are.
func (l *Lock) encode() ([]byte, error) {
	doc := lockDoc{Version: l.Version, Plugins: map[string]json.RawMessage{}}
	for name, bad := range l.Unusable {
		doc.Plugins[name] = bad.raw
	}
	for name, p := range l.Plugins {
		raw, err := plainJSON(p)
		if err != nil {
			return nil, err
		}
		doc.Plugins[name] = raw
	}
	b, err := plainJSON(doc)
	if err != nil {
		return nil, err
	}
	again, err := parseLock(b)
	if err != nil {
		return nil, fmt.Errorf("relay could not read it again: %w", err)
	}
	for name := range l.Plugins {
		if bad, ok := again.Unusable[name]; ok {
			return nil, fmt.Errorf("relay could not read it again: %w", bad.Err)
		}
	}
	return b, nil
}

// plainJSON is JSON for people: indented, with "<" as it is.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}

// Platforms are those that it is pinned for.
func (p Pin) Platforms() []string { return slices.Sorted(maps.Keys(p.Hashes)) }

var platformRE = regexp.MustCompile(`^[a-z0-9]+_[a-z0-9]+$`)

// ValidPlatform says that this is the name of one, whether Go knows it or not.
func ValidPlatform(name string) bool { return platformRE.MatchString(name) }

// InstallPath is where the file of a pinned plugin lies below the install folder. The
// hash is a part of it: another build of the same version lies beside it.
func (p Pin) InstallPath(installDir, name string) string {
	sum := p.hash(Platform)
	return filepath.Join(installDir, filepath.FromSlash(p.Source), name, p.Version, Platform+"-"+sum[:min(12, len(sum))], filePrefix+name)
}

// DefaultInstallDir holds the plugins that were installed.
func DefaultInstallDir() string {
	return filepath.Join(xdg("XDG_DATA_HOME", ".local/share"), "relay", "plugins")
}

// lockedEntry makes an entry of a pin. A pin of a built-in plugin means the file
// beside relay, any other the file in the install folder.
func (c *Catalog) lockedEntry(name string, p Pin, built []Entry, o *Options) Entry {
	e := p.entry(name)
	if p.builtin() {
		c.narrowed(&e, built)
	} else {
		e.Pin, e.Base = &p, o.InstallDir
		e.Path = p.InstallPath(o.InstallDir, name)
		e.State, e.Reason = p.standing(name, o)
		e.heed(p.noted(o.InstallDir))
	}
	if e.SHA256 == "" && e.State == "" {
		e.State, e.Reason = NotLocked, fmt.Sprintf("relay.lock.json has no SHA-256 of it for %s", Platform)
	}
	c.check(&e)
	return e
}

// entry is what a pin says about its plugin, and what was granted to it.
func (p Pin) entry(name string) Entry {
	granted := p.grants()
	e := Entry{Name: name, Aliases: p.Aliases, Kinds: p.Kinds, Version: p.Version, Source: p.Source, Summary: p.Summary, SHA256: p.hash(Platform),
		Programs: granted.Programs, Hosts: granted.Hosts, Read: granted.Read, Write: granted.Write,
		SchemaSHA256: strings.TrimPrefix(p.Schema, "sha256:"), Protocol: p.Protocol}
	for _, v := range granted.Env {
		e.Env = append(e.Env, EnvVar{Name: strings.TrimSuffix(v, "!"), Secret: strings.HasSuffix(v, "!")})
	}
	return e
}

// narrowed makes the entry of a built-in plugin that the lock file pins: the lock says
// which variables it gets; the rest the manifest knows better.
func (c *Catalog) narrowed(e *Entry, built []Entry) {
	e.Path = c.besidePath(e.Name)
	i := slices.IndexFunc(built, func(b Entry) bool { return b.Name == e.Name })
	switch {
	case e.Source != builtinSource+e.Name || i < 0:
		e.State, e.Reason = Missing, "relay.lock.json pins a built-in plugin that this relay does not have"
	case e.SHA256 != "" && e.SHA256 != built[i].SHA256:
		e.State, e.Reason = HashDiffers, "relay.lock.json pins another build of this plugin than the one that came with this relay"
	default:
		path, source, hash, grants := e.Path, e.Source, e.SHA256, e.Env
		*e = built[i]
		e.Path, e.Source, e.SHA256 = path, source, hash
		e.Env = slices.DeleteFunc(slices.Clone(e.Env), func(v EnvVar) bool {
			return !slices.ContainsFunc(grants, func(g EnvVar) bool { return g.Name == v.Name })
		})
	}
}

// standing reports whether a person of this machine has agreed to exactly this pin. A
// repository brings its lock file along, so what it grants is only a wish here.
func (p Pin) standing(name string, o *Options) (State, string) {
	if p.Granted == nil {
		return NotGranted, "nobody has granted it what it asks for: " + p.Declared.list()
	}
	if slices.Contains(o.Digests, p.Digest(name)) {
		return "", ""
	}
	var agreed []byte
	if o.Agreed != nil {
		var err error
		if agreed, err = o.Agreed(name); err != nil {
			return NotGranted, err.Error()
		}
	}
	var was Pin
	switch {
	case agreed == nil:
		return NotGranted, "nobody on this machine has agreed to what relay.lock.json grants it: " + p.Granted.list()
	case json.Unmarshal(agreed, &was) != nil:
		return NotGranted, "what was agreed to on this machine can't be read"
	case !was.Same(p):
		return NotGranted, "relay.lock.json has changed since it was granted here: " + strings.Join(was.Changes(p), "; ")
	}
	return "", ""
}

// Agreement is a pin as it is remembered when a person agrees to it.
func (p Pin) Agreement() json.RawMessage { return p.canonical() }

// ParseAgreement reads a pin that was remembered; ok is false when there is none.
func ParseAgreement(raw []byte) (p Pin, ok bool) {
	ok = len(raw) > 0 && json.Unmarshal(raw, &p) == nil
	return p, ok
}

// Entry gives the plugin of this name, whatever its state.
func (c *Catalog) Entry(name string) (Entry, bool) {
	for _, e := range c.entries {
		if e.Name == name && e.State != Shadowed {
			return e, true
		}
	}
	return Entry{}, false
}

// besidePath gives the plugin's file beside relay: the first that is there.
func (c *Catalog) besidePath(name string) string {
	for _, dir := range c.beside {
		p := filepath.Join(dir, filePrefix+name)
		if _, err := os.Lstat(p); err == nil {
			return p
		}
	}
	return filepath.Join(c.beside[0], filePrefix+name)
}
