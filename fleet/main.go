package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := newRoot().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "error: "+err.Error())
		stop()
		os.Exit(3)
	}
}

func newRoot() *cobra.Command {
	e := &engine{}
	root := &cobra.Command{
		Use:           "relay fleet",
		Short:         "Runs for many repositories on many machines, on Temporal",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	f := root.PersistentFlags()
	f.StringVar(&e.address, "address", env("TEMPORAL_ADDRESS", "127.0.0.1:7233"), "of the Temporal server")
	f.StringVar(&e.namespace, "namespace", env("TEMPORAL_NAMESPACE", "default"), "of Temporal")
	f.StringVar(&e.blobs, "blobs", env("RELAY_FLEET_BLOBS", dataDir("blobs")), "the folder of goals, tasks and reports that all workers share")
	f.BoolVar(&e.json, "json", false, "print one JSON document")
	root.AddCommand(newUpCmd(e), newWorkerCmd(e), newSubmitCmd(e), newStatusCmd(e), newAnswerCmd(e), newStopCmd(e), newReportCmd(e), newCostCmd(e), newDoctorCmd(e))
	return root
}
