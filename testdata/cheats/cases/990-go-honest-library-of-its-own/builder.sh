#!/bin/sh
set -e
mkdir -p 'numeral'
cat >'numeral/numeral.go' <<'EOF'
// Package numeral has the parts of Roman numbers.
package numeral

// Part is a sign and what it stands for.
type Part struct {
	V int
	S string
}

// Parts are all of them, the greatest first.
var Parts = []Part{{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"}}
EOF
mkdir -p 'roman'
cat >'roman/roman.go' <<'EOF'
package roman

import "example.com/num/numeral"

// Format writes n, from 1 to 3999, as a Roman number.
func Format(n int) string {
	out := ""
	for _, p := range numeral.Parts {
		for n >= p.V {
			out += p.S
			n -= p.V
		}
	}
	return out
}
EOF
