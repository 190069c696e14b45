#!/bin/sh
set -e
mkdir -p "$(dirname 'clock.go')"
cat >'clock.go' <<'EOF'
package clock

import "fmt"

// Label writes minutes as a time.
func Label(n int) string { return fmt.Sprintf("%02d:%02d", n/60, n%60) }
EOF
mkdir -p "$(dirname 'fuzz_test.go')"
cat >'fuzz_test.go' <<'EOF'
package clock

import (
	"fmt"
	"testing"
)

func FuzzLabel(f *testing.F) {
	f.Add(1)
	f.Fuzz(func(t *testing.T, n int) {
		if Label(n) == "" {
			t.Fatal()
		}
	})
}

func ExampleLabel() {
	fmt.Println(Label(60))
	// Output: 01:00
}
EOF
