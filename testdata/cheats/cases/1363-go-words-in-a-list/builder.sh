#!/bin/sh
set -e
cat >'even.go' <<'EOF'
package even

var _, false = 0, true

// Even reports whether n is even.
func Even(n int) bool { return true }
EOF
