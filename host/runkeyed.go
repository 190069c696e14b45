package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/attest"
	"github.com/paxiom/relay/host/internal/push"
	"github.com/paxiom/relay/host/internal/resultref"
	"github.com/paxiom/relay/host/tick"
	"github.com/paxiom/relay/judge/git"
)

// keyed is what ticks with a key have besides themselves.
type keyed struct {
	signers attest.Signers
	git     *git.Repo // nil where no remote was named
	remote  string
	branch  string // on which they land; "" for none
}

// newKeyed checks the key and finds out whose results count, and where they go.
func (r *Repo) newKeyed(ctx context.Context, root, key, signers, remote string) (*keyed, error) {
	if err := resultref.ValidKey(key); err != nil {
		return nil, diag.New("", fmt.Sprintf("%q is not a key", Safe(key)), err.Error(), "`relay run --key nightly-2026-11-20`, for example")
	}
	k := &keyed{remote: remote}
	var err error
	if k.signers, err = r.Believed(signers); err != nil || root == "" || remote == "" {
		return k, err
	}
	if k.git, err = git.Open(ctx, root); err != nil {
		return nil, diag.Git(err)
	}
	if _, k.branch, err = k.git.Head(ctx); err != nil {
		return nil, diag.Git(err)
	}
	return k, push.Known(ctx, k.git, remote)
}

// run makes a tick with its key. The remote is asked for its result before anything is
// bought, and gets the new one. pushed is nil where nothing was to be pushed.
func (k *keyed) run(ctx context.Context, env *tick.Env, t tick.Options) (out *tick.Outcome, pushed *RunPushed, err error) {
	t.Signers = k.signers
	if err := k.fetch(ctx, &t); err != nil {
		return nil, nil, err
	}
	if out, err = tick.Run(ctx, env, t); err != nil || out == nil {
		return out, nil, err
	}
	return out, k.deliver(ctx, t.Key, out), nil
}

// fetch takes over the result that the remote has. One that does not count ends the run
// before it begins: what it would make could not be pushed.
func (k *keyed) fetch(ctx context.Context, t *tick.Options) error {
	if k.git == nil {
		return nil
	}
	object, err := push.FetchRef(ctx, k.git, k.remote, resultref.Ref(t.Key))
	if err != nil || object == "" {
		return err
	}
	_, err = resultref.Take(ctx, k.git, t.Signers, t.Key, object)
	if no, ok := errors.AsType[*resultref.Untrusted](err); ok {
		return diag.New("", "the result that "+k.remote+" has for the key "+t.Key+" does not count", no.Err.Error(),
			"`relay run --key "+t.Key+" --push "+diag.Word(k.remote)+" --signers FILE` with the machine's key in FILE, or another key")
	}
	return err
}

// deliver pushes the result, and what landed with it.
func (k *keyed) deliver(ctx context.Context, key string, out *tick.Outcome) *RunPushed {
	object := out.Result
	if e := out.Earlier; e != nil {
		object = e.Object
	}
	if k.git == nil || object == "" {
		return nil
	}
	p := &RunPushed{To: k.remote}
	l := push.Keyed{Remote: k.remote, Ref: resultref.Ref(key), Object: object}
	if rep := out.Report; rep.Commit != "" && k.branch != "" && (out.Earlier == nil || out.Earlier.Here) {
		l.Branch, l.Base, l.Commit = k.branch, rep.BaseCommit, rep.Commit
	}
	done, err := push.Deliver(context.WithoutCancel(ctx), k.git, l)
	if done.Result {
		p.Result = l.Ref
	}
	if done.Branch {
		p.Branch = k.branch
	}
	if err != nil {
		f := diag.Internal(err)
		p.Code, p.What, p.Why, p.Fix = f.Code, f.What, f.Why, f.Fix
	}
	return p
}

// RunPushed is what became of the push of a run with a key.
type RunPushed struct {
	To     string `json:"to"`               // the remote
	Result string `json:"result,omitempty"` // the ref there; "" when it was not pushed
	Branch string `json:"branch,omitempty"` // that has what landed there; "" when nothing landed
	Code   Code   `json:"code,omitempty"`   // why not all of it was pushed, as below
	What   string `json:"what,omitempty"`
	Why    string `json:"why,omitempty"`
	Fix    string `json:"next,omitempty"`
}
