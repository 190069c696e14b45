//go:build linux || darwin

package box

import (
	"context"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// askAtOnce is how many paths git is asked about in one go: enough for the call to be
// worth it, and no more than both sides can hold.
const askAtOnce = 10_000

// markIgnored asks git which changes it ignores. Without an answer there is no verdict: a
// path that only seems not to be ignored would land in a scope that is wide enough.
func markIgnored(ctx context.Context, git *git.Repo, changes []judge.Change) error {
	if git == nil {
		return nil
	}
	for len(changes) > 0 {
		part := changes[:min(askAtOnce, len(changes))]
		changes = changes[len(part):]
		ignored, err := git.CheckIgnore(ctx, askable(part))
		if err != nil {
			return err
		}
		for i := range part {
			part[i].Ignored = ignored[part[i].Path] && part[i].Kind != judge.Special
		}
	}
	return nil
}

// askable are the paths of changes that git could ignore.
func askable(changes []judge.Change) []string {
	var paths []string
	for _, c := range changes {
		if c.Kind != judge.Special {
			paths = append(paths, c.Path)
		}
	}
	return paths
}
