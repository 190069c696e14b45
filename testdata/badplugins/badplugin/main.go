package main

import (
	"fmt"
	"os"

	"github.com/paxiom/relay/testdata/badplugins"
)

func main() {
	badplugins.Act()
	fmt.Fprintf(os.Stderr, "set %s to one of:\n", badplugins.KindVar)
	for _, k := range badplugins.Kinds {
		fmt.Fprintf(os.Stderr, "  %-16s %s\n", k.Name, k.Does)
	}
	os.Exit(64)
}
