package plugins

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/mod/semver"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/release"
	"github.com/paxiom/relay/judge"
)

// RestoreAll puts back the file of each pinned plugin that is not there as it is pinned.
// It pins and grants nothing. Files that any repository of this machine has installed are
// not fetched again.
func RestoreAll(ctx context.Context, r *host.Repo) (*ListResult, error) {
	s, err := open(r)
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

// Pinned reports whether relay.lock.json pins a plugin of that name.
func Pinned(r *host.Repo, name string) bool {
	_, _, err := pinned(r, name)
	return err == nil
}

// list are the pinned plugins.
func (s *shop) list() (*ListResult, error) {
	l, err := List(context.Background(), s.repo)
	if err != nil {
		return nil, err
	}
	l.Plugins = slices.DeleteFunc(l.Plugins, func(e catalog.Entry) bool { return e.Pin == nil })
	return l, nil
}

// UpgradeAll upgrades each pinned plugin that has a newer version; a folder of this
// machine has none. One that can't be upgraded keeps none of the others back: the error is
// of the first.
func UpgradeAll(ctx context.Context, r *host.Repo, o InstallOptions) (*ListResult, error) {
	found, err := Outdated(ctx, r)
	if err != nil {
		return nil, err
	}
	var first error
	for _, p := range found.Plugins {
		if p.Newest == "" {
			continue
		}
		if _, err := Upgrade(ctx, r, p.Name, o); err != nil && first == nil {
			first = err
		}
	}
	if first != nil {
		return nil, first
	}
	s, err := open(r)
	if err != nil {
		return nil, err
	}
	return s.list()
}

// OutdatedResult are the pinned plugins, with what there is instead.
type OutdatedResult struct {
	host.Doc
	Plugins []OutdatedLine `json:"plugins"`
	Next    string         `json:"next,omitempty"`
}

// OutdatedLine is one of them.
type OutdatedLine struct {
	Name   string `json:"name"`
	Pinned string `json:"pinned"`           // version in the lock file
	Newest string `json:"newest,omitempty"` // "" when it is the pinned one, or unknown
	// Withdrawn is why the publisher has withdrawn the pinned version.
	Withdrawn string `json:"withdrawn,omitempty"`
	// Advisory is why the publisher warns of it.
	Advisory string `json:"advisory,omitempty"`
	Problem  string `json:"problem,omitempty"` // why the newest is unknown
}

// Outdated asks where each pinned plugin comes from for its newest version. Nothing is
// installed.
func Outdated(ctx context.Context, r *host.Repo) (*OutdatedResult, error) {
	s, err := open(r)
	if err != nil {
		return nil, err
	}
	res := &OutdatedResult{Doc: host.DocOf("relay.plugin.outdated", 1), Plugins: []OutdatedLine{}}
	for _, name := range slices.Sorted(maps.Keys(s.lock.Plugins)) {
		pin := s.lock.Plugins[name]
		p := OutdatedLine{Name: name, Pinned: pin.Version}
		v, err := s.versions(ctx, name, pin)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			p.Problem = "it was installed from " + cmp.Or(pin.From, v.Newest) + ", which has no list of versions"
		case err != nil:
			p.Problem = err.Error()
		default:
			p.Withdrawn, p.Advisory = v.Withdrawn[pin.Version], v.Advisories[pin.Version]
			if semver.Compare(host.Canon(v.Newest), host.Canon(pin.Version)) > 0 {
				p.Newest = v.Newest
				res.Next = "`relay plugin upgrade --all`"
			}
		}
		res.Plugins = append(res.Plugins, p)
	}
	return res, nil
}

// versions are those of a pinned plugin, where it comes from.
func (s *shop) versions(ctx context.Context, name string, pin catalog.Pin) (v catalog.Notices, err error) {
	from, err := s.origin(name, pin)
	if err != nil {
		if f, ok := diag.As(err); ok && f.Code == judge.BlockedPlugin {
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
