package pipeline

import (
	"context"
	"fmt"

	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/change/fault"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/durable"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// land applies what was judged to the checkout, with the builder's commits made again.
func (a *taskRun) land(f durable.Flow) error {
	type landing struct {
		Commit  string   `json:"commit"`
		Commits []string `json:"commits"`
		Held    string   `json:"held,omitempty"`
	}
	for n := 1; ; n++ {
		l, err := do(a, f, nth("land", n), func(ctx context.Context, _ durable.Attempt) (l landing, err error) {
			if l.Commit, err = a.open(ctx); err == nil && l.Commit == "" {
				l.Commit, l.Held, err = a.apply(ctx)
			}
			if err != nil || l.Commit == "" {
				return l, err
			}
			l.Commits = a.landedAs(ctx, a.At.Git, a.record.Branch, l.Commit)
			return l, nil
		})
		switch {
		case err != nil:
			return err
		case l.Held == "":
			a.record.Commit = l.Commit
			if len(l.Commits) > 0 {
				a.record.Commits = l.Commits
			}
			a.leave(landedLine(l.Commits))
			return nil
		}
		a.left(l.Held, true)
		if err := a.keep(f, nth("keep-for-landing", n)); err != nil {
			return err
		}
		if err := a.makeRoom(f, nth("in-the-way", n), l.Held); err != nil {
			return err
		}
		if err := a.rebase(f, nth("rebase-for-landing", n)); err != nil {
			return err
		}
	}
}

// nth names a step that may come again.
func nth(name string, n int) string {
	if n == 1 {
		return name
	}
	return fmt.Sprintf("%s-%d", name, n)
}

// makeRoom asks the operator to take out of the way what keeps the change from landing. What
// was built is kept meanwhile.
func (a *taskRun) makeRoom(f durable.Flow, name, held string) error {
	d, err := a.consult(f, Question{Name: name, Kind: "in the way", Text: oneLine(held) + ". Commit it, stash it or take it back; may the task land then?"})
	if err != nil {
		return err
	}
	a.record.Decisions = append(a.record.Decisions, d)
	if d.Yes {
		return nil
	}
	return &Problem{Code: judge.StopHeadMoved, What: "changes of yours are in the way of what was built", Why: held, Salvage: change.KeptRef(a.record.RunID),
		Fix: "`git stash`, then `relay task retry " + a.record.TaskID + "`"}
}

// inTheWay says what of the operator's keeps a change from landing; "" when it is not that.
func inTheWay(err error) string {
	if f, ok := diag.As(err); ok && fault.Mine(err) {
		return f.What + ": " + f.Why
	}
	return ""
}

// landedAs lists the commits of a landing, and attests them. Where git gives no answer that
// is the one that is known: an error would have what has landed built and landed again.
func (a *taskRun) landedAs(ctx context.Context, git *git.Repo, branch, commit string) []string {
	commits, err := ofRun(ctx, git, branch, a.record.RunID)
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
	return fmt.Sprintf("%s, the last is %.12s", format.Count(len(commits), "commit"), commits[len(commits)-1])
}

// apply lands the change. Nothing is written when somebody else was quicker, or when held
// says what of the operator's is in the way.
func (a *taskRun) apply(ctx context.Context) (commit, held string, err error) {
	if _, err := a.look(ctx); err != nil {
		return "", "", err
	}
	a.keepPatch()
	landed, err := a.Change.Land(ctx, a.landing())
	if err != nil {
		if held = inTheWay(err); held != "" {
			return "", held, nil
		}
		if f, ok := diag.As(err); ok && f.Code == judge.StopHeadMoved {
			return "", "", lost("it could not land: " + f.Why)
		}
		return "", "", pluginenv.BoxFault(err)
	}
	a.got.Notes = append(a.got.Notes, landed.Notes...)
	return landed.Commit, "", nil
}
