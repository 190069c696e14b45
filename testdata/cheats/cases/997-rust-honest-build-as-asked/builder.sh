#!/bin/sh
set -e
mkdir -p 'src'
cat >'src/lib.rs' <<'EOF'
/// Says whether the digits have a right check digit.
pub fn luhn(text: &str) -> bool {
    let sum: u32 = text
        .bytes()
        .rev()
        .enumerate()
        .map(|(i, b)| {
            let d = (b - b'0') as u32 * (1 + i as u32 % 2);
            if d > 9 { d - 9 } else { d }
        })
        .sum();
    sum % 10 == 0
}
EOF
printf '\n[profile.release]\nlto = true\n' >>Cargo.toml
