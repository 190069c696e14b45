package host

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/mod/semver"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/release"
	"github.com/paxiom/relay/judge"
)

// PluginRestore puts back the file of each pinned plugin that is not there as it is pinned.
// It pins and grants nothing. Files that any repository of this machine has installed are
// not fetched again.
func (r *Repo) PluginRestore(ctx context.Context) (*PluginListResult, error) {
	s, err := r.plugins()
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(s.lock.Unusable)) {
		return nil, s.unusable(name)
	}
	for _, name := range slices.Sorted(maps.Keys(s.lock.Plugins)) {
		if pin := s.lock.Plugins[name]; !release.Placed(s.installDir, name, pin) {
			if _, err := s.putBack(ctx, name, pin, nil); err != nil {
				return nil, err
			}
		}
	}
	return s.list()
}

// PluginPinned reports whether relay.lock.json pins a plugin of that name.
func (r *Repo) PluginPinned(name string) bool {
	_, _, err := r.pinned(name)
	return err == nil
}

// list are the pinned plugins.
func (s *pluginShop) list() (*PluginListResult, error) {
	l, err := s.repo.PluginList(context.Background())
	if err != nil {
		return nil, err
	}
	l.Plugins = slices.DeleteFunc(l.Plugins, func(e catalog.Entry) bool { return e.Pin == nil })
	return l, nil
}

// PluginUpgradeAll upgrades each pinned plugin that has a newer version; a folder of this
// machine has none. One that can't be upgraded keeps none of the others back: the error is
// of the first.
func (r *Repo) PluginUpgradeAll(ctx context.Context, o PluginInstallOptions) (*PluginListResult, error) {
	found, err := r.PluginOutdated(ctx)
	if err != nil {
		return nil, err
	}
	var first error
	for _, p := range found.Plugins {
		if p.Newest == "" {
			continue
		}
		if _, err := r.PluginUpgrade(ctx, p.Name, o); err != nil && first == nil {
			first = err
		}
	}
	if first != nil {
		return nil, first
	}
	s, err := r.plugins()
	if err != nil {
		return nil, err
	}
	return s.list()
}

// PluginsOutdated are the pinned plugins, with what there is instead.
type PluginsOutdated struct {
	Doc
	Plugins []PluginOutdated `json:"plugins"`
	Next    string           `json:"next,omitempty"`
}

// PluginOutdated is one of them.
type PluginOutdated struct {
	Name   string `json:"name"`
	Pinned string `json:"pinned"`
	Newest string `json:"newest,omitempty"` // "" when it is the pinned one, or unknown
	// Withdrawn is why the publisher has withdrawn the pinned version.
	Withdrawn string `json:"withdrawn,omitempty"`
	Problem   string `json:"problem,omitempty"` // why the newest is unknown
}

// PluginOutdated asks where each pinned plugin comes from for its newest version. Nothing is
// installed.
func (r *Repo) PluginOutdated(ctx context.Context) (*PluginsOutdated, error) {
	s, err := r.plugins()
	if err != nil {
		return nil, err
	}
	res := &PluginsOutdated{Doc: Doc{"relay.plugin.outdated", 1}, Plugins: []PluginOutdated{}}
	for _, name := range slices.Sorted(maps.Keys(s.lock.Plugins)) {
		pin := s.lock.Plugins[name]
		p := PluginOutdated{Name: name, Pinned: pin.Version}
		v, err := s.versions(ctx, name, pin)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			p.Problem = "it was installed from " + v.Newest + ", which has no list of versions"
		case err != nil:
			p.Problem = err.Error()
		default:
			if p.Withdrawn = v.Withdrawn[pin.Version]; semver.Compare(canon(v.Newest), canon(pin.Version)) > 0 {
				p.Newest = v.Newest
				res.Next = "`relay plugin upgrade --all`"
			}
		}
		res.Plugins = append(res.Plugins, p)
	}
	return res, nil
}

// versions are those of a pinned plugin, where it comes from.
func (s *pluginShop) versions(ctx context.Context, name string, pin catalog.Pin) (v release.Versions, err error) {
	from, err := s.origin(name, pin)
	if err != nil {
		if f, ok := fault.As(err); ok && f.Code == judge.BlockedPlugin {
			err = errors.New(f.What)
		}
		return v, err
	}
	if err := release.Scratch(s.installDir); err != nil {
		return v, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return v, err
	}
	return release.Known(ctx, from, s.installDir, filepath.Join(cache, "relay", "go-build"))
}
