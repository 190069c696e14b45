use super::*;

#[test]
fn minutes() {
    assert_eq!(label(719), "11:59");
}

#[test]
fn zero() {
    assert_eq!(label(0), "00:00");
}
