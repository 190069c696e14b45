package plugins

import (
	"fmt"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/release"
	"github.com/paxiom/relay/judge"
)

// decide finds out what the plugin is granted: what the caller lists, what was granted
// before and is enough, or what a person says now. Otherwise it is granted nothing yet.
func (s *shop) decide(o InstallOptions, pin *catalog.Pin, old catalog.Pin, had, upgrade bool, offer *Offer) error {
	if o.Granted {
		return chooseRights(pin, o.Grant)
	}
	if had && s.agreed(offer.Name, old) {
		more := pin.Declared.Beyond(old.Declared)
		if more.Empty() {
			kept := old.Granted.Beyond(old.Granted.Beyond(pin.Declared))
			if old.Granted.Any() {
				kept.Hosts = append(kept.Hosts, catalog.AnyHost)
			}
			pin.Granted = &kept
			return nil
		}
		offer.Widens = more.Words()
	}
	if o.Ask != nil {
		yes, err := o.Ask(offer)
		if err == nil && yes {
			g := pin.Declared
			pin.Granted = &g
			return nil
		}
		if err != nil || upgrade {
			return notGranted(offer, err)
		}
	}
	if upgrade || len(offer.Widens) > 0 {
		return notGranted(offer, nil)
	}
	return nil
}

func notGranted(offer *Offer, err error) error {
	if err != nil {
		return err
	}
	what := fmt.Sprintf("plugin %s %s was not installed: nobody granted what it asks for", offer.Name, offer.Version)
	why := "it asks for " + strings.Join(offer.Asks, ", ")
	if len(offer.Widens) > 0 {
		why = "it asks for more than it was granted before: " + strings.Join(offer.Widens, ", ") + "; the version before stays"
	}
	return diag.New(judge.BlockedPlugin, what, why, "`relay plugin upgrade "+offer.Name+" --grant "+diag.Word(offer.Grant)+"` grants exactly that")
}

func chooseRights(pin *catalog.Pin, words []string) error {
	g, err := pin.Declared.Choose(words)
	if err != nil {
		return diag.Wrap(err, judge.BlockedPlugin, "this can't be granted", "`relay plugin grant --help`")
	}
	pin.Granted = &g
	return nil
}

// agreed says that a person of this machine agreed to the pin as it stands.
func (s *shop) agreed(name string, pin catalog.Pin) bool {
	c, err := s.repo.Catalog(s.root)
	if err != nil || pin.Granted == nil {
		return false
	}
	e, ok := c.Entry(name)
	return ok && e.Pin != nil && e.State != catalog.NotGranted && e.Pin.Same(pin)
}

// write puts the pin into the lock file, nil takes it out, and remembers that a person of
// this machine agreed to it when it has grants.
func (s *shop) write(name string, pin *catalog.Pin, local string) error {
	err := catalog.EditLock(s.root, func(l *catalog.Lock) error {
		delete(l.Unusable, name)
		if pin == nil {
			delete(l.Plugins, name)
		} else {
			l.Plugins[name] = *pin
		}
		return nil
	})
	if err != nil {
		return err
	}
	if s.lock, err = catalog.ReadLock(s.root); err != nil {
		return err
	}
	if pin == nil || pin.Granted == nil && local == "" {
		return s.repo.TrustStore().ForgetPlugin(s.root, name)
	}
	return s.repo.TrustStore().AgreePlugin(s.root, name, s.lock.Plugins[name].Agreement(), local)
}

// result is what the plugin is now.
func (s *shop) result(kind, name string) (*Result, error) {
	c, err := s.repo.Catalog(s.root)
	if err != nil {
		return nil, err
	}
	res := &Result{Doc: host.DocOf(kind, 1)}
	for _, e := range c.List() {
		if e.Name == name && e.State != catalog.Shadowed {
			res.Plugin = e
			break
		}
	}
	if p := res.Plugin.Pin; p != nil {
		res.Digest = p.Digest(name)
		res.Asks, res.AsksFor = p.Declared.Words(), p.Declared.Sentences()
		if p.Granted != nil {
			res.Granted, res.Left = p.Granted.Words(), p.Declared.Beyond(*p.Granted).Words()
		}
	}
	return res, nil
}

func orNothing(s string) string {
	if s == "" {
		return "no signature"
	}
	return s
}

// goesBack reports whether a release is older than what is pinned: by the version of its
// module, which nobody can choose freely, as well as by the plugin's.
func goesBack(old, now catalog.Pin) bool {
	if was, is := release.ModuleVersion(old.From), release.ModuleVersion(now.From); was != "" && is != "" && semver.Compare(is, was) < 0 {
		return true
	}
	return semver.Compare(host.Canon(now.Version), host.Canon(old.Version)) < 0 || now.Protocol < old.Protocol
}
