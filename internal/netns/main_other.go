//go:build !linux

package netns

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "alone: only Linux has network namespaces")
	os.Exit(125)
}
