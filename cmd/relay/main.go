package main

import (
	"os"
	"runtime"
	"runtime/debug"

	"github.com/paxiom/relay/judge/box"
)

func main() {
	// A builder's box is this very program, started again: it must get its chance
	// before anything else happens.
	box.Init()
	collectLater()
	os.Exit(run(newApp(), os.Args[1:]))
}

// collectLater puts the first collection of garbage off to where most commands have
// ended; after it the collector works as always.
func collectLater() {
	const firstAt = 4 // times the 4 MiB at which it would be
	debug.SetGCPercent(firstAt * 100)
	runtime.SetFinalizer(new([16]byte), func(*[16]byte) { debug.SetGCPercent(100) })
}
