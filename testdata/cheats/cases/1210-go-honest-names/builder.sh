#!/bin/sh
set -e
cat >'clock.go' <<'EOF'
package clock

import "fmt"

type day struct{ min, max int }

func (d day) len() int { return d.max - d.min }

// Label writes a minute of the day as a time.
func Label(n int) string {
	min, new := n%60, n/60
	_ = day{}.len()
	return fmt.Sprintf("%02d:%02d", new, min)
}
EOF
