package host

import (
	"context"
	"fmt"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/trust"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
)

// Trust shows, trusts or revokes what the repository's configuration, or one of its
// services, asks for.
func (r *Repo) Trust(ctx context.Context, t TrustOptions) (*TrustResult, error) {
	o, err := r.open()
	if err != nil {
		return nil, err
	}
	root := o.root
	digest, items := trust.Needed(o.loaded)
	if t.Service != "" {
		s, err := config.LoadService(r.serviceOptions(o.root), t.Service, nil)
		if err != nil {
			return nil, err
		}
		root = trust.ServiceKey(o.root, t.Service)
		digest, items = trust.NeededByService(s)
	}
	res := &TrustResult{Doc: Doc{"relay.trust", 1}, Digest: digest, Items: items}
	store := r.trust()
	if res.Ceiling, err = store.Widened(o.root); err != nil {
		return nil, err
	}
	if res.Changes, res.Known, err = store.Changes(root, items); err != nil {
		return nil, err
	}
	if t.Revoke {
		res.Revoked, err = store.Remove(root)
		return res, err
	}
	if t.Digest != "" && t.Digest != digest {
		return nil, fault.New(judge.BlockedUntrustedConfig, "the configuration is not the one that you looked at",
			fmt.Sprintf("its digest is %s, you gave %s", digest, t.Digest), "`relay trust --show`")
	}
	if digest != "" && !t.Show {
		if err := store.Add(root, digest, items); err != nil {
			return nil, err
		}
	}
	if digest == "" {
		res.Trusted = true
		return res, nil
	}
	res.Trusted, err = store.IsTrusted(root, digest)
	return res, err
}

// ConfigShow gives the configuration in force.
func (r *Repo) ConfigShow(ctx context.Context) (*ConfigResult, error) {
	o, err := r.open()
	if err != nil {
		return nil, err
	}
	return &ConfigResult{Doc: Doc{"relay.config", 1}, File: o.loaded.File, Values: o.loaded.Values(), Notices: o.loaded.Notices}, nil
}

// Nearest returns the candidate that a person may have meant by a name, "" for none.
func Nearest(name string, candidates []string) string { return config.Nearest(name, candidates) }

// ConfigSet writes key=value into the repository's configuration file, or with user into
// the user's own, and returns the file's path. A repository that was trusted stays so: who
// typed the value has seen it.
func (r *Repo) ConfigSet(ctx context.Context, assignment string, user bool) (string, error) {
	root, err := workspace.FindRoot(r.dir)
	if err != nil {
		return "", err
	}
	before, err := r.open()
	trusted := err == nil && r.trust().Check(before.loaded, r.getenv) == nil
	file, err := config.Change(config.Options{Root: root, File: r.opts.ConfigFile, Env: r.opts.Env, AllowMissing: user}, assignment, user)
	if err != nil || user || !trusted {
		return file, err
	}
	now, err := r.open()
	if err != nil {
		return "", err
	}
	digest, items := trust.Needed(now.loaded)
	if digest == "" {
		return file, nil
	}
	return file, r.trust().Add(now.root, digest, items)
}

// PluginList lists plugins and starts none. It works outside a repository.
func (r *Repo) PluginList(ctx context.Context) (*PluginListResult, error) {
	c, err := r.catalog(r.Root())
	if err != nil {
		return nil, err
	}
	l := &PluginListResult{Doc: Doc{"relay.plugins", 1}, Plugins: c.List()}
	if alone := c.Alone("relay has no plugins of its own"); alone != nil {
		l.Problem = checkOf("plugins", alone)
	}
	return l, nil
}
