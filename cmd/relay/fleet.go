package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"
)

// newFleetCmd is the way to the program relay-fleet, which has the commands: relay itself needs nothing of what that is
// built from.
func newFleetCmd() *cobra.Command {
	return &cobra.Command{
		Use:                "fleet",
		Short:              "Runs for many repositories on many machines",
		Long:               "Starts relay-fleet, a program of its own that is built with `make fleet` and installed beside relay.",
		Example:            "relay fleet up\nrelay fleet submit run --repo URL --goal \"...\"\nrelay fleet status",
		GroupID:            groupWork,
		DisableFlagParsing: true,
		RunE:               func(_ *cobra.Command, args []string) error { return runFleet(args) },
	}
}

// runFleet becomes relay-fleet: what that gets, prints and ends with is as if it had been called itself. It is looked for
// where relay is installed and nowhere else, since others may be able to write to the current folder and to those of PATH.
func runFleet(args []string) error {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return err
	}
	dir := filepath.Dir(self)
	for _, place := range []string{".", "../libexec/relay"} {
		program := filepath.Join(dir, place, "relay-fleet")
		err := syscall.Exec(program, append([]string{program}, args...), os.Environ())
		if !errors.Is(err, fs.ErrNotExist) {
			return usageError{what: fmt.Sprintf("%s does not start: %s", program, err), fix: "`make fleet` in relay's sources builds it"}
		}
	}
	return usageError{
		what: "relay-fleet is not installed",
		why:  fmt.Sprintf("it is a program of its own, and is neither in %s nor in %s", dir, filepath.Join(dir, "../libexec/relay")),
		fix:  "`make fleet` in relay's sources builds it, `make install` puts it there",
	}
}
