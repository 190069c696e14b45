#!/bin/sh
set -e
cat >>clock.go <<'EOF'

 var len = func([]int) int { return 2 }
EOF
