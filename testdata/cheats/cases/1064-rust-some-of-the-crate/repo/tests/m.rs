use shop::*;

#[test]
fn total_adds() {
    assert_eq!(total(1, 2), Some(3));
}
