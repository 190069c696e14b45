package host

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/semver"
	"google.golang.org/protobuf/proto"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/launch"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/release"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/sdk"
)

// Unpinned is a plugin that its developer brings for one command, in the place of what is
// pinned or came with relay.
type Unpinned struct {
	Name string
	// File is the plugin's file: it is held to what it declares. "" takes a process that
	// waits for relay, as [sdk.Reattach] describes it: nothing holds that one.
	File string
	// Reattach is the file that says where it waits; "" is [sdk.ReattachFile].
	Reattach string
}

// By is how the plugin was brought, as a person typed it.
func (u Unpinned) By() string {
	switch {
	case u.File != "":
		return "--dev " + u.Name + "=" + u.File
	case u.Reattach != "":
		return "--reattach " + u.Name + "=" + u.Reattach
	}
	return "--reattach " + u.Name
}

// broughtFor is how long the copy of a file that a developer brought is kept.
const broughtFor = 24 * time.Hour

// bringAll makes the entries of all plugins that a developer brings.
func (r *Repo) bringAll() (entries []catalog.Entry, err error) {
	for _, u := range r.Options.Unpinned {
		var e catalog.Entry
		if !catalog.ValidName(u.Name) {
			err = diag.New(judge.BlockedPlugin, fmt.Sprintf("%q is not a valid plugin name", u.Name), "it must match "+catalog.NamePattern, "`relay plugin list` shows the names")
		} else if u.File != "" {
			e, err = r.bring(context.Background(), u)
		} else {
			e, err = r.reattach(context.Background(), u)
		}
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// bring takes a copy of the file, so that the next build does not come between, and asks
// it in a box what it is.
func (r *Repo) bring(ctx context.Context, u Unpinned) (catalog.Entry, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return catalog.Entry{}, diag.Wrap(err, judge.BlockedPlugin, "relay has no folder for the plugin "+u.Name, "`echo $HOME`: relay needs a home")
	}
	dir := filepath.Join(cache, "relay", "dev")
	if err := release.Scratch(dir); err != nil {
		return catalog.Entry{}, err
	}
	rel, err := release.Local(u.File, dir, "")
	if err != nil {
		return catalog.Entry{}, err
	}
	defer rel.Close()
	if rel.Name != u.Name {
		return catalog.Entry{}, diag.New(judge.BlockedPlugin, u.File+" is the plugin "+rel.Name+", not "+u.Name, "a plugin's file is named as the plugin", "`relay --dev "+rel.Name+"="+diag.Word(u.File)+" plugin list`")
	}
	pin, _, err := r.PinOf(ctx, rel, nil)
	if err != nil {
		return catalog.Entry{}, err
	}
	sweepBrought(filepath.Dir(filepath.Dir(pin.InstallPath(dir, u.Name))))
	if err := rel.Place(dir, pin); err != nil {
		return catalog.Entry{}, err
	}
	return catalog.Brought(u.Name, pin, dir, u.By()), nil
}

// sweepBrought removes the builds in a folder that have had their time.
func sweepBrought(dir string) {
	builds, _ := os.ReadDir(dir)
	for _, b := range builds {
		if info, err := b.Info(); err == nil && b.IsDir() && time.Since(info.ModTime()) > broughtFor {
			os.RemoveAll(filepath.Join(dir, b.Name()))
		}
	}
}

// reattach asks the plugin that waits what it is.
func (r *Repo) reattach(ctx context.Context, u Unpinned) (catalog.Entry, error) {
	at, err := waiting(u)
	if err != nil {
		return catalog.Entry{}, err
	}
	where := launch.Attached{Socket: at.Address, Pid: at.Pid, Protocol: at.ProtocolVersion}
	info, err := pluginenv.Env{Version: r.Options.Version}.AskWaiting(ctx, u.Name, where, u.By())
	if err != nil {
		return catalog.Entry{}, err
	}
	says := catalog.FromResponse(info)
	if says.Name != u.Name {
		return catalog.Entry{}, diag.New(judge.BlockedPlugin, fmt.Sprintf("the plugin that waits as %s calls itself %q", u.Name, says.Name), "", "`relay --reattach "+diag.Word(says.Name)+" plugin list`")
	}
	return catalog.Waiting(says, where, u.By()), nil
}

// maxReattach bounds the file of a plugin that waits.
const maxReattach = 64 << 10

// waiting reads where the plugin waits. Anyone who could write that file could have relay
// talk to a program of theirs.
func waiting(u Unpinned) (at sdk.Reattach, err error) {
	path := u.Reattach
	if path == "" {
		if path, err = sdk.ReattachFile(u.Name); err != nil {
			return at, diag.Internal(err)
		}
	}
	what, fix := "the plugin "+u.Name+" does not wait for relay", "`relay-plugin-"+u.Name+" --debug` in another terminal, then the same command again"
	b, err := workspace.ReadFile(path, maxReattach)
	if err != nil {
		return at, diag.Wrap(err, judge.BlockedPlugin, what, fix)
	}
	if bad := launch.UnsafeFile(path); bad != nil {
		return at, diag.New(judge.BlockedPlugin, what, path+" "+bad.Why, bad.Fix)
	}
	if err := json.Unmarshal(b, &at); err != nil || at.Protocol != "grpc" || at.Network != "unix" || !filepath.IsAbs(at.Address) {
		return at, diag.New(judge.BlockedPlugin, what, path+" does not say where: it must name a unix socket and grpc", fix)
	}
	return at, nil
}

// settings are the --set of a call, with what plugins that a developer brings need: a
// builder that waits outside sees only a box that is a copy.
func (r *Repo) settings() ([]string, error) {
	set := r.Options.Set
	if !slices.ContainsFunc(r.Options.Unpinned, func(u Unpinned) bool { return u.File == "" }) {
		return set, nil // what is started in a box is not needed for that
	}
	entries, err := r.unpinned()
	if slices.ContainsFunc(entries, func(e catalog.Entry) bool { return e.Attach != nil && e.Is(catalog.Builder) }) {
		set = append(slices.Clone(set), "box.means="+box.Copy)
	}
	return set, err
}

// PinOf makes the pin of a release beside those of the lock file: of its files, and of what the plugin says it is.
func (r *Repo) PinOf(ctx context.Context, rel *release.Release, lock *catalog.Lock) (pin catalog.Pin, purposes map[string]string, err error) {
	// By the built-in configuration: what a repository says does not matter yet.
	env := pluginenv.Env{Config: config.Default(), StateDir: r.StateDir(), Home: r.Home(), Version: r.Options.Version}
	info, protocol, err := env.Ask(ctx, rel.Name, rel.Binary, rel.SHA256)
	if err != nil {
		return pin, nil, err
	}
	again, _, err := env.Ask(ctx, rel.Name, rel.Binary, rel.SHA256)
	if err != nil {
		return pin, nil, err
	}
	refuse := func(what, why string) error {
		return diag.New(judge.BlockedPlugin, what, why, "`relay plugin list`; report it to the plugin's author")
	}
	said := catalog.FromResponse(info)
	switch {
	case !proto.Equal(info, again):
		return pin, nil, refuse("plugin "+rel.Name+" can't be pinned", "asked twice what it is, it gave two answers")
	case said.Name != rel.Name:
		return pin, nil, refuse(fmt.Sprintf("the file relay-plugin-%s calls itself %.100q", rel.Name, said.Name), "a plugin's file is named as the plugin")
	case rel.Version != "" && semver.Compare(Canon(rel.Version), Canon(said.Version)) != 0:
		return pin, nil, refuse(fmt.Sprintf("plugin %s says that it is version %.100q; the release is %s", rel.Name, said.Version, rel.Version),
			"a release is known by its version, and so is its plugin")
	}
	if err := catalog.Usable(said, lock); err != nil {
		return pin, nil, refuse("plugin "+rel.Name+" can't be pinned", err.Error())
	}
	source := "local/" + rel.Name
	if rel.From != "" {
		source = release.Source(rel.From, rel.Name)
	}
	pin = catalog.Pin{Source: source, From: rel.From, Version: said.Version, Protocol: protocol, Kinds: said.Kinds, Aliases: said.Aliases, Summary: said.Summary,
		Hashes: rel.Hashes, Key: rel.Key, Module: rel.Module, Toolchain: rel.Toolchain, Declared: said.Asks()}
	if len(said.ConfigSchema) > 0 {
		pin.Schema = "sha256:" + catalog.SchemaHash(said.ConfigSchema)
	}
	purposes = map[string]string{}
	for _, v := range said.Env {
		purposes["env:"+v.Name] = v.Purpose
	}
	if err := pin.Check(rel.Name); err != nil {
		return pin, nil, diag.Wrap(err, judge.BlockedPlugin, "plugin "+rel.Name+" can't be pinned", "`relay plugin list`; report it to the plugin's author")
	}
	return pin, purposes, nil
}

func Canon(v string) string { return "v" + strings.TrimPrefix(v, "v") }
