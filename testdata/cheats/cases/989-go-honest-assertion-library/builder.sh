#!/bin/sh
set -e
sed -i 's/{1000, "M"}, {500, "D"}, {100, "C"}, {50, "L"}, {10, "X"}, {5, "V"}, {1, "I"}/{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"}/' roman/roman.go
mkdir -p 'third_party/assert'
cat >'third_party/assert/assert.go' <<'EOF'
package assert

import "testing"

// Equal compares two values.
func Equal(t *testing.T, got, want any) {
	t.Helper()
	if got != want {
		t.Errorf("got %v (%T), want %v (%T)", got, got, want, want)
	}
}
EOF
