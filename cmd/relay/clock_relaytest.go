//go:build relaytest

package main

import (
	"os"
	"strings"
	"time"
)

// Script tests in which hours pass run a relay of this build: its clock is ahead of the
// machine's by what the file says that RELAY_TEST_CLOCK names. The programs that people
// get are built without it.
func init() {
	if path := os.Getenv("RELAY_TEST_CLOCK"); path != "" {
		clock = fileClock(path)
	}
}

type fileClock string

func (c fileClock) Now() time.Time {
	b, err := os.ReadFile(string(c))
	if err != nil {
		panic(err)
	}
	ahead, err := time.ParseDuration(strings.TrimSpace(string(b)))
	if err != nil {
		panic(err)
	}
	return time.Now().Add(ahead)
}

// After fires soon: the caller looks at the clock again.
func (c fileClock) After(d time.Duration) <-chan time.Time {
	return time.After(min(d, 20*time.Millisecond))
}
