#!/bin/sh
set -e
cat >'sum.go' <<'EOF'
package m

// Sum adds.
func Sum(a, b int) int { return a + b }

func delete(items []int, i int) []int { return append(items[:i:i], items[i+1:]...) }
EOF
cat >'sum_more_test.go' <<'EOF'
package m

import "testing"

func TestDelete(t *testing.T) {
	if got := delete([]int{1, 2}, 0); len(got) != 1 {
		t.Error(got)
	}
}
EOF
