package host

import (
	"context"
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
)

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
		return nil, fault.New(judge.BlockedPlugin, mirror+" is no mirror of plugins", why, "`relay plugin search --mirror URL`, with the folder that relay plugin pack made")
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
