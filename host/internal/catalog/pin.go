package catalog

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/paxiom/relay/schemas"
	"github.com/paxiom/relay/sdk"
)

// Pin is one plugin in the lock file: which files it may be, who stands for it, what
// it asks for and what a person granted. A hash has its scheme in front ("sha256:…");
// one of a scheme that is not known counts as none.
type Pin struct {
	// Plugin is what the plugin calls itself where it is pinned under another name, so that
	// two versions of it can be.
	Plugin string `json:"plugin,omitempty"`
	// Source and Version are parts of the folder that it is installed in.
	Source  string `json:"source"`
	Version string `json:"version"`
	// From is where its releases are: a URL, a Go module, or a path in the repository, which
	// begins with "./"; "" when they came from a folder of one machine.
	From     string   `json:"from,omitempty"`
	Protocol int      `json:"protocol"` // version of relay's protocol
	Kinds    []Kind   `json:"kinds"`
	Aliases  []string `json:"aliases,omitempty"`
	Summary  string   `json:"summary,omitempty"`
	// Hashes are by platform ("linux_amd64"), all that the release has.
	Hashes map[string]string `json:"hashes"`
	// Schema is the hash of the schema of its configuration.
	Schema string `json:"schema,omitempty"`
	// Key is the publisher's, by which each release is signed ("minisign:…").
	Key string `json:"key,omitempty"`
	// Module is the checksum of a Go module's source ("h1:…"), Toolchain what built it.
	Module     string `json:"module,omitempty"`
	Toolchain  string `json:"toolchain,omitempty"`   // what built the module
	AttestedBy string `json:"attested_by,omitempty"` // who attested the build
	// Verified is how it kept the rules of the protocol when it was pinned; nil: it was not tried.
	Verified *Verified `json:"verified,omitempty"`
	// Declared is all that it asks for. Granted is what a person gave it; nil: nobody
	// was asked yet, and it is not started.
	Declared Rights  `json:"declared"`
	Granted  *Rights `json:"granted,omitempty"`
}

// Verified is what came of trying the rules on a plugin.
type Verified struct {
	Kept   int      `json:"kept"`             // how many rules and cases
	Broken []string `json:"broken,omitempty"` // which of them
}

func (v *Verified) String() string {
	switch {
	case v == nil:
		return ""
	case len(v.Broken) > 0:
		return fmt.Sprintf("breaks %s, keeps %d", strings.Join(v.Broken, ", "), v.Kept)
	}
	return fmt.Sprintf("keeps all %d that were tried", v.Kept)
}

// A part of a source or a version becomes a part of a path.
var (
	partRE    = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._+-]{0,127}$`)
	envNameRE = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*!?$`)
	aliasRE   = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)
	hashRE    = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// The limits of a pin, in bytes and in entries of a list: a lock file is read by people,
// and relay reads none of more than 2 MiB.
const (
	maxText    = 500
	maxEntries = 100
)

// fits refuses what is too long to be pinned.
func (p Pin) fits(name string) error {
	for what, text := range map[string]string{"source": p.Source, "version": p.Version, "from": p.From, "summary": p.Summary, "schema": p.Schema,
		"key": p.Key, "module": p.Module, "toolchain": p.Toolchain, "attested_by": p.AttestedBy} {
		if len(text) > maxText {
			return fmt.Errorf("plugin %s: its %s has %d bytes; the limit is %d", name, what, len(text), maxText)
		}
	}
	lists := map[string][]string{"aliases": p.Aliases, "hashes": slices.Concat(slices.Collect(maps.Keys(p.Hashes)), slices.Collect(maps.Values(p.Hashes)))}
	if p.Verified != nil {
		lists["broken rules"] = p.Verified.Broken
	}
	for kind, r := range map[string]Rights{"declared": p.Declared, "granted": p.grants()} {
		for what, list := range map[string][]string{"env": r.Env, "programs": r.Programs, "hosts": r.Hosts, "read": r.Read, "write": r.Write} {
			lists[kind+" "+what] = list
		}
	}
	for what, list := range lists {
		if len(list) > maxEntries {
			return fmt.Errorf("plugin %s: its %s has %d entries; the limit is %d", name, what, len(list), maxEntries)
		}
		for _, text := range list {
			if len(text) > maxText {
				return fmt.Errorf("plugin %s: an entry of its %s has %d bytes; the limit is %d", name, what, len(text), maxText)
			}
		}
	}
	for _, alias := range p.Aliases {
		if !aliasRE.MatchString(alias) {
			return fmt.Errorf("plugin %s: %.100q is not an alias: it must match %s", name, alias, aliasRE)
		}
	}
	return nil
}

// Usable refuses what a run would refuse of a plugin. lock is nil for one that is not going
// to be pinned.
func Usable(said Entry, lock *Lock) error {
	if len(said.ConfigSchema) > 0 {
		if len(said.ConfigSchema) > sdk.MaxConfigSchema {
			return fmt.Errorf("the schema of its configuration has %d bytes; the limit is %d", len(said.ConfigSchema), sdk.MaxConfigSchema)
		}
		if _, err := schemas.Compile(said.ConfigSchema); err != nil {
			return fmt.Errorf("the schema of its configuration is not valid: %.500s", err)
		}
	}
	built, err := decodeManifest(manifest)
	if err != nil {
		return err
	}
	for _, alias := range said.Aliases {
		pinned := false
		if lock != nil {
			_, pinned = lock.Plugins[alias]
		}
		if c := Canonical(alias); c != alias && c != said.Name || pinned && alias != said.Name || slices.ContainsFunc(built, func(b Entry) bool {
			return b.Name != said.Name && (b.Name == alias || slices.Contains(b.Aliases, alias))
		}) {
			return fmt.Errorf("its alias %q is the name of another plugin", alias)
		}
	}
	return nil
}

// CameWithRelay is the plugin of relay's own that a name or alias means; "" when there is none.
func CameWithRelay(nameOrAlias string) string {
	built, _ := decodeManifest(manifest)
	for _, b := range built {
		if b.Name == Canonical(nameOrAlias) || slices.Contains(b.Aliases, nameOrAlias) {
			return b.Name
		}
	}
	return ""
}

// Check refuses what could lead out of the install folder, or means nothing.
func (p Pin) Check(name string) error {
	if err := p.fits(name); err != nil {
		return err
	}
	if !ValidName(name) {
		return fmt.Errorf("%q is not a plugin name: it must match %s", name, NamePattern)
	}
	for _, part := range append(strings.Split(p.Source, "/"), p.Version) {
		if !partRE.MatchString(part) || strings.Contains(part, "..") {
			return fmt.Errorf("plugin %s: source %q and version %q must be plain names", name, p.Source, p.Version)
		}
	}
	if below, ok := p.Below(); ok && !filepath.IsLocal(below) {
		return fmt.Errorf("plugin %s: from %q leads out of the repository", name, p.From)
	}
	if p.Plugin != "" && !ValidName(p.Plugin) {
		return fmt.Errorf("plugin %s: %q is not a plugin name: it must match %s", name, p.Plugin, NamePattern)
	}
	if len(p.Kinds) == 0 {
		return fmt.Errorf("plugin %s has no kinds", name)
	}
	for _, k := range p.Kinds {
		if k != Provider && k != Builder {
			return fmt.Errorf("plugin %s: there is no kind %q", name, k)
		}
	}
	if p.Protocol < 1 || p.Protocol > sdk.ProtocolVersion {
		return fmt.Errorf("plugin %s speaks relay protocol %d; this relay speaks 1 to %d", name, p.Protocol, sdk.ProtocolVersion)
	}
	for platform, h := range p.Hashes {
		if strings.HasPrefix(h, "sha256:") && !hashRE.MatchString(h) {
			return fmt.Errorf("plugin %s: the hash for %s must have 64 hexadecimal digits", name, platform)
		}
	}
	if err := p.Declared.Check(); err != nil {
		return fmt.Errorf("plugin %s: declared: %w", name, err)
	}
	if p.Granted == nil || p.builtin() {
		return nil
	}
	if err := p.Granted.Check(); err != nil {
		return fmt.Errorf("plugin %s: granted: %w", name, err)
	}
	if more := p.Granted.Beyond(p.Declared); len(slices.DeleteFunc(more.Words(), func(w string) bool { return w == "host:"+AnyHost })) > 0 {
		return fmt.Errorf("plugin %s: it was granted what it does not ask for: %s", name, strings.Join(more.Words(), ", "))
	}
	return nil
}

// Called is what a plugin that is pinned under a name calls itself.
func (p Pin) Called(name string) string { return cmp.Or(p.Plugin, name) }

// Below is where in the repository its releases are, when they are there.
func (p Pin) Below() (path string, ok bool) { return strings.CutPrefix(p.From, below) }

// SetBelow says that its releases are at a path in the repository.
func (p *Pin) SetBelow(path string) { p.From = below + path }

const below = "./"

func (p Pin) builtin() bool { return strings.HasPrefix(p.Source, builtinSource) }

// hash is the pinned hash for a platform, 64 hexadecimal digits; "" when there is none.
func (p Pin) hash(platform string) string {
	if h := p.Hashes[platform]; hashRE.MatchString(h) {
		return strings.TrimPrefix(h, "sha256:")
	}
	return ""
}

// canonical is the pin as it is compared and remembered: what is equal has equal bytes.
func (p Pin) canonical() []byte {
	p.Declared = p.Declared.Tidy()
	if p.Granted != nil {
		g := p.Granted.Tidy()
		p.Granted = &g
	}
	b, _ := json.Marshal(p) // plain texts and lists
	return b
}

// Digest is what a person, or a CI by its variable, agrees to.
func (p Pin) Digest(name string) string {
	h := sha256.New()
	fmt.Fprintf(h, "relay plugin 1\n%s\n%s\n", name, p.canonical())
	return hex.EncodeToString(h.Sum(nil))
}

// Same says that nothing differs between two pins.
func (p Pin) Same(o Pin) bool { return bytes.Equal(p.canonical(), o.canonical()) }

// Changes says in one line each how now differs from p.
func (p Pin) Changes(now Pin) (out []string) {
	field := func(name, a, b string) {
		if a != b {
			out = append(out, fmt.Sprintf("%s: %s → %s", name, orNone(a), orNone(b)))
		}
	}
	field("plugin", p.Plugin, now.Plugin)
	field("source", p.Source, now.Source)
	field("from", p.From, now.From)
	field("version", p.Version, now.Version)
	field("protocol", fmt.Sprint(p.Protocol), fmt.Sprint(now.Protocol))
	field("kinds", join(p.Kinds), join(now.Kinds))
	field("aliases", strings.Join(p.Aliases, ", "), strings.Join(now.Aliases, ", "))
	field("publisher's key", p.Key, now.Key)
	field("module", p.Module, now.Module)
	field("toolchain", p.Toolchain, now.Toolchain)
	field("attested by", p.AttestedBy, now.AttestedBy)
	field("rules", p.Verified.String(), now.Verified.String())
	platforms := maps.Clone(p.Hashes)
	if platforms == nil {
		platforms = map[string]string{}
	}
	maps.Copy(platforms, now.Hashes)
	for _, at := range slices.Sorted(maps.Keys(platforms)) {
		field("hash for "+at, clipHash(p.Hashes[at]), clipHash(now.Hashes[at]))
	}
	field("schema of its configuration", clipHash(p.Schema), clipHash(now.Schema))
	rights := func(name string, a, b Rights) {
		for _, w := range b.Beyond(a).Words() {
			out = append(out, "+ "+name+" "+w)
		}
		for _, w := range a.Beyond(b).Words() {
			out = append(out, "- "+name+" "+w)
		}
	}
	rights("asks for", p.Declared, now.Declared)
	rights("granted", p.grants(), now.grants())
	return out
}

func (p Pin) grants() Rights {
	if p.Granted == nil {
		return Rights{}
	}
	return *p.Granted
}

// wish is what the lock file wants to be granted: what it grants, or all that the
// plugin asks for where nobody has decided yet.
func (p Pin) wish() Rights {
	if p.Granted != nil {
		return *p.Granted
	}
	return p.Declared
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func clipHash(h string) string {
	if len(h) > len("sha256:")+16 {
		return h[:len("sha256:")+16] + "…"
	}
	return h
}
