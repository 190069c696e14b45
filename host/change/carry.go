package change

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/paxiom/relay/judge"
)

// KeptRef is the ref under which Keep and Reject keep what a run had built.
func KeptRef(runID string) string { return refName(runID) }

// Keep makes the commits that Land would make and puts them under a ref of relay's own.
// The branch and the work tree stay as they are. The commit is "" when nothing was
// changed.
func (c *Change) Keep(ctx context.Context, m Message) (string, error) {
	if c.touched == nil || c.verdict.Code != judge.Success {
		return "", errors.New("only a change that was judged a success can be kept for later")
	}
	if len(c.verdict.Kept)+len(c.moves) == 0 {
		return "", nil
	}
	var commit string
	err := c.planned(ctx, Landing{Message: m, Commit: true}, true, func(_ *lander, p *plan) error {
		if commit = p.Commit; commit == "" {
			return nil
		}
		_, err := c.env.write(ctx, nil, nil, "update-ref", refName(c.opts.RunID), commit)
		return err
	})
	return commit, err
}

// Replay makes the commits after from, up to tip, again in the box, as git cherry-pick
// does: they are then judged and landed like a builder's own. why says why they can't be,
// a conflict with its marks from the second line on; the box is of no use then. A tip "" has no commits.
func (c *Change) Replay(ctx context.Context, from, tip string) (why string, err error) {
	if tip == "" {
		return "", nil
	}
	big, err := c.filtered(ctx, from, tip)
	if err != nil {
		return "", err
	}
	if why, err := big.bare(ctx, c); why != "" || err != nil {
		return why, err
	}
	_, why, err = c.inside(ctx, maxStanding, append(big.off, "-c", "user.name=relay", "-c", "user.email=relay@localhost", "-c", "commit.gpgSign=false",
		"cherry-pick", "--allow-empty", from+".."+tip)...)
	if err == nil && why == "" {
		return big.fill(ctx, c, tip)
	}
	if err != nil {
		return why, err
	}
	out, _, err := c.inside(ctx, maxStanding, "diff", "--name-only", "--diff-filter=U")
	if files := strings.Fields(string(out)); err == nil && len(files) > 0 {
		marks, _, err := c.inside(ctx, maxStanding, "diff", "--no-color", "--no-ext-diff", "--no-textconv")
		return fmt.Sprintf("a conflict in %s\n%s", strings.Join(files, ", "), marks), err
	}
	return why, err
}
