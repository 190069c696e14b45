package plugins

import (
	"context"
	"encoding/json"
	"path/filepath"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/beneath"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/sdk/plugintest"
)

// Rules are the verdicts on a plugin, rule by rule.
type Rules struct {
	host.Doc
	Plugin string              `json:"plugin"`
	Rules  []plugintest.Result `json:"rules"`
	Notes  []string            `json:"notes,omitempty"`
}

// Failed counts the rules that the plugin breaks.
func (r *Rules) Failed() (n int) {
	for _, rule := range r.Rules {
		if rule.Verdict == plugintest.Failed {
			n++
		}
	}
	return n
}

// Try tries the rules on a plugin's file, where this process is, with the cases that
// lie beside it.
func Try(ctx context.Context, file string) (*Rules, error) {
	cfg, err := readCases("", filepath.Dir(file))
	if err != nil {
		return nil, err
	}
	cfg.Binary = file
	return &Rules{Doc: host.DocOf("relay.plugin.rules", 1), Plugin: file, Rules: plugintest.Verify(ctx, cfg)}, nil
}

// Verify tries the rules on an installed plugin, in a box without network in which
// it finds nothing of this machine's user. cases is a file of calls to try it with, as
// its author keeps one; "" tries the rules that need no call.
func Verify(ctx context.Context, r *host.Repo, name, cases string) (*Rules, error) {
	c, err := r.Catalog(r.Root())
	if err != nil {
		return nil, err
	}
	entry, ok := c.Entry(catalog.Canonical(name))
	switch {
	case !ok:
		return nil, diag.New(judge.BlockedPlugin, "there is no plugin "+name, "it neither came with relay nor is pinned in relay.lock.json", "`relay plugin list` shows the names")
	case entry.State != catalog.OK:
		return nil, diag.New(judge.BlockedPlugin, "plugin "+name+" can't be tried: "+string(entry.State), entry.Reason, entry.Reinstall())
	}
	env := pluginenv.Env{Config: config.Default(), StateDir: r.StateDir(), Home: r.Home(), Version: r.Options.Version}
	job := pluginenv.Job{Args: []string{"plugin", "verify", "--json", "--binary"}}
	if cases != "" {
		if _, err := readCases(cases, ""); err != nil {
			return nil, err
		}
		raw, err := beneath.ReadPlain(cases, 16<<20)
		if err != nil {
			return nil, diag.Internal(err)
		}
		job.Files, job.Calls = map[string][]byte{plugintest.CasesFile: raw}, true
	}
	out, err := env.InBox(ctx, r.Options.Executable, entry, job)
	if err != nil {
		return nil, err
	}
	res := &Rules{}
	if err := json.Unmarshal(out, res); err != nil || len(res.Rules) == 0 {
		return nil, diag.New(judge.BlockedPlugin, "plugin "+name+" could not be tried", "its output is not a list of verdicts: "+format.Clip(string(out), 300), "`relay doctor`")
	}
	res.Plugin = entry.Name
	if cases == "" {
		res.Notes = append(res.Notes, "the rules about calls were not tried: --cases names a file of calls that may be made")
	}
	return res, nil
}
