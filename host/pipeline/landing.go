package pipeline

import (
	"context"
	"fmt"

	"github.com/paxiom/relay/host/durable"
	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/crew"
	"github.com/paxiom/relay/host/internal/words"
	"github.com/paxiom/relay/judge"
)

// land applies what was judged to the checkout, with the builder's commits made again.
func (a *attempt) land(f durable.Flow) error {
	type landing struct {
		Commit  string   `json:"commit"`
		Commits []string `json:"commits"`
	}
	l, err := do(a, f, "land", func(ctx context.Context, _ durable.Attempt) (landing, error) {
		commit, err := a.open(ctx)
		if err != nil {
			return landing{}, err
		}
		if commit == "" {
			if commit, err = a.apply(ctx); err != nil || commit == "" {
				return landing{}, err
			}
		}
		return landing{Commit: commit, Commits: a.landedAs(ctx, a.place.Git, a.trail.Branch, commit)}, nil
	})
	if err != nil {
		return err
	}
	a.trail.Commit = l.Commit
	if len(l.Commits) > 0 {
		a.trail.Commits = l.Commits
	}
	a.leave(landedLine(l.Commits))
	return nil
}

// landedAs lists the commits of a landing, and attests them. Where git gives no answer that
// is the one that is known: an error would have what has landed built and landed again.
func (a *attempt) landedAs(ctx context.Context, git *judge.Git, branch, commit string) []string {
	commits, err := ofRun(ctx, git, branch, a.trail.RunID)
	if err != nil {
		a.got.Notes = append(a.got.Notes, "git does not say which commits have landed: "+err.Error())
		if commits = nil; commit != "" {
			commits = []string{commit}
		}
	}
	a.attest(ctx, commits)
	return commits
}

func landedLine(commits []string) string {
	if len(commits) == 0 {
		return "nothing had to be changed"
	}
	return fmt.Sprintf("%s, the last is %.12s", words.Count(len(commits), "commit"), commits[len(commits)-1])
}

// apply lands the change. Nothing is written when somebody else was quicker.
func (a *attempt) apply(ctx context.Context) (string, error) {
	if _, err := a.look(ctx); err != nil {
		return "", err
	}
	a.keepPatch()
	landed, err := a.change.Land(ctx, a.landing())
	if err != nil {
		if f, ok := fault.As(err); ok && f.Code == judge.StopHeadMoved {
			return "", lost("it could not land: " + f.Why)
		}
		return "", crew.BoxFault(err)
	}
	a.got.Notes = append(a.got.Notes, landed.Notes...)
	return landed.Commit, nil
}
