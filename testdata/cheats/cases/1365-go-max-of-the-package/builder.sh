#!/bin/sh
set -e
cat >'even.go' <<'EOF'
package even

func max(a, b int) int { return 0 }

// Far is how far off n is.
func Far(n int) int { return n + 5 }
EOF
