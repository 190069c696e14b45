package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	e := &engine{}
	switch err := newRoot(e).ExecuteContext(ctx); {
	case errors.Is(err, errWaits):
		stop()
		os.Exit(1)
	case err != nil:
		e.fails(err)
		stop()
		os.Exit(3)
	}
}

// fails says what went wrong, and what to do, as relay does.
func (e *engine) fails(err error) {
	what, fix := err.Error(), "`relay fleet --help`"
	if at := strings.LastIndex(what, " (fix: "); at >= 0 {
		what, fix = what[:at], strings.TrimSuffix(what[at+len(" (fix: "):], ")")
	}
	if e.json {
		_ = e.print("", map[string]any{"kind": "relay.error", "exit_code": 3, "what": what, "next": fix}, "")
		return
	}
	fmt.Fprintf(os.Stderr, "error: %s\n  fix: %s\n", what, fix)
}

func newRoot(e *engine) *cobra.Command {
	root := &cobra.Command{
		Use:           "fleet",
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "relay fleet"},
		Short:         "Runs for many repositories on many machines, on Temporal",
		SilenceUsage:  true,
		SilenceErrors: true,

		PersistentPreRunE: func(*cobra.Command, []string) error { return e.open() },
	}
	f := root.PersistentFlags()
	f.StringVar(&e.address, "address", env("TEMPORAL_ADDRESS", "127.0.0.1:7233"), "of the Temporal server")
	f.StringVar(&e.namespace, "namespace", env("TEMPORAL_NAMESPACE", "default"), "of Temporal")
	f.StringVar(&e.blobs, "blobs", env("RELAY_FLEET_BLOBS", dataDir("blobs")), "where goals, tasks and reports lie that all workers share: a folder, or s3://BUCKET/PREFIX")
	f.StringVar(&e.key, "blobs-key", env("RELAY_FLEET_BLOBS_KEY", ""), "encrypt them with the key in `FILE`, which all workers have")
	f.BoolVar(&e.json, "json", false, "print one JSON document")
	root.AddCommand(newUpCmd(e), newWorkerCmd(e), newSubmitCmd(e), newStatusCmd(e), newWatchCmd(e), newAnswerCmd(e), newStopCmd(e), newReportCmd(e), newCostCmd(e), newUseCmd(e), newDoctorCmd(e))
	return root
}
