package plugins

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/release"
	"github.com/paxiom/relay/judge"
)

// Pack makes a release of a plugin's files: what Install takes.
func Pack(ctx context.Context, r *host.Repo, o PackOptions) (*Packed, error) {
	name, files, err := release.Parts(o.Files)
	if err != nil {
		return nil, diag.Wrap(err, judge.BlockedPlugin, "these files are not a release", "`relay plugin pack --help`")
	}
	env := pluginenv.Env{Config: config.Default(), StateDir: r.StateDir(), Home: r.Home(), Version: r.Options.Version}
	hash, err := release.Hash(files[catalog.Platform])
	if err != nil {
		return nil, diag.Wrap(err, judge.BlockedPlugin, "the plugin can't be read", "`ls -l "+diag.Word(files[catalog.Platform])+"`")
	}
	abs, err := filepath.Abs(files[catalog.Platform])
	if err != nil {
		return nil, diag.Internal(err)
	}
	info, _, err := env.Ask(ctx, name, abs, hash)
	if err != nil {
		return nil, err
	}
	if info.GetName() != name {
		return nil, diag.New(judge.BlockedPlugin, "the file of "+name+" calls itself "+info.GetName(), "", "name the file relay-plugin-"+info.GetName())
	}
	if o.Cases != "" {
		if _, err := readCases(o.Cases, ""); err != nil {
			return nil, err
		}
	}
	packed, err := release.Pack(o.Out, release.Parcel{Cases: o.Cases, Name: name, Version: info.GetVersion(), Summary: info.GetSummary(), Files: files, SignKey: o.SignKey, Password: r.Getenv("RELAY_SIGN_PASSWORD")})
	if err != nil {
		return nil, diag.Wrap(err, judge.BlockedPlugin, "the release can't be written", "`ls -l "+diag.Word(o.Out)+"`; give each release a version of its own")
	}
	return &Packed{Doc: host.DocOf("relay.plugin.pack", 1), Name: name, Version: info.GetVersion(), Folder: packed.Folder, Archive: packed.Archive, Key: packed.Key}, nil
}

// PackOptions say what to pack.
type PackOptions struct {
	Files   []string // relay-plugin-NAME[_OS_ARCH]
	Out     string   // the mirror's folder
	Cases   string   // a file of calls that may be made to try it; "" for none
	SignKey string   // the file of a minisign secret key; "" signs nothing
}

// Packed is a release that was made.
type Packed struct {
	host.Doc
	Name    string `json:"name"`
	Version string `json:"version"`
	Folder  string `json:"folder"`  // where the release is
	Archive string `json:"archive"` // its file
	Key     string `json:"key,omitempty"`
}

// Key is a key for signing releases.
type Key struct {
	host.Doc
	Key  string `json:"key"`  // the public one
	File string `json:"file"` // of the secret one
}

// MakeSignKey writes a new secret key for Pack.
func MakeSignKey(path string) (*Key, error) {
	key, err := release.MakeKey(path)
	if err != nil {
		return nil, diag.Wrap(err, judge.BlockedPlugin, "the key can't be written", "`ls -l "+diag.Word(path)+"`; an existing key is never overwritten")
	}
	return &Key{host.DocOf("relay.plugin.key", 1), key, path}, nil
}

// Search lists what a mirror has. Nothing of it is believed when it is installed.
func Search(ctx context.Context, r *host.Repo, mirror, text string) (*Found, error) {
	if !release.IsRemote(mirror) {
		return nil, diag.New(judge.BlockedPlugin, "relay plugin search needs a mirror", "a mirror is an https:, file: or git+https: URL with an index.json", "`relay plugin search --mirror URL`")
	}
	index, err := release.ReadIndex(ctx, mirror, "")
	if _, ok := diag.As(err); ok {
		return nil, err
	} else if err != nil {
		why := err.Error()
		if errors.Is(err, fs.ErrNotExist) {
			why = "it has no index.json"
		}
		return nil, diag.New(judge.BlockedPlugin, mirror+" is not a plugin mirror", why, "`relay plugin search --mirror URL`, with the folder that relay plugin pack made")
	}
	found := &Found{Doc: host.DocOf("relay.plugin.search", 1), Mirror: strings.TrimSuffix(mirror, "/"), Plugins: []Listed{}}
	for name, l := range index.Plugins {
		if catalog.ValidName(name) && strings.Contains(strings.ToLower(name+" "+l.Summary), strings.ToLower(text)) {
			found.Plugins = append(found.Plugins, Listed{Name: name, Newest: l.Newest(), Summary: l.Summary})
		}
	}
	slices.SortFunc(found.Plugins, func(a, b Listed) int { return strings.Compare(a.Name, b.Name) })
	return found, nil
}

// Found is what a mirror has.
type Found struct {
	host.Doc
	Mirror  string   `json:"mirror"` // address of the mirror
	Plugins []Listed `json:"plugins"`
}

// Listed is one plugin of a mirror.
type Listed struct {
	Name    string `json:"name"`
	Newest  string `json:"newest"` // its newest version
	Summary string `json:"summary,omitempty"`
}
