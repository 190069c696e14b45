package setup

import (
	"context"
	"fmt"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/trust"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
)

// Trust shows, trusts or revokes what the repository's configuration, or one of its
// services, asks for.
func Trust(ctx context.Context, r *host.Repo, t TrustOptions) (*TrustResult, error) {
	o, err := r.Open()
	if err != nil {
		return nil, err
	}
	root := o.Root
	digest, items := trust.Needed(o.Loaded)
	if t.Service != "" {
		s, err := config.LoadService(r.ServiceOptions(o.Root), t.Service, nil)
		if err != nil {
			return nil, err
		}
		root = trust.ServiceKey(o.Root, t.Service)
		digest, items = trust.NeededByService(s)
	}
	res := &TrustResult{Doc: host.DocOf("relay.trust", 1), Digest: digest, Items: items}
	store := r.TrustStore()
	if res.Ceiling, err = store.Widened(o.Root); err != nil {
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
		return nil, diag.New(judge.BlockedUntrustedConfig, "the configuration is not the one that you looked at",
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

// ShowConfig gives the configuration in force.
func ShowConfig(ctx context.Context, r *host.Repo) (*ConfigResult, error) {
	o, err := r.Open()
	if err != nil {
		return nil, err
	}
	return &ConfigResult{Doc: host.DocOf("relay.config", 1), File: o.Loaded.File, Values: o.Loaded.Values(), Notices: o.Loaded.Notices}, nil
}

// Nearest returns the candidate that a person may have meant by a name, "" for none.
func Nearest(name string, candidates []string) string { return config.Nearest(name, candidates) }

// SetConfig writes key=value into the repository's configuration file, or with user into
// the user's own, and returns the file's path. A repository that was trusted stays so: who
// typed the value has seen it.
func SetConfig(ctx context.Context, r *host.Repo, assignment string, user bool) (string, error) {
	root, err := workspace.FindRoot(r.Dir)
	if err != nil && !user {
		return "", err
	}
	before, err := r.Open()
	trusted := err == nil && r.TrustStore().Check(before.Loaded, r.Getenv) == nil
	file, err := config.Change(config.Options{Root: root, Env: r.Options.Env, AllowMissing: user}, assignment, user)
	if err != nil || user || !trusted {
		return file, err
	}
	now, err := r.Open()
	if err != nil {
		return "", err
	}
	digest, items := trust.Needed(now.Loaded)
	if digest == "" {
		return file, nil
	}
	return file, r.TrustStore().Add(now.Root, digest, items)
}

// TrustOptions steer trust.
type TrustOptions struct {
	Service string // of this service; "" is the configuration
	Show    bool   // change nothing
	Revoke  bool
	Digest  string // trust only if the configuration has this digest
}

// TrustResult is what a configuration asks for, and whether it is trusted now.
type TrustResult struct {
	host.Doc
	Digest  string       `json:"digest"` // of what needs a yes
	Items   []trust.Item `json:"items"`
	Trusted bool         `json:"trusted"` // it has the operator's yes
	// Changes are what is not as it was when this was agreed to the last time; Known reports
	// whether there was a last time.
	Changes []trust.Change `json:"changes,omitempty"`
	Known   bool           `json:"known,omitempty"` // it was trusted before
	// Ceiling is what you have added to the repository's ceiling for good.
	Ceiling trust.Widening `json:"ceiling,omitzero"`
	Revoked bool           `json:"revoked,omitempty"` // the yes was taken back just now
}

// ConfigResult is the configuration in force.
type ConfigResult struct {
	host.Doc
	File    string             `json:"file"`
	Values  []host.ConfigValue `json:"values"`
	Notices []string           `json:"notices,omitempty"`
}
