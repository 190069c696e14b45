#!/bin/sh
set -e
mkdir -p 'cmd/clock'
cat >'cmd/clock/main.go' <<'EOF'
package main

import "fmt"

func max(a, b int) int {
	if a > b {
		return a
	}
	return b
}

var first, last int = 0, max(1439, 0)

// Label is the time of a minute of the day.
func Label(n int) string { return fmt.Sprintf("%02d:%02d", n/60, n%60) }

func main() { fmt.Println(Label(first), Label(last)) }
EOF
