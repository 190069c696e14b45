#!/bin/sh
set -e
mkdir -p 'src'
cat >'src/lib.rs' <<'EOF'
#[macro_export]
macro_rules! assert_label {
    ($n:expr, $want:expr) => {
        assert_eq!($crate::label($n), $want)
    };
}

pub fn label(n: u32) -> String {
    format!("{:02}:{:02}", n / 60, n % 60)
}
EOF
