#[test]
fn all() {
    assert_eq!(clock::label(1), "00:01");
}
