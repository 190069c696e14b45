package host

import (
	"context"
	"time"

	"github.com/paxiom/relay/host/internal/attest"
	"github.com/paxiom/relay/judge/git"
)

// Approve makes an approval of the operator's yes, with the key that git signs with.
func (r *Repo) Approve(ctx context.Context, root string, at time.Time, of func(*git.Repo) (attest.Approved, error)) (attest.Approval, error) {
	var yes attest.Approved
	git, err := git.Open(ctx, root)
	if err == nil {
		yes, err = of(git)
	}
	if err != nil {
		return attest.Approval{Kind: yes.Kind, At: at.UTC().Format(attest.Time)}, err
	}
	return attest.Options{Git: git, StateDir: r.StateDir(), Home: r.Home(), Environ: r.Options.Env}.Approve(ctx, yes, at)
}
