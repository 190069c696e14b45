package plugins

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/beneath"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/release"
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
	given := cases != ""
	if own := filepath.Join(filepath.Dir(entry.Path), plugintest.CasesFile); !given && entry.Pin != nil && callable(entry.Pin) {
		if _, err := os.Lstat(own); err == nil {
			cases = own
		}
	}
	job := pluginenv.Job{Calls: given}
	if cases != "" {
		if _, err := readCases(cases, ""); err != nil {
			return nil, err
		}
		raw, err := beneath.ReadPlain(cases, 16<<20)
		if err != nil {
			return nil, diag.Internal(err)
		}
		job.Files = map[string][]byte{plugintest.CasesFile: raw}
	}
	res, err := inBox(ctx, r, entry, job)
	if err == nil && cases == "" {
		res.Notes = append(res.Notes, "the rules about calls were not tried: --cases names a file of calls that may be made")
	}
	return res, err
}

// callable says that the calls of a release may be made without anybody's yes: they start no
// program, so that nothing but the plugin itself takes part in the box.
func callable(pin *catalog.Pin) bool { return len(pin.Declared.Programs) == 0 }

// inBox tries the rules on the file of a plugin in the box of [Verify].
func inBox(ctx context.Context, r *host.Repo, entry catalog.Entry, job pluginenv.Job) (*Rules, error) {
	env := pluginenv.Env{Config: config.Default(), StateDir: r.StateDir(), Home: r.Home(), Version: r.Options.Version}
	job.Args = []string{"plugin", "verify", "--json", "--binary"}
	out, err := env.InBox(ctx, r.Options.Executable, entry, job)
	if err != nil {
		return nil, err
	}
	res := &Rules{}
	if err := json.Unmarshal(out, res); err != nil || len(res.Rules) == 0 {
		return nil, diag.New(judge.BlockedPlugin, "plugin "+entry.Name+" could not be tried", "its output is not a list of verdicts: "+format.Clip(string(out), 300), "`relay doctor`")
	}
	res.Plugin = entry.Name
	return res, nil
}

// tryingTime bounds the trial of a plugin that is being installed.
const tryingTime = 5 * time.Minute

// verified tries the rules on a release that is about to be pinned. A plugin that breaks one
// is pinned all the same: the box holds it, whether it keeps them or not, and the lock file
// tells the team.
func verified(ctx context.Context, r *host.Repo, rel *release.Release, pin *catalog.Pin) (*catalog.Verified, error) {
	job := pluginenv.Job{}
	if cases, err := rel.Cases(); err != nil {
		return nil, diag.Internal(err)
	} else if cases != nil && callable(pin) {
		job.Files = map[string][]byte{plugintest.CasesFile: cases}
	}
	trial, cancel := context.WithTimeout(ctx, tryingTime)
	defer cancel()
	res, err := inBox(trial, r, catalog.Entry{Name: rel.Name, Path: rel.Binary, SHA256: rel.SHA256}, job)
	if err != nil && trial.Err() != nil && ctx.Err() == nil {
		err = diag.New(judge.BlockedPlugin, "plugin "+rel.Name+" was not installed", fmt.Sprintf("trying the rules on it took longer than %v", tryingTime), "`relay plugin test PATH`, with its file, shows by which rule it hangs")
	}
	if err != nil {
		return nil, err
	}
	v := &catalog.Verified{}
	for _, rule := range res.Rules {
		switch rule.Verdict {
		case plugintest.Passed:
			v.Kept++
		case plugintest.Failed:
			v.Broken = append(v.Broken, rule.ID)
		}
	}
	return v, nil
}
