package sampling

import (
	"flag"
	"hash/fnv"
	"os"
	"strconv"
	"testing"
)

// rotate counts the runs of CI, and is not set elsewhere.
const rotate = "ROTATE"

// Turn is where a sample of every step-th case begins, from 0 to step-1: elsewhere in each run
// of CI, and in the middle where nobody counts them. For a step below 1, it is 0.
func Turn(step int) int {
	if step < 1 {
		return 0
	}
	n, err := strconv.Atoi(os.Getenv(rotate))
	if err != nil {
		return step / 2
	}
	return max(n, 0) % step
}

// Every gives every step-th of all, beginning at its Turn; outside of CI fewer of them, see
// [Step].
func Every[T any](step int, all []T) (some []T) {
	step = Step(step)
	for i := Turn(step); i < len(all); i += step {
		some = append(some, all[i])
	}
	return some
}

// Step is every how many-th case a sample takes: three times as few where nobody counts the
// runs of CI, so that make test is over in three minutes.
func Step(step int) int {
	if os.Getenv(rotate) == "" {
		step *= 3
	}
	return max(step, 1)
}

// Slow leaves a test that takes long to CI and to make night: with -short, it is skipped
// where nobody counts the runs of CI, unless -run names it.
func Slow(t testing.TB) {
	t.Helper()
	if os.Getenv(rotate) == "" && sampled() {
		t.Skip("it takes long: CI runs it, and so does make test SHORT=")
	}
}

// Rare leaves a test that takes long to one in three runs of CI, to each another, and to make night.
func Rare(t testing.TB) {
	t.Helper()
	Slow(t)
	name := fnv.New32a()
	_, _ = name.Write([]byte(t.Name()))
	if sampled() && int(name.Sum32()%3) != Turn(3) {
		t.Skip("it takes long: one in three runs of CI takes it, and so does make test SHORT=")
	}
}

// sampled reports whether a run of the tests is to be short, and nobody named the tests.
func sampled() bool {
	run := flag.Lookup("test.run")
	return testing.Short() && (run == nil || run.Value.String() == "")
}
