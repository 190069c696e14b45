package host

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/attest"
	"github.com/paxiom/relay/host/internal/push"
	"github.com/paxiom/relay/host/internal/resultref"
	"github.com/paxiom/relay/host/tick"
	"github.com/paxiom/relay/judge"
)

// keyedRun is what a run with a key has besides its tick.
type keyedRun struct {
	git    *judge.Git
	remote string
	ref    string
	branch string // on which it lands; "" for none
}

// keyed checks the key and whose results count, and fetches the result where a remote was
// named, before anything is bought.
func (r *Repo) keyed(ctx context.Context, o RunOptions, t *tick.Options, env *tick.Env) (*keyedRun, error) {
	if o.Key == "" {
		return nil, nil
	}
	if err := resultref.ValidKey(o.Key); err != nil {
		return nil, fault.New("", fmt.Sprintf("%q is no key", Safe(o.Key)), err.Error(), "`relay run --key nightly-2026-11-20`, for example")
	}
	t.Key = o.Key
	var err error
	if t.Signers, err = r.believed(o.Signers); err != nil || env.Root == "" || o.Push == "" {
		return nil, err
	}
	k := &keyedRun{remote: o.Push, ref: resultref.Ref(o.Key)}
	if k.git, err = judge.OpenGit(ctx, env.Root); err != nil {
		return nil, fault.Git(err)
	}
	if _, k.branch, err = k.git.Head(ctx); err != nil {
		return nil, fault.Git(err)
	}
	return k, k.fetch(ctx, t)
}

// believed are this machine's own signers and those of a file.
func (r *Repo) believed(file string) (attest.Signers, error) {
	var all attest.Signers
	if own := attest.OwnSigners(r.stateDir()); exists(own) {
		signers, err := readSigners(own, true)
		if err != nil {
			return nil, err
		}
		all = signers
	}
	if file != "" {
		signers, err := readSigners(file, false)
		if err != nil {
			return nil, err
		}
		all = append(all, signers...)
	}
	return all, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// fetch takes over the result that the remote has. One that does not count ends the run
// before it begins: what it would make could not be pushed.
func (k *keyedRun) fetch(ctx context.Context, t *tick.Options) error {
	if err := push.Known(ctx, k.git, k.remote); err != nil {
		return err
	}
	object, err := push.FetchRef(ctx, k.git, k.remote, k.ref)
	if err != nil || object == "" {
		return err
	}
	_, err = resultref.Take(ctx, k.git, t.Signers, t.Key, object)
	if no, ok := errors.AsType[*resultref.Untrusted](err); ok {
		return fault.New("", "the result that "+k.remote+" has for the key "+t.Key+" does not count", no.Err.Error(),
			"`relay run --key "+t.Key+" --push "+fault.Word(k.remote)+" --signers FILE` with the machine's key in FILE, or another key")
	}
	return err
}

// deliver pushes the result, and what landed with it. That a push did not go through changes
// no verdict, but the exit code of a success.
func (k *keyedRun) deliver(ctx context.Context, res *RunResult) {
	object := res.Result
	if e := res.Earlier; e != nil {
		object = e.Object
	}
	if k == nil || object == "" {
		return
	}
	ctx = context.WithoutCancel(ctx)
	p := &RunPushed{To: k.remote}
	res.Pushed = p
	l := push.Keyed{Remote: k.remote, Ref: k.ref, Object: object}
	if rep := res.Report; rep.Commit != "" && k.branch != "" && (res.Earlier == nil || res.Earlier.Here) {
		l.Branch, l.Base, l.Commit = k.branch, rep.BaseCommit, rep.Commit
	}
	done, err := push.Deliver(ctx, k.git, l)
	if done.Result {
		p.Result = k.ref
	}
	if done.Branch {
		p.Branch = k.branch
	}
	if err == nil {
		return
	}
	f := fault.Internal(err)
	p.Code, p.What, p.Why, p.Fix = f.Code, f.What, f.Why, f.Fix
	if res.ExitCode == ExitDone || res.ExitCode == ExitWaiting {
		res.ExitCode = ExitStopped
	}
}
