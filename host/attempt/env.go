package attempt

import (
	"context"
	"fmt"
	"time"

	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/internal/attest"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/host/internal/netproxy"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// Env is where attempts are made: a checkout, and what relay has on this machine.
type Env struct {
	Git  *git.Repo // of the checkout
	Root string    // of the operator's checkout, which may be another one
	// Journal is the folder of the changes' records. A workflow with a folder of its own
	// settles no other's changes.
	Journal string

	Config  *config.Config
	WS      *workspace.Workspace
	Catalog *catalog.Catalog
	// StateDir is relay's state on this machine, Home the user's home.
	StateDir, Home string
	Environ        []string
	Version        string
	Now            func() time.Time
	Means          string // of the boxes; "" chooses
	// Refused is told of each host that a box wanted and that is not listed, Heard of all that a
	// box was refused, when it is done; both may be nil.
	Refused func(netproxy.Refusal)
	Heard   func(report.Network)
}

// RefusedText is a notice of what a box was refused.
func RefusedText(n netproxy.Refusal) string {
	return fmt.Sprintf("a box was refused %s: %s", n.Target, n.Why)
}

// Owned are the globs of relay's own files: no builder writes them.
func (e Env) Owned() []string {
	return append(append([]string{}, e.WS.OwnedGlobs()...), e.Config.Runner.RunnerOwnedGlobs...)
}

// Ceiling is the most that a task of a workflow may have in this checkout.
func (e Env) Ceiling(f config.Fence, own judge.BuilderCommits) judge.Ceiling {
	c := e.Config.Ceiling(f, e.Owned(), own)
	if e.Git != nil {
		c.Programs = config.RunByGit(c.Programs, e.Git)
	}
	return c
}

// Filtering is where the user's git filters run.
func (e Env) Filtering() change.Filtering {
	return change.Filtering{Means: pluginenv.Chooser(e.Config, e.StateDir), StateDir: e.StateDir, Home: e.Home, Environ: e.Environ}
}

// Changes is what changes of the checkout share. Without Means none of them has a box.
func (e Env) Changes() change.Env {
	return change.Env{Git: e.Git, StateDir: e.StateDir, Journal: journal.Open(e.Journal), Means: e.Means, Required: e.Config.Box.Required, Choose: pluginenv.Chooser(e.Config, e.StateDir),
		Busy: []string{e.WS.Shared()}, Watch: e.WS.Kept(), Home: e.Home, Persist: pluginenv.Persist(e.Config, e.Home), Hide: pluginenv.Hide(e.Config, e.Home), Secrets: pluginenv.Secrets(e.Config, e.Home),
		Owned: e.Owned(), Environ: e.Environ,
		Keep: e.Filtering().Keeper(e.Git, e.Means, e.WS.Rel())}
}

// Boxes is Changes with the means of boxes. They show commits also of a work tree that is
// relay's own: its git directory is the operator's, stashes and all.
func (e Env) Boxes(ctx context.Context) (_ change.Env, err error) {
	if e.Means == "" {
		if e.Means, err = pluginenv.Means(ctx, e.Config, e.StateDir, e.Git.Root); err != nil {
			return change.Env{}, err
		}
	}
	return e.Changes(), nil
}

// Recover settles the changes that were cut off; see [change.Recover].
func (e Env) Recover(ctx context.Context, force bool, told func(change.Recovery) error) ([]change.Recovery, error) {
	return change.Recover(ctx, e.Changes(), force, told)
}

// Plugins is where the plugins of a run come from; stderr is the folder for what they print.
func (e Env) PluginEnv(run, stderr string) pluginenv.Env {
	c := pluginenv.Env{Catalog: e.Catalog, Config: e.Config, Root: e.Root, Repo: e.Root, StateDir: e.StateDir, Home: e.Home, Means: e.Means,
		Version: e.Version, RunID: run, StderrDir: stderr, Now: e.Now, Refused: e.Refused, Heard: e.Heard}
	if e.Git != nil {
		c.Root = e.Git.Root
	}
	return c
}

// Attester is what attesting needs besides the facts.
func (e Env) Attester() attest.Options {
	now := time.Now
	if e.Now != nil {
		now = e.Now
	}
	return attest.Options{Git: e.Git, StateDir: e.StateDir, Home: e.Home, Environ: e.Environ, Sign: e.Config.Evidence.Sign, Version: e.Version, Now: now()}
}
