package pluginenv

import (
	"context"
	"errors"
	"os"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/confine"
	"github.com/paxiom/relay/host/internal/launch"
	"github.com/paxiom/relay/host/internal/pluginhost"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/sdk/pluginpb"
)

// Ask asks a plugin that nobody knows yet what it is. It runs in a box in which it was
// granted nothing: no network, no program, no key, and no file but what every program
// needs. file is the plugin's file and hash its SHA-256.
func (e Env) Ask(ctx context.Context, name, file, hash string) (*pluginpb.GetInfoResponse, int, error) {
	stranger := catalog.Entry{Name: name, Path: file, SHA256: hash, Source: "local/" + name, Pin: &catalog.Pin{}}
	b, plan, sockets, remove, err := e.box(ctx, stranger)
	if err != nil {
		return nil, 0, err
	}
	defer remove()
	return asked(pluginhost.Ask(ctx, pluginhost.Spec{Entry: stranger, HostVersion: e.Version, SocketDir: sockets, Dir: b.Dir(), Start: InBox(b, plan), Trespass: plan.Trespass}))
}

// AskWaiting asks a plugin what it is that waits in a process of its developer's.
func (e Env) AskWaiting(ctx context.Context, name string, at launch.Attached, by string) (*pluginpb.GetInfoResponse, error) {
	info, _, err := asked(pluginhost.Ask(ctx, pluginhost.Spec{Entry: catalog.Waiting(catalog.Entry{Name: name}, at, by), HostVersion: e.Version}))
	return info, err
}

// asked says in words why a plugin did not answer.
func asked(info *pluginpb.GetInfoResponse, protocol int, err error) (*pluginpb.GetInfoResponse, int, error) {
	if f := (*pluginhost.Failure)(nil); errors.As(err, &f) {
		err = f.Diagnostic()
	}
	return info, protocol, err
}

// box is a box around an empty folder, with what a plugin was granted.
func (e Env) box(ctx context.Context, entry catalog.Entry) (b *box.Box, plan *confine.Plan, sockets string, remove func(), err error) {
	var undo []func()
	remove = func() {
		for _, f := range undo {
			f()
		}
	}
	defer func() {
		if err != nil {
			remove()
		}
	}()
	if err = os.MkdirAll(e.StateDir, 0o700); err != nil {
		return nil, nil, "", nil, diag.Wrap(err, judge.BlockedBox, "relay's state folder can't be created", "`ls -ld "+e.StateDir+"`")
	}
	empty, err := os.MkdirTemp("", "relay-job-")
	if err != nil {
		return nil, nil, "", nil, diag.Internal(err)
	}
	undo = append(undo, func() { os.RemoveAll(empty) })
	sockets, gone, err := launch.NewSocketDir()
	if err != nil {
		return nil, nil, "", nil, diag.Wrap(err, judge.BlockedPlugin, "relay can't make a folder for plugins' sockets", "`ls -ld /tmp /tmp/relay-*` shows who owns them")
	}
	undo = append(undo, gone)
	if plan, err = confine.ForPlugin(e.limits(), confine.Provider, entry, nil, empty, e.Home, e.Refused); err != nil {
		return nil, nil, "", nil, err
	}
	b, err = box.New(box.Spec{Means: box.Overlay, Root: empty, Home: e.Home, StateDir: e.StateDir, ReadOnlyRoot: true,
		Binds: []box.Bind{{Path: sockets, Writable: true, Counted: true}}, Hide: Hide(e.Config, e.Home)})
	if err != nil {
		return nil, nil, "", nil, BoxFault(err)
	}
	return b, plan, sockets, remove, nil
}

// What a plugin that is asked what it is, or held to the rules, may take of the machine;
// less where the configuration says so. Nobody has agreed to anything yet.
const (
	cellMemoryMB  = 2000
	cellProcesses = 500
	cellDiskMB    = 1000
)

// limits are those of the configuration, with no network beyond what is granted.
func (e Env) limits() config.Box {
	c := e.Config.Box
	c.Network.Provider = "full" // narrowed to what is granted, which is nothing yet
	for limit, most := range map[*int]int{&c.Limits.MemoryMB: cellMemoryMB, &c.Limits.Processes: cellProcesses, &c.Limits.DiskMB: cellDiskMB} {
		if *limit == 0 || *limit > most {
			*limit = most
		}
	}
	return c
}
