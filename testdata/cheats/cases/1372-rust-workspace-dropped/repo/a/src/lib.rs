pub fn twice(n: u32) -> u32 {
    n * 2
}
