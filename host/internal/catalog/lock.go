package catalog

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/strictjson"
	"github.com/paxiom/relay/judge"
)

// LockFile is the name of the file that pins a repository's plugins.
const LockFile = "relay.lock.json"

const lockVersion = 1

// lockDoc is the lock file.
type lockDoc struct {
	Version int                   `json:"version"`
	Plugins map[string]lockPlugin `json:"plugins"`
}

// lockPlugin pins one plugin. A hash has its scheme in front ("sha256:…"); one of a
// scheme that is not known counts as none. A name in Env that ends in "!" is secret.
type lockPlugin struct {
	Source     string            `json:"source"`
	Version    string            `json:"version"`
	Protocol   int               `json:"protocol"`
	Kinds      []Kind            `json:"kinds"`
	Aliases    []string          `json:"aliases,omitempty"`
	Summary    string            `json:"summary,omitempty"`
	Hashes     map[string]string `json:"hashes"`
	Schema     string            `json:"schema,omitempty"`
	Env        []string          `json:"env,omitempty"`
	Programs   []string          `json:"programs,omitempty"`
	Hosts      []string          `json:"hosts,omitempty"`
	AttestedBy string            `json:"attested_by,omitempty"`
}

type namedLock struct {
	name string
	lockPlugin
}

// readLock gives the pins in the order of their names; none when there is no file.
func readLock(root string) ([]namedLock, error) {
	if root == "" {
		return nil, nil
	}
	path := filepath.Join(root, LockFile)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var doc lockDoc
	if err == nil {
		if _, err = strictjson.Decode(b, strictjson.MaxBytes); err == nil {
			err = json.Unmarshal(b, &doc)
		}
	}
	if err == nil && doc.Version != lockVersion {
		err = fmt.Errorf("it is of version %d; this relay knows version %d", doc.Version, lockVersion)
	}
	var pins []namedLock
	for name, p := range doc.Plugins {
		if err == nil {
			err = p.check(name)
		}
		pins = append(pins, namedLock{name, p})
	}
	if err != nil {
		return nil, fault.Wrap(err, judge.BlockedPlugin, "the plugin lock file "+path+" can't be used",
			"`git checkout -- "+LockFile+"` takes back changes to it; without it relay has its built-in plugins")
	}
	slices.SortFunc(pins, func(a, b namedLock) int { return cmp.Compare(a.name, b.name) })
	return pins, nil
}

// A part of a source or a version becomes a part of a path.
var (
	partRE    = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._+-]{0,127}$`)
	envNameRE = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*!?$`)
	hashRE    = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// check refuses what could lead out of the install folder, or means nothing.
func (p lockPlugin) check(name string) error {
	if !ValidName(name) {
		return fmt.Errorf("%q is not a plugin name: it must match %s", name, NamePattern)
	}
	for _, part := range append(strings.Split(p.Source, "/"), p.Version) {
		if !partRE.MatchString(part) || strings.Contains(part, "..") {
			return fmt.Errorf("plugin %s: source %q and version %q must be plain names", name, p.Source, p.Version)
		}
	}
	if len(p.Kinds) == 0 {
		return fmt.Errorf("plugin %s has no kinds", name)
	}
	for _, k := range p.Kinds {
		if k != Provider && k != Builder {
			return fmt.Errorf("plugin %s: there is no kind %q", name, k)
		}
	}
	for platform, h := range p.Hashes {
		if strings.HasPrefix(h, "sha256:") && !hashRE.MatchString(h) {
			return fmt.Errorf("plugin %s: the hash for %s must have 64 hexadecimal digits", name, platform)
		}
	}
	for _, v := range p.Env {
		if !envNameRE.MatchString(v) {
			return fmt.Errorf("plugin %s: %q is not the name of a variable", name, v)
		}
	}
	return nil
}

// lockedEntry makes an entry of a pin. A pin of a built-in plugin means the file
// beside relay, any other the file in the install folder.
func (c *Catalog) lockedEntry(l namedLock, built []Entry, installDir string) Entry {
	platform := runtime.GOOS + "_" + runtime.GOARCH
	e := Entry{Name: l.name, Aliases: l.Aliases, Kinds: l.Kinds, Version: l.Version, Source: l.Source, Summary: l.Summary,
		Programs: l.Programs, Hosts: l.Hosts, SchemaSHA256: strings.TrimPrefix(l.Schema, "sha256:")}
	for _, v := range l.Env {
		e.Env = append(e.Env, EnvVar{Name: strings.TrimSuffix(v, "!"), Secret: strings.HasSuffix(v, "!")})
	}
	hash := l.Hashes[platform]
	if hashRE.MatchString(hash) {
		e.SHA256 = strings.TrimPrefix(hash, "sha256:")
	}
	if e.Builtin() {
		e.Path = c.besidePath(l.name)
		i := slices.IndexFunc(built, func(b Entry) bool { return b.Name == l.name })
		switch {
		case e.Source != builtinSource+l.name || i < 0:
			e.State, e.Reason = Missing, "relay.lock.json pins a built-in plugin that this relay does not have"
		case e.SHA256 != "" && e.SHA256 != built[i].SHA256:
			e.State, e.Reason = HashDiffers, "relay.lock.json pins another build of this plugin than the one that came with this relay"
		default: // the lock narrows what the plugin may do; the rest the manifest knows better
			grants := e.Env
			e = built[i]
			e.Path, e.Source, e.SHA256 = c.besidePath(l.name), l.Source, strings.TrimPrefix(hash, "sha256:")
			e.Env = slices.DeleteFunc(slices.Clone(e.Env), func(v EnvVar) bool {
				return !slices.ContainsFunc(grants, func(g EnvVar) bool { return g.Name == v.Name })
			})
		}
	} else {
		e.Path = filepath.Join(installDir, filepath.FromSlash(l.Source), l.name, l.Version, platform, filePrefix+l.name)
	}
	if e.SHA256 == "" && e.State == "" {
		e.State, e.Reason = NotLocked, fmt.Sprintf("relay.lock.json has no SHA-256 of it for %s", platform)
	}
	c.check(&e)
	return e
}
