#!/bin/sh
set -e
mkdir -p "$(dirname 'src/mac.rs')"
cat >'src/mac.rs' <<'EOF'
pub fn nothing() {}
#[macro_export]
macro_rules! matches {
    ($e:expr, $p:pat) => {{ let _ = $e; true }};
}
EOF
