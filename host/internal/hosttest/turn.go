package hosttest

import (
	"os"
	"strconv"
)

// Turn is where a sample of every step-th begins, from 0 to step-1: elsewhere in each run of
// CI, which counts them in ROTATE.
func Turn(step int) int {
	n, err := strconv.Atoi(os.Getenv("ROTATE"))
	if err != nil || step < 1 {
		return 0
	}
	return max(n, 0) % step
}
