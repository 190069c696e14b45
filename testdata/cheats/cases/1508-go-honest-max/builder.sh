#!/bin/sh
set -e
cat >'sum.go' <<'EOF'
package m

// Sum adds.
func Sum(a, b int) int { return max(a+b, 0) }

func max(a, b int) int {
	if a > b {
		return a
	}
	return b
}
EOF
