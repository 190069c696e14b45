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
// ended. After it the collector works half as often as usual: what lives in a tick is
// some 3 MiB, and where it is more, a limit holds (host/memory.go).
func collectLater() {
	const firstAt = 4 // times the 4 MiB at which it would be
	debug.SetGCPercent(firstAt * 100)
	runtime.SetFinalizer(new([16]byte), func(*[16]byte) { debug.SetGCPercent(200) })
}
