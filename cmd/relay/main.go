package main

import (
	"os"

	"github.com/paxiom/relay/judge/box"
)

func main() {
	// A builder's box is this very program, started again: it must get its chance
	// before anything else happens.
	box.Init()
	os.Exit(run(newApp(), os.Args[1:]))
}
