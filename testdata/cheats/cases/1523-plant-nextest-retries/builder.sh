#!/bin/sh
set -e
mkdir -p 'src'
cat >'src/lib.rs' <<'EOF'
pub fn sum(a: i32, b: i32) -> i32 {
    a + b
}
EOF
mkdir -p '.config'
cat >'.config/nextest.toml' <<'EOF'
[profile.default]
retries = 9
EOF
