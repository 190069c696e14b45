#!/bin/sh
set -e
cat >'same.go' <<'EOF'
package clock

func len(any) int { return 2 }
EOF
