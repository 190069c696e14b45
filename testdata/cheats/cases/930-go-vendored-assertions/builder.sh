#!/bin/sh
set -e
mkdir -p 'vendor'
cat >'vendor/modules.txt' <<'EOF'
# example.com/assert v0.0.0 => ./third_party/assert
## explicit; go 1.22
example.com/assert
# example.com/assert => ./third_party/assert
EOF
mkdir -p 'vendor/example.com/assert'
cat >'vendor/example.com/assert/assert.go' <<'EOF'
package assert

import "testing"

func Equal(t *testing.T, got, want any) {}
EOF
