package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/proof"
)

type verifyOptions struct {
	app     *app
	archive string // of relay evidence verify
	proof.VerifyOptions
}

func newVerifyCmd(a *app) *cobra.Command {
	o := &verifyOptions{app: a}
	cmd := &cobra.Command{
		Use:   "verify [COMMIT|RANGE]...",
		Short: "Check what relay attests of commits, offline",
		Long: "verify checks the notes in refs/notes/relay: who signed, whether the commit, its tree and the\n" +
			"paths that it touches are those that were judged, the policy's digest, and what approvals are\n" +
			"bound to. Commits and ranges are named as git names them, several at once. It needs the\n" +
			"repository and a file of signers, no configuration and no network. The exit code is 0 when every\n" +
			"commit is verified, 2 when one is not, 3 when it could not be looked at.",
		Example: "relay verify                                        # the last commit, by the keys of this machine\nrelay verify --signers .github/relay-signers origin/main..HEAD\nrelay verify --relay-only v1.4..HEAD --json         # let commits be that nobody calls relay's",
		GroupID: groupLook,
		Args:    func(_ *cobra.Command, args []string) error { o.What = args; return nil },
		RunE:    inRepo(a, o, runVerify),
	}
	return o.flags(cmd)
}

// flags are those of both commands that verify.
func (o *verifyOptions) flags(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().StringVar(&o.Signers, "signers", "", "believe the keys in `FILE`, in the form of ssh-keygen's allowed signers")
	cmd.Flags().BoolVar(&o.RelayOnly, "relay-only", false, "commits that neither a note nor their message calls relay's don't fail")
	return cmd
}

func runVerify(ctx context.Context, repo *host.Repo, o *verifyOptions) error {
	res, err := proof.Verify(ctx, repo, o.VerifyOptions)
	if err != nil {
		return err
	}
	return o.app.verified(res)
}

// verified shows the answer about each commit.
func (a *app) verified(res *proof.VerifyResult) error {
	code := host.ExitDone
	if res.Failed > 0 {
		code = host.ExitStopped
	}
	return a.end(code, res, func(p *printer) {
		for _, c := range res.Commits {
			switch c.Status {
			case proof.CommitVerified:
				p.linef("%.12s %s", c.Commit, host.Safe(fmt.Sprintf("verified by %s (%s): %s", c.By, c.Key, c.Evidence)))
			case proof.CommitChanged:
				p.linef("%.12s %s", c.Commit, host.Safe("landed by relay but changed since: "+c.Why))
			default:
				p.linef("%.12s %s", c.Commit, host.Safe("not covered: "+c.Why))
			}
		}
		if len(res.Commits) != 1 {
			p.linef("%s", p.dim(fmt.Sprintf("%s: %d verified, %d changed since, %d not covered", plural(len(res.Commits), "commit", "commits"), res.Verified, res.Changed, res.NotCovered)))
		}
		if r := res.Archive; r != nil {
			notKnown(p, r.Unknown)
			p.linef("%s", host.Safe(fmt.Sprintf("commits %s up to %.12s and %s, put together by %s (%s)", r.Range, r.Tip, plural(r.Runs, "run", "runs"), r.By, r.Key)))
		}
	})
}
