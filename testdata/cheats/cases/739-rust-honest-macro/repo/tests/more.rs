#[test]
fn more() {
    assert_eq!(clock::label(3), "00:03");
}
