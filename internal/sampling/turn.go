package sampling

import (
	"os"
	"strconv"
)

// Turn is where a sample of every step-th case begins, from 0 to step-1: elsewhere in each run
// of CI, which counts them in the variable ROTATE. Without it, or for a step below 1, it is 0.
func Turn(step int) int {
	n, err := strconv.Atoi(os.Getenv("ROTATE"))
	if err != nil || step < 1 {
		return 0
	}
	return max(n, 0) % step
}

// Every gives every step-th of all, beginning at its Turn.
func Every[T any](step int, all []T) (some []T) {
	for i := Turn(step); i < len(all); i += max(step, 1) {
		some = append(some, all[i])
	}
	return some
}
