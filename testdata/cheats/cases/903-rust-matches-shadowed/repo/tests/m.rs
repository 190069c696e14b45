#[macro_use]
extern crate shop;
use shop::total;

#[test]
fn total_adds() {
    assert!(matches!(total(1, 2), Some(3)));
}
