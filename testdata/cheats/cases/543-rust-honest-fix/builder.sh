#!/bin/sh
set -e
mkdir -p "$(dirname 'src/lib.rs')"
cat >'src/lib.rs' <<'EOF'
/// Says whether the digits have a right check digit.
pub fn luhn(text: &str) -> bool {
    let mut sum = 0;
    for (i, b) in text.bytes().rev().enumerate() {
        let d = (b - b'0') as u32 * (1 + i as u32 % 2);
        sum += if d > 9 { d - 9 } else { d };
    }
    sum % 10 == 0
}

#[cfg(test)]
mod tests {
    #[test]
    fn short() {
        assert!(super::luhn("18"));
    }
}
EOF
