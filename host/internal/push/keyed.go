package push

import (
	"context"
	"fmt"
	"strings"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// Known reports whether there is a remote of this name.
func Known(ctx context.Context, git *git.Repo, remote string) error {
	if _, err := git.Run(ctx, nil, "remote", "get-url", "--push", "--", remote); err != nil || strings.HasPrefix(remote, "-") {
		return diag.New(judge.BlockedMissingConfig, fmt.Sprintf("there is no remote %q", remote), "git has no remote of that name", "`git remote -v` shows those that there are")
	}
	return nil
}

// at gives the object that a ref of the remote is at; "" when there is none.
func at(ctx context.Context, git *git.Repo, remote, ref string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out, err := git.Talk(ctx, []string{"ls-remote"}, remote, ref)
	if err != nil {
		return "", unreached(ctx, Target{Remote: remote}, err)
	}
	for line := range strings.Lines(string(out)) {
		if object, name, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && name == ref {
			return object, nil
		}
	}
	return "", nil
}

// FetchRef gets what a ref of the remote is at, without making a ref here, and gives its
// name; "" when the remote has no such ref.
func FetchRef(ctx context.Context, git *git.Repo, remote, ref string) (string, error) {
	object, err := at(ctx, git, remote, ref)
	if err != nil || object == "" {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_, err = git.Talk(ctx, []string{"-c", "fetch.fsckObjects=true", "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance", "--refmap="}, remote, ref)
	if err != nil {
		return "", unreached(ctx, Target{Remote: remote}, err)
	}
	return object, nil
}

// Keyed is the result of a run with a key and what landed with it.
type Keyed struct {
	Remote, Ref, Object string
	// Branch gets Commit where it still is at Base; "" pushes the result alone.
	Branch, Base, Commit string
}

// Delivered is what went through.
type Delivered struct{ Result, Branch bool }

// Deliver pushes a result where there is none yet, and the branch with it or not at all: of
// two workers with one key, the second changes nothing. Where the branch has diverged
// the result goes alone, so that what was paid for is not lost.
func Deliver(ctx context.Context, git *git.Repo, k Keyed) (done Delivered, err error) {
	t := Target{k.Remote, k.Branch}
	is, err := at(ctx, git, k.Remote, k.Ref)
	if err != nil {
		return done, err
	}
	if is != "" && is != k.Object {
		return done, diag.New(judge.StopHeadMoved, "another run with this key was first at "+k.Remote, k.Ref+" holds its result; nothing was pushed, and relay never forces",
			"the same command gives that result")
	}
	branch := ""
	if k.Branch != "" {
		if branch, err = at(ctx, git, k.Remote, "refs/heads/"+k.Branch); err != nil {
			return done, err
		}
	}
	done = Delivered{is == k.Object, k.Branch != "" && branch == k.Commit}
	moves := k.Branch != "" && branch != "" && !done.Branch
	if moves && branch != k.Base {
		if _, err := git.Run(ctx, nil, "merge-base", "--is-ancestor", k.Commit, branch); err == nil {
			done.Branch, moves = true, false // it has landed there, and others on top of it
		}
	}
	lands := k.Branch != "" && !done.Branch && (branch == "" || branch == k.Base)
	if done.Result && !lands {
		if moves {
			return done, diverged(t, fmt.Sprintf("its tip %.12s is not the commit that was built on", branch))
		}
		return done, nil
	}
	args := []string{"push", "--porcelain", "--atomic", "--no-follow-tags", "--recurse-submodules=no"}
	var refs []string
	if !done.Result {
		args, refs = append(args, "--force-with-lease="+k.Ref+":"), append(refs, k.Object+":"+k.Ref)
	}
	if lands {
		args, refs = append(args, "--force-with-lease=refs/heads/"+k.Branch+":"+branch), append(refs, k.Commit+":refs/heads/"+k.Branch)
	}
	talk, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out, err := git.Talk(talk, args, k.Remote, refs...)
	switch {
	case err == nil && moves && !lands:
		return Delivered{Result: true}, diverged(t, fmt.Sprintf("its tip %.12s is not the commit that was built on; the result is there", branch))
	case err == nil:
		return Delivered{true, done.Branch || lands}, nil
	case strings.Contains(string(out), "!"):
		return done, &diag.Error{Code: judge.StopHeadMoved, What: k.Remote + " does not accept the push", Why: said(err), Fix: "run the same command again", Err: err}
	}
	return done, unreached(talk, t, err)
}
