package plugins

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/beneath"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/release"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
)

// Install takes a plugin, pins it, and asks what it is granted. Nothing of it runs
// before its file is pinned, and then only in a box without anything, to say what it is.
func Install(ctx context.Context, r *host.Repo, o InstallOptions) (*Result, error) {
	s, err := open(r)
	if err != nil {
		return nil, err
	}
	if bad := s.unusable(o.From); bad != nil {
		return nil, bad
	}
	if pin, ok := s.lock.Plugins[o.From]; ok && o.Key == "" && o.As == "" && !strings.Contains(o.From, "/") {
		return s.putBack(ctx, o.From, pin, o.Platforms)
	}
	return s.install(ctx, o, "")
}

// Upgrade takes the newest version of a pinned plugin from where it came from, or
// from o.From. It stops when that asks for more than was granted.
func Upgrade(ctx context.Context, r *host.Repo, name string, o InstallOptions) (*Result, error) {
	s, pin, err := pinned(r, name)
	if err != nil {
		return nil, err
	}
	if o.From == "" {
		if o.From, err = s.origin(name, pin); err != nil {
			return nil, err
		}
		o.From = release.Newest(o.From)
	}
	if len(o.Platforms) == 0 && pin.Module != "" {
		o.Platforms = pin.Platforms()
	}
	return s.install(ctx, o, name)
}

// shop is what the commands about plugins work with.
type shop struct {
	repo       *host.Repo
	root       string
	installDir string
	lock       *catalog.Lock
}

func open(r *host.Repo) (*shop, error) {
	root, err := workspace.FindRoot(r.Dir)
	if err != nil {
		return nil, err
	}
	if err := r.Outside(root); err != nil {
		return nil, err
	}
	lock, err := catalog.ReadLock(root)
	if err != nil {
		return nil, err
	}
	return &shop{repo: r, root: root, installDir: catalog.DefaultInstallDir(), lock: lock}, nil
}

// pinned opens the shop for a plugin of the lock file.
func pinned(r *host.Repo, name string) (*shop, catalog.Pin, error) {
	s, err := open(r)
	if err != nil {
		return nil, catalog.Pin{}, err
	}
	if bad := s.unusable(name); bad != nil {
		return nil, catalog.Pin{}, bad
	}
	pin, ok := s.lock.Plugins[name]
	if !ok {
		return nil, pin, diag.New(judge.BlockedPlugin, fmt.Sprintf("relay.lock.json pins no plugin %q", name),
			"only plugins that were installed are pinned; those that came with relay are not", "`relay plugin list` shows the names")
	}
	return s, pin, nil
}

// unusable is why the entry of a plugin in the lock file can't be used; nil when there is
// none or it can.
func (s *shop) unusable(name string) error {
	bad, ok := s.lock.Unusable[name]
	if !ok {
		return nil
	}
	return diag.Wrap(bad.Err, judge.BlockedPlugin, fmt.Sprintf("the entry of plugin %.100q in %s can't be used", name, catalog.LockFile),
		"`relay plugin remove "+diag.Word(name)+"` takes it out; then install the plugin again")
}

// origin is where a pinned plugin was taken from.
func (s *shop) origin(name string, pin catalog.Pin) (string, error) {
	if rel, ok := pin.Below(); ok {
		return s.inRepository(name, rel)
	}
	if pin.From != "" {
		return pin.From, nil
	}
	known, err := s.repo.TrustStore().Plugin(s.root, name)
	if err != nil {
		return "", err
	}
	if known == nil || known.From == "" {
		return "", diag.New(judge.BlockedPlugin, "this machine does not know where plugin "+name+" comes from",
			"it was installed from a folder of another machine", "`relay plugin install PATH`, with the folder, archive or file that it is in")
	}
	return known.From, nil
}

// inRepository is the place of a plugin that lies in the repository. Anyone who can change the
// repository can put a link there, and that leads to where nobody has looked.
func (s *shop) inRepository(name, rel string) (string, error) {
	at := filepath.Join(s.root, rel)
	root, err := filepath.EvalSymlinks(s.root)
	real := ""
	if err == nil {
		real, err = filepath.EvalSymlinks(at)
	}
	if err == nil && real != filepath.Join(root, rel) {
		err = beneath.ErrLink
	}
	if err != nil {
		return "", diag.Wrap(err, judge.BlockedPlugin, "plugin "+name+" can't be taken from ./"+rel+" in the repository", "`git log --stat -- "+diag.Word(rel)+"` shows what became of it")
	}
	return at, nil
}

// belowRoot is a place relative to the repository that it lies in.
func (s *shop) belowRoot(place string) (rel string, ok bool) {
	root, err := filepath.EvalSymlinks(s.root)
	if err == nil {
		place, err = filepath.EvalSymlinks(place)
	}
	if err == nil {
		rel, err = filepath.Rel(root, place)
	}
	return rel, err == nil && filepath.IsLocal(rel) && rel != "."
}

// take takes a release from wherever it is, with the hashes for these platforms; none are
// all. Of a mirror it is that version, or the newest one.
func (s *shop) take(ctx context.Context, from, version, key string, platforms []string) (rel *release.Release, err error) {
	if err := release.Scratch(s.installDir); err != nil {
		return nil, err
	}
	if release.IsModule(from) {
		if key != "" {
			return nil, diag.New(judge.BlockedPlugin, "a Go module has no signature, and releases of this plugin are to have one",
				"the publisher's key is "+key, "`relay plugin install --help`; take a signed release, or leave --key out")
		}
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, diag.Wrap(err, judge.BlockedPlugin, "relay has no folder to build a plugin in", "`export HOME=…`")
		}
		// By the built-in configuration, as in pinOf.
		env := pluginenv.Env{Config: config.Default(), StateDir: s.repo.StateDir(), Home: s.repo.Home(), Version: s.repo.Options.Version}
		return release.Module(ctx, from, s.installDir, platforms, release.Workshop{Cache: filepath.Join(cache, "relay", "go-build"), Run: env.Build})
	}
	if release.IsRemote(from) {
		rel, err = release.Remote(ctx, from, version, s.installDir, key)
	} else {
		rel, err = release.Local(from, s.installDir, key)
	}
	if err != nil {
		return nil, err
	}
	if err := rel.Only(platforms); err != nil {
		rel.Close()
		return nil, err
	}
	return rel, nil
}

// restore installs exactly the file that is pinned. It pins nothing, and so refuses to do
// that for other platforms.
func (s *shop) putBack(ctx context.Context, name string, pin catalog.Pin, platforms []string) (*Result, error) {
	from, err := s.origin(name, pin)
	if err != nil {
		return nil, err
	}
	if have := pin.Platforms(); len(platforms) > 0 || !slices.Contains(have, catalog.Platform) {
		if len(platforms) == 0 {
			platforms = append(have, catalog.Platform)
		}
		return nil, diag.New(judge.BlockedPlugin, "relay.lock.json pins plugin "+name+" for other platforms", fmt.Sprintf("it is pinned for %s; this machine is %s", strings.Join(have, ", "), catalog.Platform),
			"`relay plugin install "+as(from, name, pin.Called(name))+" --platform "+diag.Word(strings.Join(platforms, ","))+"` pins it again, after showing what changes")
	}
	rel, err := s.take(ctx, from, pin.Version, pin.Key, []string{catalog.Platform})
	if err != nil {
		return nil, err
	}
	defer rel.Close()
	if rel.Module != pin.Module {
		return nil, diag.New(judge.BlockedPlugin, "what is at "+from+" is not the plugin "+name+" that is pinned",
			"the checksum of its source is "+orNothing(rel.Module)+"; pinned is "+orNothing(pin.Module), "`git log -p "+catalog.LockFile+"` shows who changed the pin")
	}
	if want := pin.Hashes[catalog.Platform]; rel.Name != pin.Called(name) || "sha256:"+rel.SHA256 != want {
		if rel.Toolchain != pin.Toolchain {
			return nil, diag.New(judge.BlockedPlugin, "plugin "+name+" can't be built as it was pinned", "it was built by "+orNothing(pin.Toolchain)+"; here is "+rel.Toolchain,
				"`relay plugin upgrade "+name+"` pins what is built here, after showing what changes; or put "+orNothing(pin.Toolchain)+" first in PATH")
		}
		return nil, diag.New(judge.BlockedPlugin, "what is at "+from+" is not the plugin "+name+" that is pinned",
			fmt.Sprintf("it is %s with the SHA-256 %.16s…; pinned is %.23s…", rel.Name, rel.SHA256, want),
			"`relay plugin upgrade "+name+"` pins what is there now, after showing what changes")
	}
	rel.Name = name
	if err := rel.Place(s.installDir, pin); err != nil {
		return nil, err
	}
	return s.result("relay.plugin.install", name)
}

// as is a source as it is typed to install it under a name.
func as(from, name, own string) string {
	if name == own {
		return diag.Word(from)
	}
	return diag.Word(from) + " --as " + diag.Word(name)
}

// install pins a release. upgrade is the plugin that it must be a version of; "" for any.
func (s *shop) install(ctx context.Context, o InstallOptions, upgrade string) (*Result, error) {
	for _, at := range o.Platforms {
		if !catalog.ValidPlatform(at) {
			return nil, diag.New(judge.BlockedPlugin, fmt.Sprintf("%.100q is not a platform", at), "one is named as in relay.lock.json: "+catalog.Platform+" is this machine's", "`relay plugin install --help`")
		}
	}
	if o.As != "" && !catalog.ValidName(o.As) {
		return nil, diag.New(judge.BlockedPlugin, fmt.Sprintf("%.100q is not a plugin name", o.As), "one has lower-case letters, digits and dashes, at most 32, a letter first", "`relay plugin list` shows names in use; give --as another")
	}
	key := o.Key
	if upgrade != "" && key == "" {
		key = s.lock.Plugins[upgrade].Key
	}
	if key != "" {
		var err error
		if key, err = release.ParseKey(key); err != nil {
			return nil, diag.Wrap(err, judge.BlockedPlugin, "this is not a publisher's key", "`relay plugin install --help`")
		}
	}
	rel, err := s.take(ctx, o.From, "", key, o.Platforms)
	if err != nil {
		return nil, err
	}
	defer rel.Close()
	own, name := rel.Name, cmp.Or(o.As, upgrade, rel.Name)
	old, had := s.lock.Plugins[name]
	if upgrade != "" && own != old.Called(name) {
		return nil, diag.New(judge.BlockedPlugin, o.From+" is the plugin "+rel.Name+", not "+upgrade, "", "`relay plugin install "+diag.Word(o.From)+"` installs it as another one")
	}
	if had && old.Key != "" && o.Key == "" && rel.Key != old.Key {
		return nil, diag.New(judge.BlockedPlugin, "plugin "+name+" is signed with a different key than before",
			fmt.Sprintf("pinned is the key %s; this release has %s", old.Key, orNothing(rel.Key)),
			"`relay plugin install "+as(o.From, name, own)+" --key KEY`, if the publisher says that this is their new key")
	}
	if rel.New && rel.From != "" && o.Ask == nil && old.Key != rel.Key {
		return nil, diag.New(judge.BlockedPlugin, "nobody here knows the key that "+o.From+" is signed with", "it came along with the release: "+rel.Key,
			"`relay plugin install "+as(o.From, name, own)+" --key "+rel.Key+"`, if that is the publisher's key")
	}
	if taken := catalog.CameWithRelay(name); taken != "" {
		return nil, diag.New(judge.BlockedPlugin, "a plugin named "+name+" can't be installed", taken+" came with relay, and every configuration that names "+name+" means that one",
			"`relay plugin install "+as(o.From, own+"-2", own)+"` installs it under another name")
	}
	pin, purposes, err := s.repo.PinOf(ctx, rel, s.lock)
	if err != nil {
		return nil, err
	}
	if rel.Name = name; name != own {
		pin.Plugin, pin.Aliases = own, nil // they are those of the plugin's own name
	}
	if rel.Local != "" {
		if at, ok := s.belowRoot(rel.Local); ok {
			pin.SetBelow(at)
		}
	}
	if pin.Verified, err = verified(ctx, s.repo, rel, &pin); err != nil {
		return nil, err
	}
	offer := newOffer(name, pin, purposes)
	offer.Module = rel.Module
	offer.File, offer.Signed, offer.NewKey = rel.Binary, rel.Signed, rel.New
	if had {
		offer.Changes = old.Changes(pin)
		if upgrade != "" && goesBack(old, pin) {
			return nil, diag.New(judge.BlockedPlugin, fmt.Sprintf("%s %s is older than the %s that is pinned", name, pin.Version, old.Version),
				strings.Join(offer.Changes, "; "), "`relay plugin install "+as(o.From, name, own)+"` goes back all the same")
		}
	}
	if err := s.decide(o, &pin, old, had, upgrade != "", offer); err != nil {
		return nil, err
	}
	if err := rel.Place(s.installDir, pin); err != nil {
		return nil, err
	}
	if err := s.write(name, &pin, rel.Local); err != nil {
		return nil, err
	}
	return s.result("relay.plugin.install", name)
}
