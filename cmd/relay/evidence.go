package main

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/proof"
)

func newEvidenceCmd(a *app) *cobra.Command {
	return parent("evidence", "One archive for an auditor, which is checked elsewhere", "relay evidence export --since 30d -o audit.tar.gz\nrelay evidence verify audit.tar.gz --signers relay-signers", groupLook,
		newEvidenceExportCmd(a), newEvidenceVerifyCmd(a))
}

type evidenceOptions struct {
	app   *app
	since string
	proof.ExportOptions
}

func newEvidenceExportCmd(a *app) *cobra.Command {
	o := &evidenceOptions{app: a}
	cmd := &cobra.Command{
		Use: "export", Short: "Write commits, attestations, policies, refusals and costs into one archive",
		Long: "export writes a tar.gz that is signed as attestations are: commits and trees, without the contents\n" +
			"of files, their attestations, the policies as code that were in force, what runs were refused by\n" +
			"the network and what their calls cost, and index.html for a person. No prompt, no answer and no\n" +
			"output of a program is in it. It begins with the first commit that has an attestation. The same\n" +
			"records give the same bytes.",
		Example: "relay evidence export -o audit.tar.gz\nrelay evidence export --since 30d -o audit.tar.gz\nrelay evidence export --since 2026-10-01 -o audit.tar.gz\nrelay evidence export --range v1.4..v1.5 -o audit.tar.gz",
		Args:    noArgs, RunE: inRepo(a, o, runEvidenceExport),
	}
	cmd.Flags().StringVar(&o.since, "since", "", "commits of HEAD and runs since `WHEN`: 30d, 12h, 2026-10-01")
	cmd.Flags().StringVar(&o.Range, "range", "", "the commits of `RANGE`, and the runs that landed them")
	cmd.Flags().StringVarP(&o.File, "output", "o", "", "write to `FILE` and not to one of relay's own")
	return cmd
}

func runEvidenceExport(ctx context.Context, repo *host.Repo, o *evidenceOptions) error {
	if o.File == "-" {
		return usageError{what: "an archive is not written to standard output", why: "what it holds, and what is not known, is said there", fix: "`relay evidence export -o audit.tar.gz`"}
	}
	if o.since != "" {
		if o.Range != "" {
			return usageError{what: "--since and --range exclude each other", why: "a range names its commits", fix: "`relay evidence export --range " + diag.Word(o.Range) + "`"}
		}
		day, err := time.ParseInLocation(time.DateOnly, o.since, time.Local)
		if err != nil {
			age, err := parseAge(o.since)
			if err != nil {
				return usageError{what: "--since " + strconv.Quote(o.since) + " is not a time", why: "it is a date, or a number with h or d", fix: "`relay evidence export --since 30d`"}
			}
			day = time.Now().Add(-age).Truncate(time.Second)
		}
		o.Since = day
	}
	res, err := proof.Export(ctx, repo, o.ExportOptions)
	return o.app.done(res, err, func(p *printer) {
		p.linef("%s  %s", host.Safe(res.File), p.dim(size(res.Bytes)))
		p.linef("%s, %d of them attested; %s", plural(res.Commits, "commit", "commits"), res.Attested, plural(res.Runs, "run", "runs"))
		notKnown(p, res.Unknown)
	})
}

func notKnown(p *printer, unknown []string) {
	for _, u := range unknown {
		p.hang("not known: ", host.Safe(u))
	}
}

func newEvidenceVerifyCmd(a *app) *cobra.Command {
	o := &verifyOptions{app: a}
	cmd := &cobra.Command{
		Use: "verify FILE", Short: "Check such an archive, without its repository and offline",
		Long: "verify checks who signed the archive, the digest of everything in it, and each commit as\n" +
			"relay verify does. It needs no repository, no configuration and no network. An archive in which\n" +
			"a byte is not what was signed is refused with exit code 3; otherwise the exit code is 0 when\n" +
			"every commit is verified and 2 when one is not.",
		Example: "relay evidence verify audit.tar.gz --signers relay-signers\nrelay evidence verify audit.tar.gz --signers relay-signers --relay-only --json",
		Args:    needArg(&o.archive, "archive", "ls *.tar.gz"), RunE: inRepo(a, o, runEvidenceVerify),
	}
	return o.flags(cmd)
}

func runEvidenceVerify(ctx context.Context, repo *host.Repo, o *verifyOptions) error {
	res, err := proof.VerifyArchive(ctx, repo, o.archive, o.VerifyOptions)
	if err != nil {
		return err
	}
	return o.app.verified(res)
}
