package main

import (
	"slices"

	"github.com/spf13/cobra"
)

// newAuditCmd makes the commands of an audit cycle, in the order of one.
func newAuditCmd(a *app) *cobra.Command {
	return parent("audit", "Audit cycles: models audit, you decide at two gates",
		"relay audit start A-202\nrelay audit review bf3c91\nrelay audit continue bf3c91\nrelay audit accept bf3c91", groupWork,
		newServiceCmd(a), newStartCmd(a), newReviewCmd(a), newContinueCmd(a), newAcceptCmd(a), newIterateCmd(a),
		newResumeCmd(a), newAbortCmd(a), newRotateCmd(a), newLogsCmd(a), newStatsCmd(a))
}

// formerly makes hidden commands for those that stood beside `relay run` before there was
// `relay audit`: scripts and habits spell them so. Each says the new name, and does the same.
func formerly(a *app, root, audit *cobra.Command) (all []*cobra.Command) {
	for _, c := range audit.Commands() {
		all = append(all, &cobra.Command{
			Use: c.Name(), Short: "The same as relay audit " + c.Name(), Hidden: true, DisableFlagParsing: true,
			PersistentPreRunE: func(*cobra.Command, []string) error { return nil }, // the command itself begins
			RunE: func(cmd *cobra.Command, args []string) error {
				if !slices.Contains(args, "--json") {
					a.printer(a.err, a.errTTY).linef("note: `relay %[1]s` is now `relay audit %[1]s`", c.Name())
				}
				root.SetArgs(append([]string{"audit", c.Name()}, args...))
				return root.ExecuteContext(cmd.Context())
			},
		})
	}
	return all
}
