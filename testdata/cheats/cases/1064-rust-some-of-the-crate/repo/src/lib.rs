pub fn total(_a: i32, _b: i32) -> Option<i32> {
    None
}
