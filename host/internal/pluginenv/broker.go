package pluginenv

import (
	"os"
	"path/filepath"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/broker"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
)

// broker gives a plugin a broker in place of its keys. The files in which keys are, and
// those with the logins of the vendors' programs, are shown by no box of the plugin.
func (e Env) broker(p *Plugin, files []string) (*broker.Broker, error) {
	if e.Means != "" && e.Means != box.Overlay {
		return nil, unheld(p.Entry.Name, e.Means)
	}
	b := broker.New()
	if err := p.Plan.Serve(b); err != nil {
		return nil, diag.Wrap(err, judge.BlockedPlugin, "the broker of plugin "+p.Entry.Name+" has no address on this machine", "`ip addr show lo` shows the loopback interface")
	}
	p.cleanup = append(p.cleanup, b.Close)
	for _, name := range broker.Logins() {
		files = append(files, filepath.Join(e.Home, name))
	}
	for _, path := range files {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			p.hidden = append(p.hidden, box.Bind{Path: path, Hidden: true})
		}
	}
	return b, nil
}

// unheld is why a broker is refused: where what relay itself has can be read, a key that
// only relay has is no secret.
func unheld(plugin, means string) *diag.Error {
	return diag.New(judge.BlockedBox, "secret is broker for plugin "+plugin+", and no kind of box on this machine keeps a key from an agent",
		"the means "+means+" leaves relay's own process and the user's files readable", "`relay doctor` says why the means overlay can't be used")
}
