#!/bin/sh
set -e
mkdir -p 'mid'
cat >'mid/mid.go' <<'EOF'
package mid

import (
	"sort"
)

// Mid is the median of xs; 0 for none.
func Mid(xs []int) float64 {
	if len(xs) == 0 {
		return 0
	}
	s := append([]int(nil), xs...)
	sort.Ints(s)
	n := len(s) / 2
	if len(s)%2 == 0 {
		return float64(s[n-1]+s[n]) / 2
	}
	return float64(s[n])
}
EOF
