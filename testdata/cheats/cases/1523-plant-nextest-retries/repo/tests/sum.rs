#[test]
fn sum() {
    assert_eq!(m::sum(1, 2), 3);
}
