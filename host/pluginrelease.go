package host

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/crew"
	"github.com/paxiom/relay/host/internal/release"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/sdk/plugintest"
)

// PluginRules are the verdicts on a plugin, rule by rule.
type PluginRules struct {
	Doc
	Plugin string              `json:"plugin"`
	Rules  []plugintest.Result `json:"rules"`
}

// Failed counts the rules that the plugin breaks.
func (r *PluginRules) Failed() (n int) {
	for _, rule := range r.Rules {
		if rule.Verdict == plugintest.Failed {
			n++
		}
	}
	return n
}

// TryPlugin tries the rules on a plugin's file, where this process is.
func TryPlugin(ctx context.Context, file string) *PluginRules {
	return &PluginRules{Doc: Doc{"relay.plugin.rules", 1}, Plugin: file, Rules: plugintest.Verify(ctx, plugintest.Config{Binary: file})}
}

// PluginVerify tries the rules on an installed plugin, in a box without network in which
// it finds nothing of this machine's user.
func (r *Repo) PluginVerify(ctx context.Context, name string) (*PluginRules, error) {
	c, err := r.catalog(r.Root())
	if err != nil {
		return nil, err
	}
	entry, ok := c.Entry(catalog.Canonical(name))
	switch {
	case !ok:
		return nil, fault.New(judge.BlockedPlugin, "there is no plugin "+name, "it neither came with relay nor is pinned in relay.lock.json", "`relay plugin list` shows the names")
	case entry.State != catalog.OK:
		return nil, fault.New(judge.BlockedPlugin, "plugin "+name+" can't be tried: "+string(entry.State), entry.Reason, entry.Reinstall())
	}
	env := crew.Env{Config: config.Default(), StateDir: r.stateDir(), Home: r.home(), Version: r.opts.Version}
	out, err := env.InCell(ctx, r.opts.Executable, entry, "plugin", "verify", "--json", "--binary")
	if err != nil {
		return nil, err
	}
	res := &PluginRules{}
	if err := json.Unmarshal(out, res); err != nil || len(res.Rules) == 0 {
		return nil, fault.New(judge.BlockedPlugin, "plugin "+name+" could not be tried", "what came of it is no list of verdicts: "+clipText(string(out)), "`relay doctor`")
	}
	res.Plugin = entry.Name
	return res, nil
}

func clipText(s string) string {
	if len(s) > 300 {
		s = s[:300] + "…"
	}
	return s
}

// PluginPack makes a release of a plugin's files: what Install takes.
func (r *Repo) PluginPack(ctx context.Context, o PluginPackOptions) (*PluginPacked, error) {
	name, files, err := release.Parts(o.Files)
	if err != nil {
		return nil, fault.Wrap(err, judge.BlockedPlugin, "these files are no release", "`relay plugin pack --help`")
	}
	env := crew.Env{Config: config.Default(), StateDir: r.stateDir(), Home: r.home(), Version: r.opts.Version}
	hash, err := release.Hash(files[catalog.Platform])
	if err != nil {
		return nil, fault.Wrap(err, judge.BlockedPlugin, "the plugin can't be read", "`ls -l "+fault.Word(files[catalog.Platform])+"`")
	}
	abs, err := filepath.Abs(files[catalog.Platform])
	if err != nil {
		return nil, fault.Internal(err)
	}
	info, _, err := env.Ask(ctx, name, abs, hash)
	if err != nil {
		return nil, err
	}
	if info.GetName() != name {
		return nil, fault.New(judge.BlockedPlugin, "the file of "+name+" calls itself "+info.GetName(), "", "name the file relay-plugin-"+info.GetName())
	}
	packed, err := release.Pack(o.Out, release.Parcel{Name: name, Version: info.GetVersion(), Summary: info.GetSummary(), Files: files, SignKey: o.SignKey, Password: r.getenv("RELAY_SIGN_PASSWORD")})
	if err != nil {
		return nil, fault.Wrap(err, judge.BlockedPlugin, "the release can't be written", "`ls -l "+fault.Word(o.Out)+"`; give each release a version of its own")
	}
	return &PluginPacked{Doc: Doc{"relay.plugin.pack", 1}, Name: name, Version: info.GetVersion(), Folder: packed.Folder, Archive: packed.Archive, Key: packed.Key}, nil
}

// PluginPackOptions say what to pack.
type PluginPackOptions struct {
	Files   []string // relay-plugin-NAME[_OS_ARCH]
	Out     string   // the mirror's folder
	SignKey string   // the file of a minisign secret key; "" signs nothing
}

// PluginPacked is a release that was made.
type PluginPacked struct {
	Doc
	Name    string `json:"name"`
	Version string `json:"version"`
	Folder  string `json:"folder"`
	Archive string `json:"archive"`
	Key     string `json:"key,omitempty"`
}

// PluginKey is a key for signing releases.
type PluginKey struct {
	Doc
	Key  string `json:"key"`  // the public one
	File string `json:"file"` // of the secret one
}

// MakeSignKey writes a new secret key for PluginPack.
func MakeSignKey(path string) (*PluginKey, error) {
	key, err := release.MakeKey(path)
	if err != nil {
		return nil, fault.Wrap(err, judge.BlockedPlugin, "the key can't be written", "`ls -l "+fault.Word(path)+"`; a key that is there is never written over")
	}
	return &PluginKey{Doc{"relay.plugin.key", 1}, key, path}, nil
}

// PluginSearch lists what a mirror has. Nothing of it is believed when it is installed.
func (r *Repo) PluginSearch(ctx context.Context, mirror, text string) (*PluginFound, error) {
	if !release.IsRemote(mirror) {
		return nil, fault.New(judge.BlockedPlugin, "there is no mirror to search", "a mirror is an https: or file: URL with an index.json", "`relay plugin search --mirror URL`")
	}
	index, err := release.ReadIndex(ctx, mirror)
	if err != nil {
		why := err.Error()
		if errors.Is(err, fs.ErrNotExist) {
			why = "it has no index.json"
		}
		return nil, fault.New(judge.BlockedPlugin, mirror+" is no mirror of plugins", why, "`relay plugin search --mirror URL`, with the folder that `relay plugin pack --out` made")
	}
	found := &PluginFound{Doc: Doc{"relay.plugin.search", 1}, Mirror: strings.TrimSuffix(mirror, "/"), Plugins: []PluginListed{}}
	for name, l := range index.Plugins {
		if catalog.ValidName(name) && strings.Contains(strings.ToLower(name+" "+l.Summary), strings.ToLower(text)) {
			found.Plugins = append(found.Plugins, PluginListed{Name: name, Newest: l.Newest(), Summary: l.Summary})
		}
	}
	slices.SortFunc(found.Plugins, func(a, b PluginListed) int { return strings.Compare(a.Name, b.Name) })
	return found, nil
}

// PluginFound is what a mirror has.
type PluginFound struct {
	Doc
	Mirror  string         `json:"mirror"`
	Plugins []PluginListed `json:"plugins"`
}

// PluginListed is one plugin of a mirror.
type PluginListed struct {
	Name    string `json:"name"`
	Newest  string `json:"newest"`
	Summary string `json:"summary,omitempty"`
}
