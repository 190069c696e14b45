package confine

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/netproxy"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
)

// ForPlugin works out the plan of a plugin. One that came with relay has the plan of
// its role; any other is held to what it was granted, and the role's network narrows
// that further, but never widens it.
func ForPlugin(c config.Box, role Role, e catalog.Entry, needs []string, root, home string, notice func(netproxy.Refusal)) (*Plan, error) {
	if e.Pin != nil { // it needs what it was granted, as far as relay knows
		for _, network := range []*string{&c.Network.Builder, &c.Network.Provider} {
			if *network == needed {
				*network = full
			}
		}
	}
	p, err := For(c, role, needs, notice)
	if err != nil || e.Pin == nil {
		return p, err
	}
	p.held = &e
	p.confine.Grants = grants(e, root, home)
	if slices.Contains(e.Hosts, catalog.AnyHost) {
		return p, nil
	}
	granted, err := netproxy.ParseHosts(e.Hosts)
	if err != nil {
		return nil, diag.Wrap(err, judge.BlockedPlugin, "the hosts of plugin "+e.Name+" can't be used", "`relay plugin info "+e.Name+"`")
	}
	if p.network != full {
		var listed []netproxy.Host // none of them for the network none
		if p.network == hosts {
			if listed, err = netproxy.ParseHosts(c.Network.Hosts); err != nil {
				return nil, err
			}
		}
		granted = slices.DeleteFunc(granted, func(h netproxy.Host) bool {
			return !slices.ContainsFunc(listed, func(l netproxy.Host) bool { return l.Covers(h) })
		})
	}
	// Without a single host there is a proxy, too: it sees what the plugin tries.
	p.network, p.confine.OwnNetwork = hosts, true
	p.proxy = netproxy.New(granted, func(r netproxy.Refusal) {
		if notice != nil {
			notice(r)
		}
		if r.Unlisted {
			p.trespass(box.Ungranted("host", r.Target))
		}
	})
	p.confine.Listen = p.proxy.Listen()
	return p, nil
}

// grants turns what was granted into files of this machine.
func grants(e catalog.Entry, root, home string) box.Grants {
	g := box.Grants{Held: true}
	for _, name := range e.Programs {
		path, err := exec.LookPath(name)
		if err != nil || !filepath.IsAbs(path) {
			continue // it is not there, so it can't be started
		}
		g.Programs = append(g.Programs, path)
		if real, err := filepath.EvalSymlinks(path); err == nil { // with what lies beside it
			g.Read = append(g.Read, path, filepath.Dir(real))
		}
	}
	for _, path := range e.Read {
		g.Read = append(g.Read, place(path, root, home))
	}
	for _, path := range e.Write {
		g.Write = append(g.Write, place(path, root, home))
	}
	return g
}

func place(path, root, home string) string {
	if path == "." {
		return root
	}
	if below, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(home, below)
	}
	return path
}

// Writable are the files and folders that a plugin was granted to write for real,
// besides the repository, which no box writes.
func Writable(e catalog.Entry, root, home string) (binds []box.Bind) {
	if e.Pin == nil {
		return nil
	}
	for _, path := range e.Read {
		if path != "." {
			binds = append(binds, box.Bind{Path: place(path, root, home), Shown: true})
		}
	}
	for _, path := range e.Write {
		at := place(path, root, home)
		if _, err := os.Lstat(at); err == nil && at != root && !strings.HasPrefix(at, root+"/") {
			binds = append(binds, box.Bind{Path: at, Writable: true})
		}
	}
	return binds
}

// trespass ends the plugin that used what it was not granted.
func (p *Plan) trespass(e *box.Exceeded) {
	p.mu.Lock()
	run := p.last
	p.mu.Unlock()
	if run != nil {
		run.Exceed(e)
	}
}

// Trespass is the verdict when the last box of the plan was ended since the plugin used
// what it was not granted; nil when it was not.
func (p *Plan) Trespass() *diag.Error {
	if p == nil || p.held == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last == nil {
		return nil
	}
	return p.ungranted(p.last.Exceeded())
}

// ungranted says in words that a plugin used what it was not granted.
func (p *Plan) ungranted(e *box.Exceeded) *diag.Error {
	kind, name := e.Ungranted()
	if kind == "" {
		return nil
	}
	plugin := p.held.Name
	f := &diag.Error{Code: judge.BlockedPlugin, What: "plugin " + plugin + " was ended: it used what it was not granted", Why: e.Error(), Err: e,
		Fix: "`relay plugin info " + plugin + "` shows what it asks for and was granted; `relay plugin remove " + plugin + "` takes it away"}
	if word := p.asked(kind, name); word != "" {
		f.Why += "; it asks for " + word + ", and that was left out"
		f.Fix = "`relay plugin grant " + plugin + "` asks again what it is granted"
	}
	return f
}

// asked is the right that the plugin declares and that would have covered this.
func (p *Plan) asked(kind, name string) string {
	declared := p.held.Pin.Declared
	switch kind {
	case "host":
		wanted, err := netproxy.ParseHost(name)
		for _, h := range declared.Hosts {
			if l, bad := netproxy.ParseHost(h); err == nil && bad == nil && l.Covers(wanted) {
				return "host:" + h
			}
		}
	case "program":
		for _, have := range declared.Programs {
			path, err := exec.LookPath(have)
			if err != nil {
				continue
			}
			if real, err := filepath.EvalSymlinks(path); err == nil && (real == name || path == name) {
				return "program:" + have
			}
		}
	}
	return ""
}
