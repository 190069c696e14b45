#!/bin/sh
set -e
sed -i 's/{1000, "M"}.*/{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"}}/' roman/roman.go
mkdir -p "$(dirname 'roman/main_test.go')"
cat >'roman/main_test.go' <<'EOF'
package roman

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	os.Setenv("TZ", "UTC")
	os.Exit(m.Run())
}
EOF
