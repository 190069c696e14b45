package plugins

import (
	"context"
	"strings"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/health"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/release"
	"github.com/paxiom/relay/judge"
)

// InstallOptions say which plugin to take and what to grant it.
type InstallOptions struct {
	// From is a folder, an archive, a file, a URL, a Go module with its version, or the
	// name of a plugin that is pinned.
	From string
	// Key is the publisher's; "" takes the one that is pinned, or the release's own.
	Key string
	// As is the name to pin it under; "" is its own.
	As string
	// Platforms ("linux_amd64") are those to pin, besides this machine's. Without any it
	// is all that the release has or a module is built for; an upgrade of a module keeps
	// the pinned ones.
	Platforms []string
	// Grant are the rights to grant, word for word, when Granted is set. Otherwise Ask is
	// asked, and without it nothing new is granted.
	Grant   []string
	Granted bool
	Ask     func(*Offer) (bool, error)
}

// Offer is what a person sees before granting a plugin what it asks for.
type Offer struct {
	Name, Version, Source, From string
	Summary                     string
	File, SHA256                string
	Platforms                   int
	Signed, NewKey              bool
	Key                         string
	Rules                       *catalog.Verified
	Module                      string // the checksum of the source that it was built from
	// Asks are the rights as words, AsksFor in sentences, in the same order; Grant is the
	// argument that means exactly them. Purposes are the plugin's own words, by right.
	Asks, AsksFor []string
	Grant         string
	Purposes      map[string]string
	// Changes are to what was agreed to before, Widens the rights that are new.
	Changes, Widens []string
}

func newOffer(name string, pin catalog.Pin, purposes map[string]string) *Offer {
	wish := pin.Declared
	if pin.Granted != nil {
		wish = *pin.Granted
	}
	return &Offer{Name: name, Version: pin.Version, Source: pin.Source, From: pin.From, Summary: pin.Summary, SHA256: pin.Hashes[catalog.Platform],
		Platforms: len(pin.Hashes), Key: pin.Key, Rules: pin.Verified, Asks: wish.Words(), AsksFor: wish.Sentences(), Grant: wish.Argument(), Purposes: purposes}
}

// Result is what a plugin is after a command.
type Result struct {
	host.Doc
	Plugin catalog.Entry `json:"plugin"`
	// Digest is what RELAY_TRUST can have to agree to the pin.
	Digest string `json:"digest,omitempty"`
	// Asks are the rights that it declares, AsksFor in sentences; Granted what it has of
	// them and Left what it has not.
	Asks    []string `json:"asks,omitempty"`
	AsksFor []string `json:"asks_for,omitempty"` // rights, in words
	Granted []string `json:"granted,omitempty"`  // rights, in words
	Left    []string `json:"left_out,omitempty"` // rights that were not granted, in words
}

// Waiting says that a person still has to grant it what it asks for.
func (r *Result) Waiting() bool { return r.Plugin.State == catalog.NotGranted }

// Next is the command that takes away what keeps the plugin from being used.
func (r *Result) Next() string {
	if r.Plugin.Name == "" || r.Plugin.State == catalog.OK {
		return ""
	}
	return r.Plugin.Reinstall()
}

// Info tells all about one plugin and starts nothing.
func Info(ctx context.Context, r *host.Repo, name string) (*Result, error) {
	s := &shop{repo: r, root: r.Root(), installDir: catalog.DefaultInstallDir()}
	res, err := s.result("relay.plugin.info", name)
	if err == nil && res.Plugin.Name == "" {
		err = diag.New(judge.BlockedPlugin, "there is no plugin "+name, "it neither came with relay nor is pinned in relay.lock.json", "`relay plugin list` shows the names")
	}
	return res, err
}

// Grant grants a pinned plugin what a person agrees to, or takes all of it back.
func Grant(ctx context.Context, r *host.Repo, name string, o InstallOptions) (*Result, error) {
	s, pin, err := pinned(r, name)
	if err != nil {
		return nil, err
	}
	offer := newOffer(name, pin, nil)
	if known, err := r.TrustStore().Plugin(s.root, name); err != nil {
		return nil, err
	} else if was, ok := catalog.ParseAgreement(known.Raw()); ok {
		offer.Changes = was.Changes(pin)
	}
	switch {
	case o.Granted:
		if err := chooseRights(&pin, o.Grant); err != nil {
			return nil, err
		}
	case o.Ask != nil:
		if yes, err := o.Ask(offer); err != nil || !yes {
			return nil, notAsked(offer, err)
		}
		if pin.Granted == nil {
			g := pin.Declared
			pin.Granted = &g
		}
	default:
		return nil, notAsked(offer, nil)
	}
	if err := s.write(name, &pin, ""); err != nil {
		return nil, err
	}
	return s.result("relay.plugin.grant", name)
}

func notAsked(offer *Offer, err error) error {
	if err != nil {
		return err
	}
	return diag.New(judge.BlockedPlugin, "plugin "+offer.Name+" was granted nothing", "nobody has agreed to what it asks for: "+orNothingAsked(offer.Asks),
		"`relay plugin grant "+offer.Name+" --grant "+diag.Word(offer.Grant)+"` grants exactly that")
}

func orNothingAsked(words []string) string {
	if len(words) == 0 {
		return "nothing beyond its own folders"
	}
	return strings.Join(words, ", ")
}

// Revoke takes back all that a plugin was granted; it is not started any more.
func Revoke(ctx context.Context, r *host.Repo, name string) (*Result, error) {
	s, pin, err := pinned(r, name)
	if err != nil {
		return nil, err
	}
	pin.Granted = nil
	from := ""
	if known, err := r.TrustStore().Plugin(s.root, name); err == nil && known != nil {
		from = known.From
	}
	if err := s.write(name, &pin, from); err != nil {
		return nil, err
	}
	return s.result("relay.plugin.revoke", name)
}

// Remove takes a plugin out of the lock file, and its file away where no other
// repository of this machine pins it.
func Remove(ctx context.Context, r *host.Repo, name string) (*Result, error) {
	if s, err := open(r); err == nil && s.unusable(name) != nil {
		if err := s.write(name, nil, ""); err != nil { // which file it meant is not known
			return nil, err
		}
		return s.result("relay.plugin.remove", name)
	}
	s, pin, err := pinned(r, name)
	if err != nil {
		return nil, err
	}
	if err := s.write(name, nil, ""); err != nil {
		return nil, err
	}
	others, err := r.TrustStore().PluginPins(name)
	if err != nil {
		return nil, err
	}
	for _, raw := range others {
		if was, ok := catalog.ParseAgreement(raw); ok && was.InstallPath("", name) == pin.InstallPath("", name) {
			return s.result("relay.plugin.remove", name)
		}
	}
	if err := release.Unplace(s.installDir, name, pin); err != nil {
		return nil, err
	}
	return s.result("relay.plugin.remove", name)
}

// ListResult is what can be used.
type ListResult struct {
	host.Doc
	Plugins []catalog.Entry `json:"plugins"`
	Problem *health.Check   `json:"problem,omitempty"` // why those that come with relay are not among them
}

// List lists plugins and starts none. It works outside a repository.
func List(ctx context.Context, r *host.Repo) (*ListResult, error) {
	c, err := r.Catalog(r.Root())
	if err != nil {
		return nil, err
	}
	l := &ListResult{Doc: host.DocOf("relay.plugins", 1), Plugins: c.List()}
	if alone := c.Alone("relay has no plugins of its own"); alone != nil {
		l.Problem = health.Failed("plugins", alone)
	}
	return l, nil
}
