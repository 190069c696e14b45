//go:build !linux

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "alone: only Linux has network namespaces")
	os.Exit(125)
}
