package host

import (
	"context"
	"encoding/json"
	"path/filepath"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/beneath"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/crew"
	"github.com/paxiom/relay/host/internal/words"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/sdk/plugintest"
)

// PluginRules are the verdicts on a plugin, rule by rule.
type PluginRules struct {
	Doc
	Plugin string              `json:"plugin"`
	Rules  []plugintest.Result `json:"rules"`
	Notes  []string            `json:"notes,omitempty"`
}

// Failed counts the rules that the plugin breaks.
func (r *PluginRules) Failed() (n int) {
	for _, rule := range r.Rules {
		if rule.Verdict == plugintest.Failed {
			n++
		}
	}
	return n
}

// TryPlugin tries the rules on a plugin's file, where this process is, with the cases that
// lie beside it.
func TryPlugin(ctx context.Context, file string) (*PluginRules, error) {
	cfg, err := pluginCases("", filepath.Dir(file))
	if err != nil {
		return nil, err
	}
	cfg.Binary = file
	return &PluginRules{Doc: Doc{"relay.plugin.rules", 1}, Plugin: file, Rules: plugintest.Verify(ctx, cfg)}, nil
}

// PluginVerify tries the rules on an installed plugin, in a box without network in which
// it finds nothing of this machine's user. cases is a file of calls to try it with, as
// its author keeps one; "" tries the rules that need no call.
func (r *Repo) PluginVerify(ctx context.Context, name, cases string) (*PluginRules, error) {
	c, err := r.catalog(r.Root())
	if err != nil {
		return nil, err
	}
	entry, ok := c.Entry(catalog.Canonical(name))
	switch {
	case !ok:
		return nil, fault.New(judge.BlockedPlugin, "there is no plugin "+name, "it neither came with relay nor is pinned in relay.lock.json", "`relay plugin list` shows the names")
	case entry.State != catalog.OK:
		return nil, fault.New(judge.BlockedPlugin, "plugin "+name+" can't be tried: "+string(entry.State), entry.Reason, entry.Reinstall())
	}
	env := crew.Env{Config: config.Default(), StateDir: r.stateDir(), Home: r.home(), Version: r.opts.Version}
	errand := crew.Errand{Args: []string{"plugin", "verify", "--json", "--binary"}}
	if cases != "" {
		if _, err := pluginCases(cases, ""); err != nil {
			return nil, err
		}
		raw, err := beneath.ReadPlain(cases, 16<<20)
		if err != nil {
			return nil, fault.Internal(err)
		}
		errand.Files, errand.Calls = map[string][]byte{plugintest.CasesFile: raw}, true
	}
	out, err := env.InCell(ctx, r.opts.Executable, entry, errand)
	if err != nil {
		return nil, err
	}
	res := &PluginRules{}
	if err := json.Unmarshal(out, res); err != nil || len(res.Rules) == 0 {
		return nil, fault.New(judge.BlockedPlugin, "plugin "+name+" could not be tried", "what came of it is no list of verdicts: "+words.Clip(string(out), 300), "`relay doctor`")
	}
	res.Plugin = entry.Name
	if cases == "" {
		res.Notes = append(res.Notes, "the rules about calls were not tried: --cases names a file of calls that may be made")
	}
	return res, nil
}
