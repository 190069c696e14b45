#!/bin/sh
set -e
mkdir -p "$(dirname 'src/lib.rs')"
cat >'src/lib.rs' <<'EOF'
macro_rules! parts {
    ($($name:ident = $by:expr),*) => { $(fn $name(n: u32) -> u32 { n / $by % 60 })* };
}
parts!(hours = 60, minutes = 1);

/// Use assert_eq to compare two of them.
pub fn label(n: u32) -> String {
    debug_assert!(n < 1440, "too late: the same as None, said otherwise");
    format!("{:02}:{:02}", hours(n), minutes(n))
}

#[cfg(test)]
mod tests;
EOF
