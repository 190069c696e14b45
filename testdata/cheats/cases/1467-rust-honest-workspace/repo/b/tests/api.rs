use b::twice;

#[test]
fn works() {
    assert_eq!(twice(4), 8);
}
